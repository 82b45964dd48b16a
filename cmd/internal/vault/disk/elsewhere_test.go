package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// TestANoteThatICloudTookIsNotMadeAgain: a second one would be in conflict with it when it
// returns.
func TestANoteThatICloudTookIsNotMadeAgain(t *testing.T) {
	folder, root := t.TempDir(), filepath.Join("Ideas", system.CloudStub("Bread.md"))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "Ideas"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, root), []byte("stub"), 0o600))
	f := openFolder(t, folder)
	gone, other := mustPath(t, "Ideas/Bread.md"), mustPath(t, "Ideas/Breads.md")
	if !f.HasStub(gone) || f.HasStub(other) {
		t.Errorf("stubs: %v, %v", f.HasStub(gone), f.HasStub(other))
	}
	var refusal *Refusal
	if err := f.Make(gone, []byte("x")); !errors.As(err, &refusal) || refusal.Reason != system.ErrElsewhere.Error() {
		t.Errorf("making it again: %v", err)
	}
	assert.NoError(t, f.Make(other, []byte("x")))
	for name, want := range map[string]bool{".Bread.md.icloud": true, ".icloud": false, "Bread.md.icloud": false, ".Bread.md": false} {
		assert.That(t, system.IsCloudStub(name) == want, "%s is a stub: %v", name, !want)
	}
}
