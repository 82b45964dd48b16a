package disk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// linksIn returns the number of names of the file name in dir. It has to open the file to find out.
func linksIn(dir *os.Root, name string, _ fs.FileInfo) (uint64, error) {
	file, err := rooted{dir: dir}.open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.links()
}

// links returns the number of names of an open file. A short name does not count.
func (f *File) links() (uint64, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.onDisk().Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
