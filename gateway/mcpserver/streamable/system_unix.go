//go:build unix

package streamable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// cautious are flags for opening: follow no link, wait for no pipe.
const cautious = syscall.O_NOFOLLOW | nonblocking

// nonblocking does not wait for the other end of a pipe.
const nonblocking = syscall.O_NONBLOCK

// exposed says why a file is not for this user alone, and what mends it; both are
// "" when it is.
func exposed(path string, info fs.FileInfo) (reason, hint string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode().Perm()
	switch {
	case !ok || int(stat.Uid) != os.Geteuid():
		return "belongs to another user", "name a file of your own, or none"
	case mode&0o077 != 0:
		return fmt.Sprintf("can be read or written by others (mode %04o)", mode), fmt.Sprintf("chmod 600 %q, and make a new token: this one may be known", path)
	}
	return "", ""
}

// refused reports whether a socket said that nobody listens on it.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
