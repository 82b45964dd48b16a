package embedded

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Texts returns the texts of the files of the vault, with those in hidden folders or without.
func (h *Vault) Texts(hidden bool) map[string]string { return TextsIn(h.T, h.Dir, hidden) }

// TextsIn does so for a folder.
func TextsIn(t require.T, dir string, hidden bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			text, _ := os.ReadFile(path) // of what leads nowhere it is nothing
			rel, _ := filepath.Rel(dir, path)
			found[filepath.ToSlash(rel)] = string(text)
		case !hidden && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		return nil
	}))
	return found
}
