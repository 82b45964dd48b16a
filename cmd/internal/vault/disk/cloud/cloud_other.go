//go:build !darwin && !windows

package cloud

import "io/fs"

// Possible says that there are no such files on this system.
const Possible = false

// IsElsewhere reports false.
func IsElsewhere(fs.FileInfo) bool { return false }

// IsFetching reports false.
func IsFetching(error) bool { return false }
