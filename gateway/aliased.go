package gateway

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
)

// rejectIndirectPaths refuses a call on the app whose paths lead to files of other names:
// through a symbolic link, or because the file has further hard links. The access
// rules judge the path that is spelled out, and the app follows it wherever it
// leads. The embedded program follows no link and holds the rules itself; a vault
// whose folder is not known cannot be looked at.
func (g *vaultGateway) rejectIndirectPaths(r route) error {
	if r.program.Backend() != string(App) || !r.policy.Access.Restrict() {
		return nil
	}
	for _, spelled := range r.call.Spells() {
		if err := g.rejectIndirectPath(spelled.Path); err != nil {
			return err
		}
	}
	return nil
}

// rejectIndirectPath is direct for one path.
func (g *vaultGateway) rejectIndirectPath(note string) error {
	folder := g.target().folder
	if folder == "" {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil // the app knows better
	}
	defer root.Close()
	parts := strings.Split(note, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := root.Lstat(filepath.FromSlash(at))
		switch {
		case err != nil:
			return nil // nothing is there
		case info.Mode()&os.ModeSymlink != 0:
			// The embedded program answers in the same way.
			return failure.New(failure.CodeNotFound, "", "file %q not found", quote.Short(note))
		case info.Mode().IsRegular() && hardLinks(root, at, info) > 1:
			return failure.New(policy.CodeAccess, "the user can put a copy in the place of the hard link",
				"file %q has more than one hard link, and there are access rules", quote.Short(note))
		}
	}
	return nil
}
