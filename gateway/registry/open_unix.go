//go:build unix

package registry

import "syscall"

// nonblocking is a flag for opening: do not wait for the other end of a pipe.
const nonblocking = syscall.O_NONBLOCK
