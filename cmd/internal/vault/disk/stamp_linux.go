package disk

import (
	"io/fs"
	"syscall"
)

// stampOf returns the stamp of the file that info is about.
func stampOf(info fs.FileInfo) Stamp {
	stamp := portable(info)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		stamp.Changed, stamp.Inode = stat.Ctim.Nano(), stat.Ino
	}
	return stamp
}
