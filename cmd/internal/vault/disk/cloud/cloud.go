// Package cloud says which files of a vault are in the cloud and not on this disk. A
// program for synchronisation lists them like all others and fetches the content when it
// is read, which may take long, need a network, or fill the disk.
package cloud

import (
	"errors"
	"strings"
)

// ErrElsewhere says that a file was not read because its content is not on this disk.
var ErrElsewhere = errors.New("is in the cloud and not on this disk")

// Stub returns the name of the file that older versions of macOS put in the place of one
// that iCloud has taken off the disk.
func Stub(name string) string { return "." + name + stubSuffix }

// IsStub reports whether a name is one of [Stub].
func IsStub(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, stubSuffix) && len(name) > len("."+stubSuffix)
}

const stubSuffix = ".icloud"
