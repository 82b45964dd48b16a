//go:build unix

package streamable

import (
	"errors"
	"syscall"
)

// nonblocking does not wait for the other end of a pipe.
const nonblocking = syscall.O_NONBLOCK

// refused reports whether no process listens on a socket.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
