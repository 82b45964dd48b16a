package vault

import (
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/lookup"
)

// target is the file that a request means, and how the caller wrote it.
type target struct {
	path  disk.Path
	typed string
}

// target finds out which file is meant: path= exactly, file= as a link would,
// else the focused note. Whether a file is there is seen when it is opened.
func (v *vault) target(p params) (target, error) {
	if p.has("file") {
		path, err := v.resolve(p["file"])
		return target{path, p["file"]}, err
	}
	typed := p["path"]
	if !p.has("path") {
		var err error
		if typed, err = v.activeNote(); err != nil {
			return target{}, err
		}
	}
	path, err := v.find(typed)
	return target{path, typed}, err
}

// resolve finds the file that a link with this text would lead to from a note
// in the vault's folder.
func (v *vault) resolve(name string) (disk.Path, error) {
	if path, ok := v.exact(name); ok {
		return path, nil // nothing can be better, and the vault need not be walked
	}
	if x, ok := v.host.known.followed(v.view()); ok {
		if place, ok := x.Resolve(name); ok {
			return x.Files[place].Path, nil
		}
		return disk.Path{}, fileNotFound(name)
	}
	var found []string
	err := v.disk.Walk(disk.Path{}, func(e disk.Entry) {
		if !e.IsDir {
			found = append(found, e.Path.String())
		}
	})
	if err != nil {
		return disk.Path{}, err
	}
	files := lookup.New(found)
	if i, ok := files.Resolve(name, ""); ok {
		return disk.ParsePath(files.Path(i))
	}
	return disk.Path{}, fileNotFound(name)
}

// exact answers for the spelling that wins against all others: the path of a
// file, with its extension or as the name of a note.
func (v *vault) exact(name string) (disk.Path, bool) {
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ".") {
		name += ".md"
	}
	path, err := v.pathOf(name)
	if err != nil {
		return path, false
	}
	_, err = v.disk.Stat(path)
	return path, err == nil
}
