//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// cautious are flags for opening: follow no link, wait for no pipe.
const cautious = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isPrivate reports whether something is of this user, and closed to others.
func isPrivate(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// isReadOnly reports whether err says that the file system takes no writes.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
