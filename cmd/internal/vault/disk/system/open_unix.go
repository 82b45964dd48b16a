//go:build unix

package system

import "syscall"

// NonBlocking keeps the opening of a pipe without a writer from waiting.
const NonBlocking = syscall.O_NONBLOCK
