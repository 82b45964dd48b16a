package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vaultwicket/gateway/state/private"
)

// readmeFile is the file that says whose folder it is.
const readmeFile = "vault.txt"

// prepare creates the folders that are missing, and returns an error unless they
// belong to this user alone.
func (j *Journal) prepare() error {
	if !filepath.IsAbs(j.folder.root) {
		return unusable(j.folder.root, &private.Unsafe{Path: j.folder.root, Problem: private.NotAbsolute})
	}
	if err := private.CheckFolder(j.folder.dir); err == nil {
		return unusable(j.folder.root, private.CheckFolder(j.folder.root))
	}
	if err := j.folder.adoptFormer(); err != nil {
		return err
	}
	if err := j.makeFolder(j.folder.root); err != nil {
		return err
	}
	if err := j.makeFolder(j.folder.dir); err != nil {
		return err
	}
	return j.writeReadme()
}

func (j *Journal) makeFolder(dir string) error { return unusable(dir, private.MakeFolder(j.sys, dir)) }

// writeReadme writes the README file. Nothing depends on it.
func (j *Journal) writeReadme() error {
	file, err := j.sys.Create(j.folder.file(readmeFile))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return unusable(j.folder.dir, err)
	}
	_, err = fmt.Fprintf(file, "What vaultwicket needs to undo changes in the vault\n%s\n", j.folder.vault)
	return unusable(j.folder.dir, errors.Join(err, file.Close()))
}

// exists reports whether anything was ever written, and an error if the
// folders are not ours alone.
func (p folder) exists() (bool, error) {
	if err := p.adoptFormer(); err != nil {
		return false, err
	}
	for _, dir := range []string{p.root, p.dir} {
		if there, err := isFolder(dir); err != nil || !there {
			return false, err
		}
	}
	return true, nil
}

// adoptFormer gives a journal that was kept under another path of the vault its
// place, unless there is one.
func (p folder) adoptFormer() error {
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
