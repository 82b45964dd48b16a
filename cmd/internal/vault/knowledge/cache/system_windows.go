package cache

import (
	"os"

	"golang.org/x/sys/windows"
)

// cautious are flags for opening. There are none that would help here; whether
// a name is a link is looked at beforehand.
const cautious = 0

// isPrivate reports whether dir is a folder, and no link to one. Who may write
// to it is left to the folder that it lies in.
func isPrivate(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// tryLock takes the lock on file, which ends when that is closed, or with the
// process.
func tryLock(file *os.File) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		result = windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, &windows.Overlapped{})
	})
	if err != nil {
		return err
	}
	return result
}
