//go:build !linux && !darwin

package disk

import "io/fs"

// stampOf returns the stamp of the file that info is about. This system is not
// asked for more than size and time.
func stampOf(info fs.FileInfo) Stamp { return portable(info) }
