//go:build unix && !linux && !darwin

package system

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// moveat returns an error: this system cannot rename a file without replacing another.
func moveat(int, string, int, string) error { return unix.ENOTSUP }

// exchangeat returns an error: this system cannot exchange two files.
func exchangeat(int, string, int, string) error { return unix.ENOTSUP }

// BornOf returns false: the creation time is not read on this system.
func BornOf(fs.FileInfo) (born time.Time, ok bool) { return time.Time{}, false }

// StampOf returns the stamp of the file that info describes: its size and modification time.
func StampOf(info fs.FileInfo) Stamp { return portable(info) }
