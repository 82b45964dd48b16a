package gateway

import (
	"os"
	"path/filepath"
	"strings"

	"vaultwicket/allowlist"
)

// noteExtension is what callers leave out of a path.
const noteExtension = ".md"

// withExtensions returns the call with .md behind a path that leads to no file where
// it leads to a note with it. A note that is hidden is not there: the path stays.
func (g *vaultGateway) withExtensions(call allowlist.Call) allowlist.Call {
	completed, err := call.WithNoteExtensions(func(asked string) string {
		if strings.HasSuffix(asked, noteExtension) || g.isFile(asked) || !g.isFile(asked+noteExtension) {
			return asked
		}
		name, err := g.names.Name(asked + noteExtension)
		if err != nil || g.hides()(name) {
			return asked
		}
		return asked + noteExtension
	})
	if err != nil {
		return call // too long with it
	}
	return completed
}

// isFile reports whether there is a regular file at a path in the vault.
func (g *vaultGateway) isFile(asked string) bool {
	root, err := os.OpenRoot(g.target().folder)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(asked))
	return err == nil && info.Mode().IsRegular()
}
