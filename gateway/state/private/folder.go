package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckFolder returns an error unless dir is a folder of this user that nobody
// else can access, and not a link to one. The error is an *[Unsafe] or an
// *[fs.PathError]; it is [fs.ErrNotExist] if there is nothing at dir.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return CheckFolderInfo(dir, info)
}

// CheckFolderInfo is [CheckFolder] for what Lstat returned for dir.
func CheckFolderInfo(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return &Unsafe{Path: dir, Problem: NotFolder}
	}
	return checkAccess(dir, info)
}

// MakeFolder creates dir, an absolute path, with its missing parents for this
// user alone, unless it exists, and makes its name durable. The errors are those
// of [CheckFolder] and of sys.
func MakeFolder(sys System, dir string) error {
	if !filepath.IsAbs(dir) {
		return &Unsafe{Path: dir, Problem: NotAbsolute}
	}
	err := CheckFolder(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeWithParents(sys, dir); err != nil {
		return err
	}
	return CheckFolder(dir)
}

func makeWithParents(sys System, dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeWithParents(sys, parent); err != nil {
			return err
		}
	}
	err := sys.Mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return sys.SyncFolder(parent)
}
