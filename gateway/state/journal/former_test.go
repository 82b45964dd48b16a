package journal

import (
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// A journal that was kept under another path of the vault is taken over, by who
// reads first or by who writes first.
func TestAJournalUnderAnotherPathIsTakenOver(t *testing.T) {
	first := func(t *testing.T, dir, vault string) {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		e, content := change("a.md", "old", "new")
		require.NoError(t, openAt(dir, vault, Limits{}).Begin(e, content))
	}
	count := func(t *testing.T, j *Journal) int {
		entries, _, err := j.Entries(Filter{Limit: 10})
		require.NoError(t, err)
		return len(entries)
	}
	t.Run("reading", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		if n := count(t, OpenAs(dir, "/real", "/link")); n != 1 {
			t.Errorf("%d entries by the identity", n)
		}
		if n := count(t, OpenAs(dir, "/real", "/other")); n != 1 {
			t.Errorf("%d entries by another path", n)
		}
	})
	t.Run("writing", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		e, content := change("b.md", "old", "new")
		require.NoError(t, OpenAs(dir, "/real", "/link").Begin(e, content))
		assert.Equal(t, count(t, openAt(dir, "/real", Limits{})), 2, "entries")
	})
	t.Run("there is one already", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		first(t, dir, "/real")
		if n := count(t, OpenAs(dir, "/real", "/link")); n != 1 {
			t.Errorf("%d entries by the identity", n)
		}
		if n := count(t, openAt(dir, "/link", Limits{})); n != 1 {
			t.Errorf("%d entries are left under the other path", n)
		}
	})
	t.Run("there is none", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		assert.Equal(t, count(t, OpenAs(dir, "/real", "/link")), 0, "entries")
	})
	t.Run("one that others can look into", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		require.NoError(t, os.Chmod(folderOf(dir, "/link"), 0o755))
		if private.CheckFolder(folderOf(dir, "/link")) == nil {
			t.Skip("who may look into a folder is not told here")
		}
		if _, _, err := OpenAs(dir, "/real", "/link").Entries(Filter{Limit: 10}); err == nil {
			t.Error("it is taken over")
		}
	})
}
