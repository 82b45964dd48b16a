package disk

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const createdAttribute = "user.vaultwicket.created"

// born returns when the note n.md was created.
func born(t *testing.T, folder *Folder) time.Time {
	t.Helper()
	file := require.Value(folder.Open(mustPath(t, "n.md")))(t)
	defer file.Close()
	return file.Born()
}

func TestAChangeKeepsTheTimeOfCreation(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "one"})
	note := filepath.Join(dir, "n.md")
	if err := unix.Setxattr(note, "user.probe", []byte("1"), 0); err != nil {
		t.Skipf("the file system keeps no attributes of users: %v", err)
	}
	folder := openFolder(t, dir)
	created := born(t, folder)
	text := "one"
	for _, next := range []string{"two", "three"} {
		before := require.Value(os.Stat(note))(t)
		require.NoError(t, swap(folder, mustPath(t, "n.md"), []byte(text), []byte(next)))
		text = next
		after := require.Value(os.Stat(note))(t)
		require.That(t, !os.SameFile(before, after), "the file was not replaced")
		assert.Equal(t, born(t, folder).UTC(), created.UTC(), "after "+text)
	}
}

func TestATimeOfCreationThatCannotBeIsNotTaken(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "one"})
	note := filepath.Join(dir, "n.md")
	folder := openFolder(t, dir)
	created := born(t, folder)
	for _, value := range []string{"", "yesterday", "9999-01-01T00:00:00Z", "2001-01-01T00:00:00.000000000Z and more text"} {
		if err := unix.Setxattr(note, createdAttribute, []byte(value), 0); err != nil {
			t.Skipf("the file system keeps no attributes of users: %v", err)
		}
		assert.Equal(t, born(t, folder).UTC(), created.UTC(), value)
	}
}
