package disk

import (
	"errors"
	"io/fs"
)

// Named returns p as the disk has it: each segment by the name that its folder
// lists, in place of another case of it, another normal form or a short name.
// From the first segment on that is not there, p stays as it is, and so does the
// path of what is not seen. The error is fs.ErrNotExist for a path that leads to a
// hidden place by another name.
func (f *Folder) Named(p Path) (Path, error) {
	if p == Bookmarks() {
		return p, nil
	}
	named, err := f.name(p)
	if err != nil || named == p || f.view == nil {
		return named, err
	}
	if f.view.Sees(named.text, false) || f.view.Sees(named.text, true) || f.view.Enters(named.text) {
		return named, nil
	}
	return p, nil
}

func (f *Folder) name(p Path) (Path, error) {
	text, err := f.names.Name(p.text)
	switch {
	case err != nil:
		return Path{}, err
	case text == p.text:
		return p, nil
	}
	named, err := ParsePath(text)
	if err != nil {
		return Path{}, missing(p)
	}
	return named, nil
}

// isNamed returns the error of a path that is not as the disk has it.
func (f *Folder) isNamed(p Path) error {
	named, err := f.name(p)
	if err == nil && named != p {
		err = missing(p)
	}
	return err
}

// Sees reports whether the file or folder at p may be named. It need not be there.
func (f *Folder) Sees(p Path, folder bool) bool {
	return p == Bookmarks() || f.isNamed(p) == nil && (f.view == nil || f.view.Sees(p.text, folder))
}

// Renamed returns the path that the file from is to get where p is asked for: its
// folder as the disk has it, and its last segment as it is asked for, if that is
// another spelling of the name that from has. A path that is not seen stays as it
// is.
func (f *Folder) Renamed(from, p Path) (Path, error) {
	renamed, err := f.renamed(from, p)
	if err == nil && renamed != p && !f.Sees(renamed, false) && renamed.Folder() != from.Folder() {
		return p, nil
	}
	return renamed, err
}

func (f *Folder) renamed(from, p Path) (Path, error) {
	named, err := f.name(p)
	if err != nil || named != from {
		return named, err
	}
	return Path{text: named.text[:len(named.text)-len(named.base())] + p.base()}, nil
}

// mayBecome returns the error of a path that the file from may not get: one that
// is not seen, or not as the disk has it, unless that is another spelling of its
// own name.
func (f *Folder) mayBecome(from, to Path) error {
	renamed, err := f.renamed(from, to)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (renamed != to || f.view != nil && !f.view.Sees(to.text, false)) {
		return closed(to)
	}
	return err
}
