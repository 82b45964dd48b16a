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

// hasSecondLink returns false: the number of links is known for open files only.
func hasSecondLink(fs.FileInfo) bool { return false }

// hasSecondLinkOpen reports whether a file has more than one hard link.
func hasSecondLinkOpen(file *os.File) bool {
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &info)
	return err != nil || info.NumberOfLinks != 1
}

// isReadOnly is false: such a file system shows as a missing permission.
func isReadOnly(error) bool { return false }
