package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vaultwicket/gateway/state/private"
)

// placard is the file that tells a person whose folder it is.
const placard = "vault.txt"

// prepare creates the folders that are missing, and returns an error unless they
// belong to this user alone.
func (j *Journal) prepare() error {
	if !filepath.IsAbs(j.place.root) {
		return unusable(j.place.root, &private.Unsafe{Path: j.place.root, Problem: private.NotAbsolute})
	}
	if err := private.CheckFolder(j.place.dir); err == nil {
		return unusable(j.place.root, private.CheckFolder(j.place.root))
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

func (j *Journal) makeFolder(dir string) error { return unusable(dir, private.MakeFolder(j.sys, dir)) }

// label writes the placard. Nothing depends on it.
func (j *Journal) label() error {
	file, err := j.sys.Create(j.place.file(placard))
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
		if there, err := isFolder(dir); err != nil || !there {
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
	if there, err := isFolder(p.former); err != nil || !there {
		return err
	}
	err := os.Rename(p.former, p.dir)
	if _, there := os.Lstat(p.dir); there == nil {
		return nil // another process was faster
	}
	return unusable(p.former, err)
}

// isFolder reports whether there is a folder at dir, and an error unless it
// belongs to this user alone.
func isFolder(dir string) (bool, error) {
	err := private.CheckFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, unusable(dir, err)
}
