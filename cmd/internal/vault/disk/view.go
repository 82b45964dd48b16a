package disk

import (
	"errors"
	"io/fs"
)

// View says which files and folders of a vault a caller may see. What it does not see does
// not exist: it is in no walk, cannot be opened, and is neither changed nor moved. It is
// not asked about the app's settings.
type View interface {
	// Sees reports whether the file or folder at path is visible.
	Sees(path string, folder bool) bool
	// Enters reports whether something in an invisible folder may be visible.
	Enters(folder string) bool
}

// WithView returns the same open folder as v sees it. Only one of the two is to be closed.
func (f *Folder) WithView(v View) *Folder {
	g := *f
	g.view = v
	return &g
}

// Redacting returns the same open folder, of whose files only the result of redact can be read; its
// error is that of the read. Files are compared and written as they are. Only one of the two is to
// be closed.
func (f *Folder) Redacting(redact func(p Path, text []byte) ([]byte, error)) *Folder {
	g := *f
	g.redact = redact
	return &g
}

// Raw returns the same open folder, whose files are read as they are. Only one of the two is to
// be closed.
func (f *Folder) Raw() *Folder { return f.Redacting(nil) }

// IsRedacted reports whether files are read with something else in place of their secrets.
func (f *Folder) IsRedacted() bool { return f.redact != nil }

// Counting returns the same open folder, whose parallel walks call found with the number
// of files in each folder that they are going to visit. Only one of the two is to be
// closed.
func (f *Folder) Counting(found func(files int)) *Folder {
	g := *f
	g.found = found
	return &g
}

// sees reports whether the view sees a path. It does not ask the disk.
func (f *Folder) sees(p Path, folder bool) bool { return f.view == nil || f.view.Sees(p.text, folder) }

// admit returns the error of a file that the caller may not see. A path that differs from
// the name on the disk leads nowhere: the view judges the name by which the file is opened.
func (f *Folder) admit(p Path) error {
	if p == Bookmarks() {
		return nil
	}
	if err := f.isNamed(p); err != nil {
		return err
	}
	if !f.sees(p, false) || f.isBelowClosed(p) {
		return missing(p)
	}
	return nil
}

// isBelowClosed reports whether a path leads through a note that its text closes, as if it were a
// folder.
func (f *Folder) isBelowClosed(p Path) bool {
	for above := p.Folder(); f.judge != nil && above != ""; above = (Path{above}).Folder() {
		if f.IsClosed(Path{above}) {
			return true
		}
	}
	return false
}

// admitNew is admit for a file that is to be made.
func (f *Folder) admitNew(p Path) error {
	err := f.admit(p)
	if errors.Is(err, fs.ErrNotExist) {
		return closed(p)
	}
	return err
}

// missing is the error of an invisible file. It is that of one that does not exist.
func missing(p Path) error { return &fs.PathError{Op: "open", Path: p.base(), Err: fs.ErrNotExist} }

// closed refuses to make an invisible file. It does not reveal whether there is one.
func closed(p Path) error { return &Refusal{Path: p.text, Reason: "cannot be created"} }

// Named returns p as the disk has it: each segment by the name that its folder lists, in
// place of another case, another Unicode normal form or a short name. From the first
// missing segment on p stays as it is, and so does the path of an invisible file. The
// error is fs.ErrNotExist for a path that leads to a hidden place by another name.
func (f *Folder) Named(p Path) (Path, error) {
	if p == Bookmarks() {
		return p, nil
	}
	named, err := f.name(p)
	if err != nil || named == p || !f.IsClosed(named) && (f.sees(named, false) || f.sees(named, true) || f.view.Enters(named.text)) {
		return named, err
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

// isNamed returns the error of a path that differs from the name on the disk.
func (f *Folder) isNamed(p Path) error {
	named, err := f.name(p)
	if err == nil && named != p {
		err = missing(p)
	}
	return err
}

// Sees reports whether the file or folder at p may be named. It need not exist.
func (f *Folder) Sees(p Path, folder bool) bool {
	return p == Bookmarks() || f.isNamed(p) == nil && f.sees(p, folder) && (folder || !f.IsClosed(p))
}

// Renamed returns the path that the file from is to get where p is requested: its folder
// as the disk has it, and its last segment as requested if that is another spelling of the
// name of from. An invisible path stays as it is.
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

// mayBecome returns the error of a path that the file from may not get: an invisible one,
// or one that differs from the name on the disk, unless it is another spelling of its own
// name.
func (f *Folder) mayBecome(from, to Path) error {
	renamed, err := f.renamed(from, to)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (renamed != to || !f.sees(to, false)) {
		return closed(to)
	}
	return err
}
