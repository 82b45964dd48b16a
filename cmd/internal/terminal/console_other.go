//go:build !windows

package terminal

import (
	"io"
	"os"
)

// OpenConsole opens the controlling terminal of the process, whatever its standard Streams are.
// The error is that there is none.
func OpenConsole() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// EnableEscapes prepares a terminal for escape sequences, and reports whether it obeys
// them. Only Windows has consoles that do not.
func EnableEscapes(any) bool { return true }
