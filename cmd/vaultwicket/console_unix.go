//go:build unix

package main

import (
	"io"
	"os"
)

// openConsole opens the terminal that the process belongs to, whatever its standard
// streams are. There is none where no person sits in front of it.
func openConsole() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
