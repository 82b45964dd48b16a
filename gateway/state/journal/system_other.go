//go:build !unix

package journal

import "io/fs"

// cautious are flags for opening. There are none that would help here; whether
// a name is a link is looked at beforehand.
const cautious = 0

// isPrivate is true: who may look into a file is left to the folder that it
// lies in, which is one of the user's.
func isPrivate(fs.FileInfo) bool { return true }

// isReadOnly is false: such a file system is told by the permission there.
func isReadOnly(error) bool { return false }
