//go:build !unix

package registry

// nonblocking is a flag for opening. There is none here; whether a file is a
// regular one is looked at before and after.
const nonblocking = 0
