package doctor

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// links returns 0 (unknown): Windows only reports the number of hard links for open files.
func links(fs.FileInfo) uint64 { return 0 }

// Elevated reports whether this process has the rights of an administrator.
func Elevated() bool { return windows.GetCurrentProcessToken().IsElevated() }

// Free returns how many bytes this user can write to the file system of a folder.
func Free(folder string) (bytes uint64, known bool) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, false
	}
	err = windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil)
	return bytes, err == nil
}
