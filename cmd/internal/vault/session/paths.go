package session

import (
	"errors"
	"fmt"
	"io/fs"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
)

// PathOf returns the path that a text means, as the disk has it. Every path that
// a call or a setting of the vault spells out passes through here or [vault.find],
// so that rules, records and answers know one name of a note.
func (v *Vault) PathOf(text string) (disk.Path, error) {
	asked, err := disk.ParsePath(text)
	if err != nil {
		return disk.Path{}, err
	}
	return v.NameOnDisk(asked)
}

// FolderOf is pathOf for a folder.
func (v *Vault) FolderOf(text string) (disk.Path, error) {
	asked, err := disk.ParseFolder(text)
	if err != nil {
		return disk.Path{}, err
	}
	return v.NameOnDisk(asked)
}

// NameOnDisk returns a path as the disk has it, in the spelling of its names there. A
// path of which a part does not exist keeps that part. The error says that the path
// names another file on this system.
func (v *Vault) NameOnDisk(asked disk.Path) (disk.Path, error) {
	path, err := v.Disk.Named(asked)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("path %q: names something else on this system", asked)
	}
	return path, err
}

// FindPath is pathOf for a file that a caller takes to be there. The error is the
// app's sentence for one that is not.
func (v *Vault) FindPath(typed string) (disk.Path, error) {
	asked, err := disk.ParsePath(typed)
	if err != nil {
		return disk.Path{}, answer.FileNotFound(typed)
	}
	path, err := v.Disk.Named(asked)
	if err != nil {
		return disk.Path{}, answer.ReadError(typed, err)
	}
	return path, nil
}
