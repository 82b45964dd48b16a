package exec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/tests/require"
)

// The app may know a vault by an id, or by another name than that of its folder.
// The embedded CLI accepts its own name alone.
func TestTheEmbeddedCLIIsGivenItsOwnName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Notes of 2026")
	require.NoError(t, os.Mkdir(folder, 0o700))
	self := fake(t, "vaultwicket", script{Any: true})
	p, err := New(Config{Self: self}).Embedded(folder)
	require.NoError(t, err)
	for _, vault := range []string{"", "Work", "a1b2c3d4e5f60718", "Notes of 2026"} {
		call, err := allowlist.Parse("files", nil)
		if err == nil && vault != "" {
			call, err = call.In(vault)
		}
		require.NoError(t, err)
		want := []string{"vault", folder, "--facts", "vault=Notes of 2026", "files"}
		if vault == "" {
			want = slices.Delete(want, 3, 4)
		}
		if got, err := p.Command(call); err != nil || !slices.Equal(got.Args, want) {
			t.Errorf("vault=%s: got %q, %v, want %q", vault, got.Args, err, want)
		}
	}
}
