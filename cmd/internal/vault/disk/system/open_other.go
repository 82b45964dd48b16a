//go:build !unix

package system

// NonBlocking is nothing where a named pipe cannot lie in a folder.
const NonBlocking = 0
