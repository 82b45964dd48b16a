package disk

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// IsFolder reports whether there is a folder at p that may be seen.
func (f *Folder) IsFolder(p Path) bool {
	_, err := f.FolderInfo(p)
	return err == nil
}

// FolderInfo returns what is known about the folder at p, if that may be seen.
func (f *Folder) FolderInfo(p Path) (fs.FileInfo, error) {
	if f.isNamed(p) != nil || !f.sees(p, true) || f.IsClosed(p) || f.isBelowClosed(p) {
		return nil, missing(p)
	}
	dir, err := f.enter(p.segments())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Stat(".")
}

// MakeFolder makes the folder p with those above it. One that exists is no error. A name that
// not every system and link can carry is a [Refusal], and so is one that may not be seen.
func (f *Folder) MakeFolder(p Path) error {
	if f.isNamed(p) != nil || !f.sees(p, true) || f.IsClosed(p) || f.isBelowClosed(p) {
		return closed(p)
	}
	dir, err := f.enterMaking(p.segments())
	if err != nil {
		return err
	}
	return dir.Close()
}

// RemoveFolder removes the folder p. One that is not empty, or not there, stays as it is.
func (f *Folder) RemoveFolder(p Path) error {
	if f.isNamed(p) != nil || !f.sees(p, true) {
		return closed(p)
	}
	if f.IsClosed(p) || f.isBelowClosed(p) {
		return nil
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return ignoreMissing(err)
	}
	defer dir.Close()
	if names, err := f.count(p); err == nil && names > 0 {
		return nil
	}
	if err := f.sys.Rmdir(dir, p.base()); err != nil {
		return ignoreMissing(err)
	}
	return f.settle(dir, p.Folder(), p.base())
}

// Contents is what a caller sees in a folder and below it.
type Contents struct {
	Files   []Path
	Folders []Path // the folder itself first, and each before those in it
	Hidden  bool   // there is something that the caller does not see
	// Stay are the folders with something that is not a file of a vault, such as a hidden name or
	// a link, and those above them.
	Stay map[Path]bool
}

// Contents returns what is in the folder p. The errors are those of Walk.
func (f *Folder) Contents(p Path) (c Contents, err error) {
	c = Contents{Folders: []Path{p}, Stay: map[Path]bool{}}
	err = f.Walk(p, func(e Entry) {
		if e.IsDir {
			c.Folders = append(c.Folders, e.Path)
		} else {
			c.Files = append(c.Files, e.Path)
		}
	})
	if err != nil {
		return c, err
	}
	// The order on the disk depends on names that are not seen.
	inOrder := func(a, b Path) int { return strings.Compare(a.text, b.text) }
	slices.SortFunc(c.Files, inOrder)
	slices.SortFunc(c.Folders, inOrder) // a folder is before those in it
	in, all := map[Path]int{}, 0
	whole := Folder{root: f.root, sys: f.sys, names: f.names}
	err = whole.Walk(p, func(e Entry) {
		in[Path{e.Path.Folder()}]++
		all++
	})
	c.Hidden = all > len(c.Files)+len(c.Folders)-1 || !f.sees(p, true)
	for _, folder := range c.Folders {
		names, failed := f.count(folder)
		err = errors.Join(err, failed)
		for at := folder; names > in[folder] && !c.Stay[at]; at = (Path{at.Folder()}) {
			c.Stay[at] = true
			if at == p {
				break
			}
		}
	}
	return c, err
}

// SetModified sets the time of modification of the file or folder at p.
func (f *Folder) SetModified(p Path, at time.Time) error {
	if !f.IsFolder(p) {
		file, err := f.Open(p)
		if err != nil {
			return err
		}
		file.Close()
	}
	dir, err := f.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Chtimes(p.base(), time.Time{}, at)
}

// count returns how many names there are in a folder.
func (f *Folder) count(p Path) (int, error) {
	dir, err := f.enter(p.segments())
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	all, err := fs.ReadDir(dir.FS(), ".")
	return len(all), err
}
