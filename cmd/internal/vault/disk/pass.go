package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// take gives the file of source that was opened as seen the name to in target,
// which has to be free. A file that has taken its name in the meantime, or was
// written since, goes back: that is ErrChanged.
func (f *Folder) take(seen *File, source *os.Root, target *os.Root, to string) error {
	from := seen.Info.Name()
	if err := f.pass(source, from, target, to); err != nil {
		return err
	}
	moved, err := target.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody moved it on
	}
	if err == nil && isSame(seen.Info, moved) {
		return nil
	}
	return f.giveBack(source, from, target, to)
}

// giveBack takes back a pass of a file that was not the one to be passed, and
// answers ErrChanged. It never stays under a temporary name: where its own was
// taken meanwhile, it gets a number.
func (f *Folder) giveBack(source *os.Root, from string, target *os.Root, to string) error {
	for n := range maxTrashed {
		name := numbered(from, n)
		switch err := f.pass(target, to, source, name); {
		case err == nil && n == 0:
			return ErrChanged
		case err == nil:
			return fmt.Errorf("%q was exchanged for another file, which is called %q from now on: %w", from, name, ErrChanged)
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%q was exchanged for another file, which is called %q from now on: %w", from, to, err)
		}
	}
	return ErrChanged
}

// isSame reports whether a file is the one that was seen, as it was then.
func isSame(seen, now fs.FileInfo) bool {
	return os.SameFile(seen, now) && seen.Size() == now.Size() && seen.ModTime().Equal(now.ModTime())
}

// pass gives the file from in source the name to in target, and never replaces
// another file. Where that takes several calls, a crash between them leaves the
// file with both names, or beside an empty one.
func (f *Folder) pass(source *os.Root, from string, target *os.Root, to string) error {
	err := f.sys.Move(source, from, target, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	err = f.sys.Link(source, from, target, to)
	switch {
	case err == nil:
		if err = f.sys.Remove(source, from); err != nil {
			return errors.Join(err, f.sys.Remove(target, to))
		}
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	return f.passByRename(source, from, target, to)
}

// passByRename is for file systems without hard links as well. It takes the name
// with an empty file, which fails if the name is taken, and replaces that.
func (f *Folder) passByRename(source *os.Root, from string, target *os.Root, to string) error {
	placeholder, err := f.sys.Create(target, to, newNote)
	if err != nil {
		return err
	}
	if err = placeholder.Close(); err == nil {
		err = f.unchanged(target, to, nil)
	}
	if err == nil {
		err = f.sys.Rename(source, from, target, to)
	}
	if err == nil || f.unchanged(target, to, nil) != nil {
		return err // what is there is somebody's note by now
	}
	return errors.Join(err, ignoreMissing(f.sys.Remove(target, to)))
}
