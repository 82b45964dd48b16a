package vault

import "vaultwicket/cmd/internal/vault/index"

func isAboutOne(p params) bool { return p.has("file") || p.has("path") || p.has("active") }

// indexed finds the file that a request means in the index.
func (v *vault) indexed(p params) (x *index.Index, place int, err error) {
	t, err := v.target(p)
	if err != nil {
		return nil, 0, err
	}
	if x, err = v.index(); err != nil {
		return nil, 0, err
	}
	place, ok := x.Place(t.path.String())
	if !ok {
		return nil, 0, fileNotFound(t.typed)
	}
	return x, place, nil
}

// scope returns the files that a listing is about: the one that is named, the
// focused one with active, else all that are not excluded.
func (v *vault) scope(p params) ([]*index.File, error) {
	if isAboutOne(p) {
		x, place, err := v.indexed(p)
		if err != nil {
			return nil, err
		}
		return x.Files[place : place+1], nil
	}
	x, err := v.index()
	if err != nil {
		return nil, err
	}
	excluded, err := v.excluded()
	if err != nil {
		return nil, err
	}
	var files []*index.File
	for _, f := range x.Files {
		if !excluded(f.Path.String()) {
			files = append(files, f)
		}
	}
	return files, nil
}
