package system

import (
	"errors"

	"golang.org/x/sys/windows"
)

// IsNoName reports whether an error says that no file can have the name, such as one with
// a question mark.
func IsNoName(err error) bool { return errors.Is(err, windows.ERROR_INVALID_NAME) }
