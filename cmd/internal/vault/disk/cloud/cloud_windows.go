package cloud

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/windows"
)

// Possible says that there can be such files on this system.
const Possible = true

// IsElsewhere reports whether the content of a file is fetched when it is read:
// https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants
func IsElsewhere(info fs.FileInfo) bool {
	const fetched = windows.FILE_ATTRIBUTE_OFFLINE | windows.FILE_ATTRIBUTE_RECALL_ON_OPEN | windows.FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	return ok && data.FileAttributes&fetched != 0
}

// IsFetching reports whether an error says that the content of a file could not be
// fetched, the ERROR_CLOUD_FILE codes of
// https://learn.microsoft.com/windows/win32/debug/system-error-codes
func IsFetching(err error) bool {
	const first, last = 358, 404 // ERROR_CLOUD_FILE_SYNC_ROOT_METADATA_CORRUPT and those behind it
	var code syscall.Errno
	return errors.As(err, &code) && first <= code && code <= last
}
