package session

import (
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/lookup"
)

// Target is the file that a request means, and how the caller wrote it.
type Target struct {
	Path  disk.Path
	Typed string
}

// Target finds out which file is meant: path= exactly, file= as a link would,
// else the focused note. Whether a file is there is seen when it is opened.
func (v *Vault) Target(p grammar.Values) (Target, error) {
	if p.Has("file") {
		path, err := v.Resolve(p["file"])
		return Target{path, p["file"]}, err
	}
	typed := p["path"]
	if !p.Has("path") {
		var err error
		if typed, err = v.ActiveNote(); err != nil {
			return Target{}, err
		}
	}
	path, err := v.FindPath(typed)
	return Target{path, typed}, err
}

// Resolve finds the file that a link with this text would lead to from a note
// in the vault's folder.
func (v *Vault) Resolve(name string) (disk.Path, error) {
	if path, ok := v.exact(name); ok {
		return path, nil // nothing can be better, and the vault need not be walked
	}
	if x, ok := v.Host.Knowledge.IndexIfCurrent(v.View()); ok {
		if place, ok := x.Resolve(name); ok {
			return x.Files[place].Path, nil
		}
		return disk.Path{}, answer.FileNotFound(name)
	}
	var found []string
	err := v.Disk.Walk(disk.Path{}, func(e disk.Entry) {
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
	return disk.Path{}, answer.FileNotFound(name)
}

// exact answers for the spelling that wins against all others: the path of a
// file, with its extension or as the name of a note.
func (v *Vault) exact(name string) (disk.Path, bool) {
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ".") {
		name += ".md"
	}
	path, err := v.PathOf(name)
	if err != nil {
		return path, false
	}
	_, err = v.Disk.Stat(path)
	return path, err == nil
}
