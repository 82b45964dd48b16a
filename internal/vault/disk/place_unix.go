//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// linksIn returns how many names the file has that was seen as name in dir.
func linksIn(_ *os.Root, _ string, seen fs.FileInfo) (uint64, error) {
	stat, ok := seen.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fs.ErrInvalid
	}
	return uint64(stat.Nlink), nil // its width depends on the system
}

// links returns how many names an open file has.
func (f *File) links() (uint64, error) { return linksIn(nil, "", f.Info) }
