package disk

import (
	"errors"
	"io/fs"
	"os"
)

// Entry is one file or folder that a walk meets. Its methods may be called only
// while the walk visits it.
type Entry struct {
	Path  Path
	IsDir bool
	dir   *os.Root
}

// Size returns the size of a file in bytes; 0 if it is gone by now.
func (e Entry) Size() int64 {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.Size()
}

// Info returns what is known about a file, with the errors of [Folder.Open].
func (e Entry) Info() (fs.FileInfo, error) { return statIn(e.dir, e.Path.base()) }

// Read returns a whole file, with the errors of [Folder.Read]. It costs less
// than a read by path, because the folder is open already.
func (e Entry) Read() ([]byte, fs.FileInfo, error) { return readIn(e.dir, e.Path.base()) }

// Walk visits every visible file and folder below the folder under, a folder
// before what it holds, in no particular order. Links, special files and names
// that no [Path] can hold are left out: what is listed can be read. A folder
// that may not be entered or vanished meanwhile counts as empty. If under is
// no folder, the answer is fs.ErrNotExist or a [Refusal].
func (f *Folder) Walk(under Path, visit func(Entry)) error {
	dir, err := f.enter(under.segments())
	if err != nil {
		return err
	}
	defer dir.Close()
	return walk(dir, under, visit)
}

func walk(dir *os.Root, at Path, visit func(Entry)) error {
	names, err := list(dir)
	if err != nil {
		return err
	}
	for _, found := range names {
		path, err := ParsePath(at.join(found.Name()).text)
		if err != nil || !(found.IsDir() || found.Type().IsRegular()) {
			continue
		}
		visit(Entry{Path: path, IsDir: found.IsDir(), dir: dir})
		if found.IsDir() {
			if err := walkInto(dir, path, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func walkInto(dir *os.Root, path Path, visit func(Entry)) error {
	sub, err := step(dir, path.base())
	if IsMissing(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := walk(sub, path, visit); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func list(dir *os.Root) ([]fs.DirEntry, error) {
	handle, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	names, err := handle.ReadDir(-1)
	return names, err
}
