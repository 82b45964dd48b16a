package private

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	// noFollow are flags for opening. None help here: whether a name is a link is checked before.
	noFollow = 0

	// CanRenameOpen reports whether a file can be renamed while a process has it open.
	CanRenameOpen = false
)

// hasSecondLink reports whether a file has more than one hard link, which only an open file tells: it
// is false for none.
func hasSecondLink(_ fs.FileInfo, file *os.File) bool {
	if file == nil {
		return false
	}
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &info)
	return err != nil || info.NumberOfLinks != 1
}
