//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"syscall"
)

// links returns the number of hard links of a file, 0 if it is unknown.
func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 0
}

// Elevated reports whether this process runs as root.
func Elevated() bool { return os.Geteuid() == 0 }
