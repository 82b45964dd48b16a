package system

import (
	"io/fs"
	"syscall"

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

// StampOf returns the stamp of the file that info describes.
func StampOf(info fs.FileInfo) Stamp {
	s := portable(info)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Changed, s.Inode = stat.Ctimespec.Nano(), stat.Ino
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
