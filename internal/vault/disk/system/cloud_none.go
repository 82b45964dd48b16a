//go:build !darwin && !windows

package system

import "io/fs"

// HasCloudFiles reports whether the content of a file can be elsewhere on this system.
const HasCloudFiles = false

// IsElsewhere reports false.
func IsElsewhere(fs.FileInfo) bool { return false }

// IsFetching reports false.
func IsFetching(error) bool { return false }
