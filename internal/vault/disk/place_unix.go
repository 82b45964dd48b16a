//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// linksIn returns the number of names of a file, given its information seen.
func linksIn(_ *os.Root, _ string, seen fs.FileInfo) (uint64, error) {
	stat, ok := seen.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fs.ErrInvalid
	}
	return uint64(stat.Nlink), nil // the type of Nlink depends on the system
}

// links returns the number of names of an open file.
func (f *File) links() (uint64, error) { return linksIn(nil, "", f.Info) }
