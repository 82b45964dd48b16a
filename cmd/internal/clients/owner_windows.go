//go:build !unix

package clients

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// ownedByUser is a matter of Unix: elsewhere access rights decide.
func ownedByUser(fs.FileInfo) bool { return true }

// resolve follows the symbolic links of a path, that need not exist.
func resolve(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(name) == name {
		return target, err
	}
	parent, err := resolve(filepath.Dir(name))
	return filepath.Join(parent, filepath.Base(name)), err
}
