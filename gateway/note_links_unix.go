//go:build unix

package gateway

import (
	"io/fs"
	"math"
	"os"
	"syscall"
)

// hardLinks returns the number of hard links to a file, the maximum if it cannot be determined.
func hardLinks(_ *os.Root, _ string, info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) // its type depends on the system
	}
	return math.MaxUint64
}
