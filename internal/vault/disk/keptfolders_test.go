package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// While changes are made together, folders stay open, and each use sees what is at their paths by then.
func TestAKeptFolderIsTheOneAtItsPath(t *testing.T) {
	if !system.CanKeepOpen {
		t.Skip("folders are not kept open on this system")
	}
	base := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for _, dir := range []string{filepath.Join(base, "a", "b"), outside} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(base, "a", "b", "n.md"), "first")
	write(filepath.Join(outside, "n.md"), "secret")
	whole := require.Value(Open(base))(t)
	defer whole.Close()
	f, _ := whole.Gathering()
	defer f.CloseGathered()
	note := require.Value(ParsePath("a/b/n.md"))(t)
	expect := func(when, text string) {
		t.Helper()
		assert.NoError(t, f.Unchanged(note, Text([]byte(text))), when)
	}
	expect("at first", "first")
	expect("again", "first")
	assert.Equal(t, len(f.gathered.openFolders.open), 2)

	moved := filepath.Join(base, "moved")
	require.NoError(t, os.Rename(filepath.Join(base, "a", "b"), moved))
	err := f.Unchanged(note, Text([]byte("first")))
	assert.That(t, IsMissing(err), "after the folder was moved: %v", err)

	require.NoError(t, os.MkdirAll(filepath.Join(base, "a", "b"), 0o700))
	write(filepath.Join(base, "a", "b", "n.md"), "second")
	expect("in another folder of the name", "second")

	require.NoError(t, os.Rename(filepath.Join(base, "a", "b"), filepath.Join(base, "again")))
	require.NoError(t, os.Symlink(outside, filepath.Join(base, "a", "b")))
	var refusal *Refusal
	err = f.Unchanged(note, Text([]byte("secret")))
	assert.That(t, errors.As(err, &refusal), "through a link: %v", err)

	require.NoError(t, os.Remove(filepath.Join(base, "a", "b")))
	require.NoError(t, os.Rename(moved, filepath.Join(base, "a", "b")))
	expect("after it was moved back", "first")
}

// No more folders stay open than a change of one note has, however many it is in.
func TestFewFoldersAreKept(t *testing.T) {
	if !system.CanKeepOpen || runtime.GOOS != "linux" {
		t.Skip("open files are counted by /proc/self/fd")
	}
	const folders = 5 * maxKeptFolders
	base := t.TempDir()
	var notes []Path
	for i := range folders {
		dir := filepath.Join(base, fmt.Sprint(i), "in")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "n.md"), []byte("x"), 0o600))
		notes = append(notes, require.Value(ParsePath(fmt.Sprintf("%d/in/n.md", i)))(t))
	}
	whole := require.Value(Open(base))(t)
	defer whole.Close()
	f, _ := whole.Gathering()
	before := len(require.Value(fs.ReadDir(os.DirFS("/proc/self"), "fd"))(t))
	var users sync.WaitGroup
	for user := range 8 {
		users.Go(func() {
			for i := range 2 * folders {
				err := f.Unchanged(notes[(i/2+user)%folders], Text([]byte("x")))
				assert.NoError(t, err)
			}
		})
	}
	users.Wait()
	kept := len(require.Value(fs.ReadDir(os.DirFS("/proc/self"), "fd"))(t))
	assert.That(t, kept-before <= maxKeptFolders, "%d more files are open", kept-before)
	f.CloseGathered()
	after := len(require.Value(fs.ReadDir(os.DirFS("/proc/self"), "fd"))(t))
	assert.Equal(t, after, before)
}
