//go:build unix

package terminal

import (
	"io"
	"os"
)

// OpenConsole opens the terminal that the process belongs to, whatever its standard
// Streams are. There is none where no person sits in front of it.
func OpenConsole() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
