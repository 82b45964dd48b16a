package disk

import (
	"errors"
	"io/fs"
	"sync/atomic"

	"vaultwicket/policy/access"
)

// View says which files and folders of a vault are there for whoever asks. What
// it does not see is not there: it is in no walk, cannot be opened, and is
// neither changed nor moved. The app's settings are not its affair.
type View interface {
	// Sees reports whether the file or folder at path is there.
	Sees(path string, folder bool) bool
	// Enters reports whether something in a folder that is not seen may be.
	Enters(folder string) bool
}

// WithView returns the same open folder as v sees it. Only one of the two is to be
// closed.
func (f *Folder) WithView(v View) *Folder {
	return &Folder{root: f.root, sys: f.sys, view: v, names: f.names}
}

// Counting returns the same open folder, of which a walk tells how many files it has found
// that it is going to visit. Only one of the two is to be closed.
func (f *Folder) Counting(found func(files int)) *Folder {
	return &Folder{root: f.root, sys: f.sys, view: f.view, names: f.names, found: found}
}

// admit returns the error of a file that is not there for whoever asks. A path
// that is not as the disk has it leads nowhere: what a view judges is the name by
// which the file is opened.
func (f *Folder) admit(p Path) error {
	if p == Bookmarks() {
		return nil
	}
	if err := f.isNamed(p); err != nil {
		return err
	}
	if f.view != nil && !f.view.Sees(p.text, false) {
		return missing(p)
	}
	return nil
}

// admitNew is admit for a file that is to be made.
func (f *Folder) admitNew(p Path) error {
	err := f.admit(p)
	if errors.Is(err, fs.ErrNotExist) {
		return closed(p)
	}
	return err
}

// missing is the error of a file that is not seen. It is that of one that is not
// there.
func missing(p Path) error { return &fs.PathError{Op: "open", Path: p.base(), Err: fs.ErrNotExist} }

// closed refuses to make a file that would not be seen: whether there is one
// already is not told.
func closed(p Path) error { return &Refusal{Path: p.text, Reason: "cannot be created"} }

// walker is one walk: who looks, and what for.
type walker struct {
	view  View // nil sees everything
	visit func(Entry)
	// seen counts the visits of a walk that begins in a folder which is not seen
	// itself, nil for any other.
	seen *atomic.Int64
}

// walker returns the walk that begins in the folder under, or the error of one
// that is not there.
func (f *Folder) walker(under Path, visit func(Entry)) (walker, error) {
	w := walker{view: f.view, visit: visit}
	if under == (Path{}) {
		return w, nil
	}
	if err := f.isNamed(under); err != nil {
		return w, err
	}
	visited, entered := w.found(under, true)
	if !entered {
		return w, missing(under)
	}
	if !visited {
		seen := new(atomic.Int64)
		w.seen, w.visit = seen, func(e Entry) {
			seen.Add(1)
			visit(e)
		}
	}
	return w, nil
}

// failure returns the error of a walk that could not begin. Of a folder that is
// not seen it is not told whether there is something else in its place.
func (w walker) failure(under Path, err error) error {
	if w.seen != nil && (IsMissing(err) || errors.Is(err, fs.ErrPermission)) {
		return missing(under)
	}
	return err
}

// end returns the error of a walk that went well. A folder that is not seen, and
// has nothing in it that is, is not there.
func (w walker) end(under Path) error {
	if w.seen != nil && w.seen.Load() == 0 {
		return missing(under)
	}
	return nil
}

// found says what a walk does about a file or folder: visit it, and go into it.
func (w walker) found(p Path, folder bool) (visited, entered bool) {
	if w.view == nil {
		return true, folder
	}
	seen := w.view.Sees(p.text, folder)
	return seen, folder && (seen || w.view.Enters(p.text))
}

// Ignored returns the text of the file of patterns [access.IgnoreFile], or fs.ErrNotExist.
// No other path leads to it, so it is neither read nor written as a note. A link in
// its place is a [Refusal], and so is everything else that is no regular file.
func (f *Folder) Ignored() ([]byte, error) {
	file, err := openIn(f.root, access.IgnoreFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, access.MaxIgnoreFile)
}
