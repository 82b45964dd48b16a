//go:build unix

package disk

import "syscall"

// nonblocking keeps the opening of a pipe without a writer from waiting.
const nonblocking = syscall.O_NONBLOCK
