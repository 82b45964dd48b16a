package vault

import (
	"errors"
	"fmt"
	"io/fs"

	"vaultwicket/cmd/internal/vault/disk"
)

// pathOf returns the path that a text means, as the disk has it. Every path that
// a call or a setting of the vault spells out passes through here or [vault.find],
// so that rules, records and answers know one name of a note.
func (v *vault) pathOf(text string) (disk.Path, error) {
	asked, err := disk.ParsePath(text)
	if err != nil {
		return disk.Path{}, err
	}
	return v.asListed(asked)
}

// folderOf is pathOf for a folder.
func (v *vault) folderOf(text string) (disk.Path, error) {
	asked, err := disk.ParseFolder(text)
	if err != nil {
		return disk.Path{}, err
	}
	return v.asListed(asked)
}

func (v *vault) asListed(asked disk.Path) (disk.Path, error) {
	path, err := v.disk.Named(asked)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("path %q: names something else on this system", asked)
	}
	return path, err
}

// find is pathOf for a file that a caller takes to be there. The error is the
// app's sentence for one that is not.
func (v *vault) find(typed string) (disk.Path, error) {
	asked, err := disk.ParsePath(typed)
	if err != nil {
		return disk.Path{}, fileNotFound(typed)
	}
	path, err := v.disk.Named(asked)
	if err != nil {
		return disk.Path{}, unreadable(typed, err)
	}
	return path, nil
}
