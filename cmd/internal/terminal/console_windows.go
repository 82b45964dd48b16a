package terminal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// console is the console of the process, opened for input and output.
type console struct{ input, output *os.File }

func (c console) Read(p []byte) (int, error)  { return c.input.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.output.Write(p) }
func (c console) Close() error                { return errors.Join(c.input.Close(), c.output.Close()) }

// OpenConsole opens the console of the process, even if its standard streams are redirected. It fails if there is
// none.
func OpenConsole() (io.ReadWriteCloser, error) {
	input, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	output, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		input.Close()
		return nil, err
	}
	return console{input, output}, nil
}

// EnableEscapes prepares a terminal for escape sequences, and reports whether it supports them. Consoles before
// Windows 10 do not.
func EnableEscapes(stream any) bool {
	file, ok := fileOf(stream)
	if !ok {
		return false
	}
	var mode uint32
	handle := windows.Handle(file.Fd())
	if windows.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
