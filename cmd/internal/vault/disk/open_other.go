//go:build !unix

package disk

// nonblocking is nothing where a named pipe cannot lie in a folder.
const nonblocking = 0
