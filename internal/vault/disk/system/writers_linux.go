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
		isOpen = errors.Is(err, unix.EAGAIN) && !isShared(fd)
		return nil
	})
	return isOpen
}

// isShared reports whether a file is on a server of Windows or Samba. There a lease is also refused for other reasons.
func isShared(fd int) bool {
	var on unix.Statfs_t
	if err := unix.Fstatfs(fd, &on); err != nil {
		return true
	}
	switch uint32(on.Type) {
	case unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.SMB_SUPER_MAGIC:
		return true
	}
	return false
}
