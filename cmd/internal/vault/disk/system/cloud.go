package system

import (
	"errors"
	"strings"
)

// Some files of a vault are in a cloud and not on this disk. A program for synchronisation
// lists them like all others and fetches the content when it is read, which may take long,
// need a network, or fill the disk.

// ErrElsewhere says that a file was not read because its content is not on this disk.
var ErrElsewhere = errors.New("is in the cloud and not on this disk")

// CloudStub returns the name of the file that older versions of macOS put in place of one
// that iCloud has evicted from the disk.
func CloudStub(name string) string { return "." + name + stubSuffix }

// IsCloudStub reports whether a name is one of [CloudStub].
func IsCloudStub(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, stubSuffix) && len(name) > len("."+stubSuffix)
}

const stubSuffix = ".icloud"
