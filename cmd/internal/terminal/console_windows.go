package terminal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// console is the console of the process, opened for input and output.
type console struct{ keyboard, screen *os.File }

func (c console) Read(p []byte) (int, error)  { return c.keyboard.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.screen.Write(p) }
func (c console) Close() error                { return errors.Join(c.keyboard.Close(), c.screen.Close()) }

// OpenConsole opens the console of the process, even if its standard streams are redirected. It fails if there is
// none.
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

// EnableEscapes prepares a terminal for escape sequences, and reports whether it supports them. Consoles before
// Windows 10 do not.
func EnableEscapes(stream any) bool {
	file, ok := fileOf(stream)
	if !ok {
		return false
	}
	var mode uint32
	console := windows.Handle(file.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
