package doctor

import (
	"io/fs"
	"syscall"
)

// isPlaceholder reports whether the content of a file is fetched when it is read: the
// flag SF_DATALESS of sys/stat.h.
func isPlaceholder(info fs.FileInfo) bool {
	const dataless = 0x40000000
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Flags&dataless != 0
}
