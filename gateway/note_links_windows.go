package gateway

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// hardLinks returns the number of hard links to a file, the maximum if it cannot be determined.
func hardLinks(root *os.Root, name string, _ fs.FileInfo) uint64 {
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return math.MaxUint64
	}
	defer file.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info); err != nil {
		return math.MaxUint64
	}
	return uint64(info.NumberOfLinks)
}
