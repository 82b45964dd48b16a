package system

import (
	"errors"
	"syscall"
)

// Error codes of Windows, which fail a call on a file that another program has open, see
// https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-. They are here as numbers so that every system
// can test what becomes of them.
const (
	codeAccessDenied     = syscall.Errno(5)
	codeSharingViolation = syscall.Errno(32)
	codeLockViolation    = syscall.Errno(33)
	codeUserMappedFile   = syscall.Errno(1224)
)

// File attributes of Windows with which a file cannot be replaced, see
// https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants.
const (
	attributeReadOnly  = 0x1
	attributeDirectory = 0x10
)

// isWindowsInUse reports whether an error of Windows says that another program has the file open.
func isWindowsInUse(err error) bool {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return false
	}
	return code == codeSharingViolation || code == codeLockViolation || code == codeUserMappedFile
}

// replaceError returns the error of Windows for a file that was not replaced. File systems that do not rename as POSIX
// does (FAT, and what network drives and drives of programs for synchronisation have) answer "access denied"
// while anybody has the file open, whatever that program shares: then the error is that of a file in use. So it is for
// one that may not be written, which is read-only or cannot be opened: look returns the attributes of the file, or the
// error of opening it.
func replaceError(err error, look func() (attributes uint32, err error)) error {
	if !errors.Is(err, codeAccessDenied) {
		return err
	}
	attributes, failed := look()
	if failed != nil {
		if isWindowsInUse(failed) {
			return codeSharingViolation
		}
		return err
	}
	if attributes&(attributeReadOnly|attributeDirectory) != 0 {
		return err
	}
	return codeSharingViolation
}
