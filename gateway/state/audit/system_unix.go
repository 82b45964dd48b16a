//go:build unix

package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	// Flags for opening: follow no link, and wait for no pipe either.
	noFollow = syscall.O_NOFOLLOW
	cautious = noFollow | syscall.O_NONBLOCK

	canRenameOpen = true // a file that some process has open
)

// isPrivate reports whether something is of this user, and closed to others.
func isPrivate(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// hasOneName reports whether a file has no second hard link.
func hasOneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}

// hasOneNameOpen is hasOneName where it takes an open file to know.
func hasOneNameOpen(*os.File) bool { return true }

// isReadOnly reports whether err says that the file system takes no writes.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
