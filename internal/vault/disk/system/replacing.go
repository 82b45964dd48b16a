package system

import (
	"errors"
	"syscall"
)

// Windows error codes of calls that fail because another program has the file open, see
// https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-.
// They are defined as numbers, so that the handling can be tested on every system.
const (
	codeAccessDenied     = syscall.Errno(5)
	codeSharingViolation = syscall.Errno(32)
	codeLockViolation    = syscall.Errno(33)
	codeUserMappedFile   = syscall.Errno(1224)
)

// Windows attributes of files that cannot be replaced, see
// https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants.
const (
	attributeReadOnly  = 0x1
	attributeDirectory = 0x10
)

// isWindowsInUse reports whether a Windows error means that another program has the file open.
func isWindowsInUse(err error) bool {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return false
	}
	return code == codeSharingViolation || code == codeLockViolation || code == codeUserMappedFile
}

// replaceError returns the error for a file that Windows did not replace. File systems without POSIX semantics
// for renaming (FAT, many network drives and drives of sync programs) report "access denied" while anybody has
// the file open, whatever sharing mode that program uses. replaceError then returns the error of a file in use.
// It does not if the file is read-only or a folder, or cannot be opened. look returns the attributes of the
// file, or the error of opening it.
func replaceError(err error, getAttributes func() (attributes uint32, err error)) error {
	if !errors.Is(err, codeAccessDenied) {
		return err
	}
	attributes, openErr := getAttributes()
	if openErr != nil {
		if isWindowsInUse(openErr) {
			return codeSharingViolation
		}
		return err
	}
	if attributes&(attributeReadOnly|attributeDirectory) != 0 {
		return err
	}
	return codeSharingViolation
}
