package audit

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	// Flags for opening. There are none that would help here; whether a name is a
	// link is looked at beforehand.
	noFollow = 0
	cautious = 0

	canRenameOpen = false // a file that some process has open
)

// isPrivate is true: who may look into a file is left to the folder that it
// lies in, which is one of the user's.
func isPrivate(fs.FileInfo) bool { return true }

// hasOneName is true: it takes an open file to know.
func hasOneName(fs.FileInfo) bool { return true }

// hasOneNameOpen reports whether a file has no second hard link.
func hasOneNameOpen(file *os.File) bool {
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &info)
	return err == nil && info.NumberOfLinks == 1
}

// isReadOnly is false: such a file system is told by the permission there.
func isReadOnly(error) bool { return false }
