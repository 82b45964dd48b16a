package system

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// moveat is renameat that never replaces a file.
func moveat(source int, from string, target int, to string) error {
	return unix.RenameatxNp(source, from, target, to, unix.RENAME_EXCL)
}

// exchangeat exchanges the names of two files.
func exchangeat(source int, from string, target int, to string) error {
	return unix.RenameatxNp(source, from, target, to, unix.RENAME_SWAP)
}

// BornOf returns the creation time of the file that info describes. ok is false if the file system does not
// record it.
func BornOf(info fs.FileInfo) (born time.Time, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Birthtimespec.Sec == 0 {
		return time.Time{}, false
	}
	return time.Unix(stat.Birthtimespec.Unix()), true
}

// copyOthers copies what is not an extended attribute: whether the Finder hides the file, and its creation
// time.
func copyOthers(from, to *os.File) {
	info, err := from.Stat()
	if err != nil {
		return
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && stat.Flags&unix.UF_HIDDEN != 0 {
		_ = control(to, func(fd int) error { return unix.Fchflags(fd, unix.UF_HIDDEN) })
	}
	keepBirth(from, to)
}

// keepBirth sets the creation time of a new file to that of the file that it replaces. Setting a modification
// time before the creation time sets both, see setattrlist(2) of macOS. Afterwards, keepBirth restores the
// modification time.
func keepBirth(from, to *os.File) {
	old, err := from.Stat()
	if err != nil {
		return
	}
	born, ok := BornOf(old)
	replacement, err := to.Stat()
	if err != nil || !ok {
		return
	}
	for _, modified := range []time.Time{born, replacement.ModTime()} {
		at := unix.NsecToTimeval(modified.UnixNano())
		_ = control(to, func(fd int) error { return unix.Futimes(fd, []unix.Timeval{at, at}) })
	}
}

// StampOf returns the stamp of the file that info describes.
func StampOf(info fs.FileInfo) Stamp {
	s := portable(info)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Changed = stat.Ctimespec.Nano()
		s.Inode = stat.Ino
	}
	return s
}

// HasCloudFiles reports whether the content of a file can be elsewhere on this system.
const HasCloudFiles = true

// IsElsewhere reports whether reading a file fetches its content: the flag SF_DATALESS of sys/stat.h.
func IsElsewhere(info fs.FileInfo) bool {
	const dataless = 0x40000000
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Flags&dataless != 0
}

// IsFetching reports false: errors of fetching are like any other error of a read.
func IsFetching(error) bool { return false }
