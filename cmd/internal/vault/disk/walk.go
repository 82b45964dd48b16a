package disk

import (
	"errors"
	"io/fs"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// Entry is one file or folder that a walk meets. Its methods may be called only
// while the walk visits it.
type Entry struct {
	Path  Path
	IsDir bool
	at    place // the open folder that it lies in
}

// Size returns the size of a file in bytes; 0 if it is gone by now.
func (e Entry) Size() int64 {
	stamp, err := e.Stamp()
	if err != nil {
		return 0
	}
	return stamp.Size
}

// Info returns what is known about a file, with the errors of [Folder.Open].
func (e Entry) Info() (fs.FileInfo, error) { return e.at.info(e.Path.base()) }

// Stamp returns the state of a file, with the errors of [Folder.Open].
func (e Entry) Stamp() (system.Stamp, error) { return e.at.stamp(e.Path.base()) }

// Read returns a whole file and its stamp as [Folder.ReadStamped] does, but fetches none
// from the cloud: the error is then [system.ErrElsewhere]. It costs less than a read by
// path, because the folder is open already.
func (e Entry) Read() ([]byte, system.Stamp, error) { return e.ReadInto(nil) }

// ReadInto is Read into the memory of buf, or into other memory if the file
// does not fit. What buf held is lost either way.
func (e Entry) ReadInto(buf []byte) ([]byte, system.Stamp, error) {
	if system.HasCloudFiles {
		if info, err := e.Info(); err == nil && system.IsElsewhere(info) {
			return nil, system.Stamp{}, system.ErrElsewhere
		}
	}
	return e.at.read(e.Path.base(), buf)
}

// Walk visits every visible file and folder below the folder under, a folder
// before what it holds, in no particular order. Links, special files and names
// that no [Path] can hold are left out: what is listed can be read. A folder
// that may not be entered or vanished meanwhile counts as empty. If under is
// no folder, the answer is fs.ErrNotExist or a [Refusal].
func (f *Folder) Walk(under Path, visit func(Entry)) error {
	w, err := f.walker(under, visit)
	if err != nil {
		return err
	}
	at, err := f.place(under.segments())
	if err != nil {
		return w.failure(under, err)
	}
	defer at.close()
	if err := w.walk(at, under); err != nil {
		return w.failure(under, err)
	}
	return w.end(under)
}

func (w walker) walk(at place, path Path) error {
	names, err := at.list()
	if err != nil {
		return err
	}
	for _, found := range names {
		child, ok := path.child(found.name)
		if !ok {
			continue
		}
		visited, entered := w.found(child, found.folder)
		if visited && (found.folder || w.lists(at, child)) {
			w.visit(Entry{Path: child, IsDir: found.folder, at: at})
		}
		if entered {
			if err := w.walkInto(at, child); err != nil {
				return err
			}
		}
	}
	return nil
}

// lists reports whether a file is visited whose path is seen. What cannot be read
// because of its further names is not listed either.
func (w walker) lists(at place, file Path) bool {
	if w.view == nil {
		return true
	}
	_, err := at.stamp(file.base())
	return !IsHardLinked(err)
}

func (w walker) walkInto(at place, path Path) error {
	sub, err := at.step(path.base())
	if err == nil {
		defer sub.close()
		err = w.walk(sub, path)
	}
	if IsMissing(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
