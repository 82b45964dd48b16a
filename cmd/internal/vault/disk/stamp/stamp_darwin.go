package stamp

import (
	"io/fs"
	"syscall"
)

// Of returns the stamp of the file that info is about.
func Of(info fs.FileInfo) Stamp {
	s := portable(info)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Changed, s.Inode = stat.Ctimespec.Nano(), stat.Ino
	}
	return s
}
