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

// exchangeat gives each of two files the name of the other.
func exchangeat(source int, from string, target int, to string) error {
	return unix.RenameatxNp(source, from, target, to, unix.RENAME_SWAP)
}

// BornOf returns when the file that info describes was created; ok is false where the file system does not record it.
func BornOf(info fs.FileInfo) (born time.Time, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Birthtimespec.Sec == 0 {
		return time.Time{}, false
	}
	return time.Unix(stat.Birthtimespec.Unix()), true
}

// keepMore keeps what is no extended attribute: whether the Finder hides the file, and its time of creation.
func keepMore(from, to *os.File) {
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

// keepBirth gives a new file the time of creation of the one that it replaces: a time of modification before that of the
// creation sets both, as setattrlist(2) of macOS says. The time of modification is set back.
func keepBirth(from, to *os.File) {
	old, err := from.Stat()
	if err != nil {
		return
	}
	born, ok := BornOf(old)
	made, err := to.Stat()
	if err != nil || !ok {
		return
	}
	for _, modified := range []time.Time{born, made.ModTime()} {
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

// HasCloudFiles reports whether a file can be elsewhere on this system.
const HasCloudFiles = true

// IsElsewhere reports whether the content of a file is fetched when it is read: the flag
// SF_DATALESS of sys/stat.h.
func IsElsewhere(info fs.FileInfo) bool {
	const dataless = 0x40000000
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Flags&dataless != 0
}

// IsFetching reports false: where reading fails, the error is like any other.
func IsFetching(error) bool { return false }
