package terminal

import (
	"errors"
	"io"
	"os"
)

// Console is the window of a process: its keyboard and its screen.
type console struct{ keyboard, screen *os.File }

func (c console) Read(p []byte) (int, error)  { return c.keyboard.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.screen.Write(p) }
func (c console) Close() error                { return errors.Join(c.keyboard.Close(), c.screen.Close()) }

// OpenConsole opens the console of the process, whatever its standard Streams are. The error is
// that there is none.
func OpenConsole() (io.ReadWriteCloser, error) {
	keyboard, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	screen, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		keyboard.Close()
		return nil, err
	}
	return console{keyboard, screen}, nil
}
