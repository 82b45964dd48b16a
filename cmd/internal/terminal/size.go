package terminal

import (
	"os"

	"golang.org/x/term"
)

// defaultWidth is the number of columns of a terminal that does not tell it.
const defaultWidth = 80

// Width returns the number of columns of a terminal; ok is false if stream is none.
func Width(stream any) (columns int, ok bool) {
	file, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		return columns, true
	}
	return defaultWidth, true
}
