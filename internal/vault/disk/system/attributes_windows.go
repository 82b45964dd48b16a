package system

import (
	"os"

	"golang.org/x/sys/windows"
)

// CopyAttributes gives a new file the time of creation of the one that it replaces, as far as the file system allows it.
func CopyAttributes(from, to *os.File) {
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(from.Fd()), &info) == nil {
		_ = windows.SetFileTime(windows.Handle(to.Fd()), &info.CreationTime, nil, nil)
	}
}
