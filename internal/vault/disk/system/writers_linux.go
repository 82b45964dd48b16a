package system

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hasWriter is [Calls.HasWriter].
//
// The system grants a lease for reading only while nobody has the file open for writing; see fcntl(2).
func hasWriter(file *os.File) (isOpen bool) {
	_ = control(file, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		}
		isOpen = errors.Is(err, unix.EAGAIN)
		return nil
	})
	return isOpen
}
