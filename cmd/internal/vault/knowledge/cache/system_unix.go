//go:build unix

package cache

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// cautious are flags for opening: follow no link, wait for no pipe.
const cautious = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isPrivate reports whether dir is a folder, and no link to one, of this user,
// that nobody else can write to.
func isPrivate(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// tryLock takes the lock on file, which ends when that is closed, or with the
// process.
func tryLock(file *os.File) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) { result = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil {
		return err
	}
	return result
}
