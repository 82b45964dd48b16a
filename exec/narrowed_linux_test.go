package exec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/watch"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An answer stands until something of the folder changes, however soon after the answer that is.
func TestAnAnswerStandsUntilTheFolderChanges(t *testing.T) {
	vault := t.TempDir()
	cache := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(cache, "vaultwicket"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(vault, "Sub"), 0o755))
	w, err := watch.New(vault)
	if errors.Is(err, watch.ErrUnwatchable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	w.Close()

	all := narrowedCache{getenv: func(name string) string {
		if name == "XDG_CACHE_HOME" {
			return cache
		}
		return ""
	}}
	defer all.close()
	now := time.Now()
	key := workerKey{folder: vault}
	ask := func() (lines string, stands bool, next pendingEntry) {
		found, stands, next := all.folder(vault).answer(key, now)
		return strings.Join(found, ","), stands, next
	}
	_, stands, _ := ask()
	assert.That(t, !stands, "an answer stands that nobody gave")
	all.starts.Wait() // now the folder is watched
	give := func(line string) {
		t.Helper()
		_, stands, next := ask()
		assert.That(t, !stands, "an answer stands still")
		next.keep(key, []string{line}, now)
		lines, stands, _ := ask()
		assert.That(t, stands, "an answer does not stand although nothing has changed")
		assert.Equal(t, lines, line)
	}
	write := func(name string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(vault, name), []byte(name), 0o644))
	}

	give("first")
	write("a.md")
	give("after a note was made")
	write("Sub/b.md")
	give("after a note was made in a folder")
	require.NoError(t, os.Mkdir(filepath.Join(vault, "New"), 0o755))
	write("New/c.md")
	give("after a folder was made")
	write("New/c.md")
	give("after a note of the new folder was changed")
	require.NoError(t, os.Remove(filepath.Join(vault, "a.md")))
	give("after a note was removed")

	key.redact = "others"
	give("for another question")
	now = now.Add(maxReuse)
	give("after its time")

	write("a.md")
	_, _, next := ask()
	write("a.md") // while the question is asked
	_, _, _ = ask()
	next.keep(key, []string{"late"}, now)
	_, stands, _ = ask()
	assert.That(t, !stands, "an answer stands that was asked for before a change")

	write(".vaultwicketignore")
	_, stands, next = ask()
	assert.That(t, !stands, "an answer stands although the vault has an ignore file")
	next.keep(key, []string{"x"}, now)
	require.NoError(t, os.Remove(filepath.Join(vault, ".vaultwicketignore")))
	_, stands, _ = ask()
	assert.That(t, !stands, "an answer stands that was given under an ignore file")

	give("before the folder is replaced")
	require.NoError(t, os.Rename(vault, vault+" old"))
	require.NoError(t, os.Mkdir(vault, 0o755))
	_, stands, _ = ask()
	assert.That(t, !stands, "an answer stands for another folder at the path")
}
