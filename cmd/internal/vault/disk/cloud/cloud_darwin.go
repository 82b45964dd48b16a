package cloud

import (
	"io/fs"
	"syscall"
)

// IsElsewhere reports whether the content of a file is fetched when it is read: the
// flag SF_DATALESS of sys/stat.h.
func IsElsewhere(info fs.FileInfo) bool {
	const dataless = 0x40000000
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Flags&dataless != 0
}

// Possible says that there can be such files on this system.
const Possible = true

// IsFetching reports false: where reading fails, the error is like any other.
func IsFetching(error) bool { return false }
