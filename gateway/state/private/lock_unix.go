//go:build unix

package private

import (
	"errors"
	"os"
	"syscall"
)

// lockFile tries to take the exclusive lock of an open file.
func lockFile(file *os.File) (locked bool, err error) {
	err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(file *os.File) error { return flock(file, syscall.LOCK_UN) }

// flock does not use Fd, which makes the file blocking by further system calls.
func flock(file *os.File, how int) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		for {
			if err = syscall.Flock(int(fd), how); err != syscall.EINTR {
				return
			}
		}
	})
	return errors.Join(failed, err)
}
