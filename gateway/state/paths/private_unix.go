//go:build unix

package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// notAlone says why a folder is not its user's alone, "" if it is.
func notAlone(info fs.FileInfo) string {
	stat, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known || int(stat.Uid) != os.Geteuid():
		return "belongs to another user"
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Sprintf("is open to others (mode %04o)", info.Mode().Perm())
	}
	return ""
}

// writable is an error where nothing can be made in a folder, or in the place where
// it would be made.
func writable(dir string) error {
	for {
		err := unix.Access(dir, unix.W_OK|unix.X_OK)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return err
		}
		dir = filepath.Dir(dir)
	}
}
