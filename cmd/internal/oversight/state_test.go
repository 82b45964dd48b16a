package oversight

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What a user of Windows reads from approvals, journal, undo and pause, if another state folder is there: one that a
// packaged program has, or an earlier one.
func TestWhichStateACommandIsAbout(t *testing.T) {
	home := t.TempDir()
	used := filepath.Join(home, ".vaultwicket")
	local := filepath.Join(home, "Local")
	packaged := filepath.Join(local, "Packages", "Claude_x", "LocalCache", "Local", "vaultwicket")
	values := map[string]string{"USERPROFILE": home, "LOCALAPPDATA": local}
	env := func(name string) string { return values[name] }
	require.NoError(t, os.MkdirAll(filepath.Join(used, "journal"), 0o700))
	assert.Equal(t, stateNote("windows", env, used), "", "with one state folder")
	require.NoError(t, os.MkdirAll(filepath.Join(packaged, "approvals"), 0o700))
	want := fmt.Sprintf(`this is about servers with the state folder %q, not those with %q; see "vaultwicket doctor"`, used, packaged)
	assert.Equal(t, stateNote("windows", env, used), want, "with two")
	assert.Equal(t, stateNote("linux", env, used), "", "on Linux")
}
