package change

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The disk is asked once for each folder, however many files a change has in it: it is not asked again when the answer
// would be another one by now.
func TestFoldersAreAskedForOnce(t *testing.T) {
	vault := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(vault, "P"), 0o755))
	folder, err := disk.Open(vault)
	require.NoError(t, err)
	defer folder.Close()
	in := newFolderCache(folder)
	first := in.newDraft(pathIn(t, "P/a.md"))
	none := require.Value(in.missingAbove(pathIn(t, "P/a.md")))(t)
	missing := require.Value(in.missingAbove(pathIn(t, "Q/R/a.md")))(t)

	require.NoError(t, os.Remove(filepath.Join(vault, "P")))
	require.NoError(t, os.MkdirAll(filepath.Join(vault, "Q", "R"), 0o755))

	second := in.newDraft(pathIn(t, "P/b.md"))
	assert.Equal(t, first.Folder().String(), "P")
	assert.Equal(t, second.Folder().String(), "P")
	assert.That(t, first.String() != second.String(), "both are called %s", first)
	assert.Equal(t, len(none), 0)
	assert.Equal(t, len(require.Value(in.missingAbove(pathIn(t, "P/b.md")))(t)), 0)
	assert.EqualSlices(t, require.Value(in.missingAbove(pathIn(t, "Q/R/b.md")))(t), missing)
	assert.Equal(t, len(missing), 2)
	assert.Equal(t, in.newDraft(pathIn(t, "X/b.md")).Folder().String(), "")
}

func pathIn(t *testing.T, text string) disk.Path {
	t.Helper()
	path, err := disk.ParsePath(text)
	require.NoError(t, err)
	return path
}
