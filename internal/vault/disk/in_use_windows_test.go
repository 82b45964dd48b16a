package disk

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"golang.org/x/sys/windows"
)

// hold opens a file as another program may, which others may only read meanwhile.
func hold(t *testing.T, path string, share uint32) (release func()) {
	t.Helper()
	name := require.Value(windows.UTF16PtrFromString(path))(t)
	handle := require.Value(windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, 0, 0))(t)
	return func() { windows.CloseHandle(handle) }
}

// A note that another program has open is not changed, keeps its one name, and the
// error says why. Once it is closed it is changed.
func TestANoteThatAnotherProgramHasOpen(t *testing.T) {
	for name, call := range patient {
		dir := planted(t, map[string]string{"A.md": "text"})
		folder := openFolder(t, dir)
		release := hold(t, filepath.Join(dir, "A.md"), windows.FILE_SHARE_READ)
		err := call(folder)
		tree := contents(t, dir)
		assert.ErrorIs(t, err, system.ErrInUse, "%s", name)
		assert.That(t, maps.Equal(tree, map[string]string{"A.md": "text"}), "%s: the folder has %q", name, tree)
		release()
		assert.NoError(t, call(folder), "%s once it is closed", name)
	}
}

// One that may not even be read meanwhile is no missing note.
func TestANoteThatAnotherProgramLocks(t *testing.T) {
	dir := planted(t, map[string]string{"A.md": "text"})
	defer hold(t, filepath.Join(dir, "A.md"), 0)()
	if _, err := openFolder(t, dir).Read(Path{"A.md"}); !errors.Is(err, system.ErrInUse) || IsMissing(err) {
		t.Errorf("read: %v", err)
	}
}

// TestWhatIsInTheCloudIsFetchedForItsReaderOnly: a walk leaves it, a read by its path does
// not. The attribute is the one that a file has whose content was moved away.
func TestWhatIsInTheCloudIsFetchedForItsReaderOnly(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"Here.md", "Away.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("text"), 0o600))
	}
	away := require.Value(windows.UTF16PtrFromString(filepath.Join(folder, "Away.md")))(t)
	require.NoError(t, windows.SetFileAttributes(away, windows.FILE_ATTRIBUTE_OFFLINE))
	if now, err := windows.GetFileAttributes(away); err != nil || now&windows.FILE_ATTRIBUTE_OFFLINE == 0 {
		t.Skipf("this file system does not keep the attribute: %x, %v", now, err)
	}
	f := openFolder(t, folder)
	met := map[string]error{}
	require.NoError(t, f.Walk(Path{}, func(e Entry) { _, _, met[e.Path.String()] = e.Read() }))
	assert.NoError(t, met["Here.md"], "read on a walk")
	assert.ErrorIs(t, met["Away.md"], system.ErrElsewhere, "read on a walk")
	if _, _, err := f.ReadHere(mustPath(t, "Away.md")); !errors.Is(err, system.ErrElsewhere) {
		t.Errorf("by its path, but for no one: %v", err)
	}
	if text, err := f.Read(mustPath(t, "Away.md")); err != nil || string(text) != "text" {
		t.Errorf("for its reader: %q, %v", text, err)
	}
}
