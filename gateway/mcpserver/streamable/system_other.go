//go:build !unix

package streamable

import "io/fs"

// cautious are flags for opening. There are none that would help here; whether a
// name is a link is looked at beforehand.
const cautious = 0

// nonblocking has no counterpart here either.
const nonblocking = 0

// exposed finds nothing: who may read a file is left to the folder that it lies in,
// which is one of the user's.
func exposed(string, fs.FileInfo) (reason, hint string) { return "", "" }

// refused is never asked: there are no sockets of files here.
func refused(error) bool { return false }
