//go:build !windows

package terminal

import (
	"io"
	"os"
)

// OpenConsole opens the controlling terminal of the process, even if its standard streams are redirected. It fails if
// there is none.
func OpenConsole() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// EnableEscapes prepares a terminal for escape sequences, and reports whether it supports
// them. Only consoles of Windows may not.
func EnableEscapes(any) bool { return true }
