package system

import (
	"errors"

	"golang.org/x/sys/windows"
)

// IsInUse reports whether a call failed because another program has the file open.
func IsInUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_USER_MAPPED_FILE)
}
