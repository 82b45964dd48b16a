package visibility

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vaultwicket/allowlist"
)

// Named returns the call with its paths as the disk has them, so that rules,
// questions, records and the app know one name of a note. hidden says that one of
// them leads to what may not be seen: then the call stays as it is, for the answer
// must not tell the name, and only the embedded program may be asked.
func (r *Rules) Named(call allowlist.Call) (named allowlist.Call, hidden bool) {
	if r.folder() == "" || len(call.NamedPaths()) == 0 {
		return call, false
	}
	call = r.withExtensions(call)
	var others []string
	named, err := call.WithPaths(func(path string) string {
		name, err := r.names.Name(path)
		if err != nil || name == path {
			return path // what cannot be found out, the embedded program says
		}
		others = append(others, name)
		return name
	})
	if len(others) == 0 {
		return call, false
	}
	if err != nil || slices.ContainsFunc(others, r.hides()) {
		return call, true
	}
	return named, false
}

// noteExtension is what callers leave out of a path.
const noteExtension = ".md"

// withExtensions returns the call with .md behind a path that leads to no file where
// it leads to a note with it. A note that is hidden is not there: the path stays.
func (r *Rules) withExtensions(call allowlist.Call) allowlist.Call {
	completed, err := call.WithNoteExtensions(func(asked string) string {
		if strings.HasSuffix(asked, noteExtension) || r.isFile(asked) || !r.isFile(asked+noteExtension) {
			return asked
		}
		name, err := r.names.Name(asked + noteExtension)
		if err != nil || r.hides()(name) {
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
func (r *Rules) isFile(asked string) bool {
	root, err := os.OpenRoot(r.folder())
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(asked))
	return err == nil && info.Mode().IsRegular()
}
