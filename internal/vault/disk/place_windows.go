package disk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// linksIn returns how many names the file has that was seen as name in dir. Only an open
// file has the number.
func linksIn(dir *os.Root, name string, _ fs.FileInfo) (uint64, error) {
	file, err := rooted{dir: dir}.open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.links()
}

// links returns how many names an open file has. A short name is none.
func (f *File) links() (uint64, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.onDisk().Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
