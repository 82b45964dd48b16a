package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// placard is the file that tells a person whose folder it is.
const placard = "vault.txt"

// prepare makes the folders that are missing, and returns an error unless they
// are ours alone.
func (j *Journal) prepare() error {
	if !filepath.IsAbs(j.place.root) {
		return &Unusable{Path: j.place.root, Reason: "is no absolute path"}
	}
	if err := checkPrivate(j.place.dir); err == nil {
		return checkPrivate(j.place.root)
	}
	if err := j.place.takeOver(); err != nil {
		return err
	}
	if err := j.makeFolder(j.place.root); err != nil {
		return err
	}
	if err := j.makeFolder(j.place.dir); err != nil {
		return err
	}
	return j.label()
}

// makeFolder makes dir, with what it lies in, unless it is there.
func (j *Journal) makeFolder(dir string) error {
	_, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = j.makeNew(dir)
	}
	if err != nil {
		return unusable(dir, err)
	}
	return checkPrivate(dir)
}

func (j *Journal) makeNew(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := j.makeNew(parent); err != nil {
			return err
		}
	}
	err := j.sys.mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return j.sys.sync(parent)
}

// label writes the placard. Nothing depends on it.
func (j *Journal) label() error {
	file, err := j.sys.create(j.place.file(placard))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return unusable(j.place.dir, err)
	}
	_, err = fmt.Fprintf(file, "What vaultwicket needs to undo changes in the vault\n%s\n", j.place.vault)
	return unusable(j.place.dir, errors.Join(err, file.Close()))
}

// isThere reports whether anything was ever written, and an error if the
// folders are not ours alone.
func (p place) isThere() (bool, error) {
	if err := p.takeOver(); err != nil {
		return false, err
	}
	for _, dir := range []string{p.root, p.dir} {
		err := checkPrivate(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// takeOver gives a journal that was kept under another path of the vault its
// place, unless there is one.
func (p place) takeOver() error {
	if p.former == p.dir {
		return nil
	}
	if _, err := os.Lstat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := checkPrivate(p.former); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	err := os.Rename(p.former, p.dir)
	if _, there := os.Lstat(p.dir); there == nil {
		return nil // another process was faster
	}
	return unusable(p.former, err)
}

// checkPrivate returns an error unless dir is a folder, and no link to one, that
// nobody else can look into.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return unusable(dir, err)
	case !info.IsDir():
		return &Unusable{Path: dir, Reason: "is not a folder"}
	case !isPrivate(info):
		return &Unusable{Path: dir, Reason: "is open to others, or of another user"}
	}
	return nil
}

// openOwn opens a file that is no link, and that nobody else can look into.
func openOwn(name string, flag int) (*os.File, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := checkOwn(name, seen); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, flag|cautious, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !os.SameFile(seen, info) {
		file.Close()
		return nil, &Unusable{Path: name, Reason: "was replaced while it was opened"}
	}
	return file, nil
}

func checkOwn(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &Unusable{Path: name, Reason: "is not a regular file"}
	}
	if !isPrivate(info) {
		return &Unusable{Path: name, Reason: "is open to others, or of another user"}
	}
	return nil
}

// create makes a file that only its owner can read. It never opens one that is
// there.
func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL|cautious, 0o600)
}
