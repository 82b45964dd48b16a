package disk

import (
	"time"

	"golang.org/x/sys/unix"
)

// Born returns when the file was made, or when it was last changed where the
// file system does not remember the former.
func (f *File) Born() time.Time {
	raw, err := f.SyscallConn()
	if err != nil {
		return f.Info.ModTime()
	}
	var stat unix.Statx_t
	var failure error
	err = raw.Control(func(fd uintptr) {
		failure = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat)
	})
	if err != nil || failure != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return f.Info.ModTime()
	}
	return time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec))
}
