//go:build !unix

package streamable

// nonblocking has no counterpart here.
const nonblocking = 0

// refused is never asked: there are no sockets of files here.
func refused(error) bool { return false }
