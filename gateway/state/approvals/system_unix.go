//go:build unix

package approvals

import (
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
