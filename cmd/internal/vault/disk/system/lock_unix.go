//go:build unix

package system

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPatience is how long a write waits for another one in the same folder.
// Behind it lies the check that the note is unchanged, so giving up is safe.
const lockPatience = 5 * time.Second

// Lock keeps other processes of this program from writing into dir until the
// returned function is called. It leaves no file behind and ends with the
// process. Where the file system has no such locks it does nothing.
func Lock(dir *os.Root) (unlock func()) {
	handle, err := dir.Open(".")
	if err != nil {
		return func() {}
	}
	for deadline := time.Now().Add(lockPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if tryLock(handle) != unix.EWOULDBLOCK {
			break
		}
	}
	return func() { handle.Close() }
}

func tryLock(handle *os.File) error {
	raw, err := handle.SyscallConn()
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
