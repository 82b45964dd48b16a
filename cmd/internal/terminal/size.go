package terminal

import (
	"os"

	"golang.org/x/term"
)

// defaultWidth is the number of columns of a terminal that does not tell it.
const defaultWidth = 80

// Width returns the number of columns of a terminal; ok is false if stream is none.
func Width(stream any) (columns int, ok bool) {
	columns, _, ok = size(stream)
	return columns, ok
}

// Height returns the number of rows of a terminal; ok is false if stream is none, or one
// that does not tell it.
func Height(stream any) (rows int, ok bool) {
	_, rows, ok = size(stream)
	return rows, ok && rows > 0
}

func size(stream any) (columns, rows int, ok bool) {
	file, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0, 0, false
	}
	if columns, rows, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		return columns, rows, true
	}
	return defaultWidth, 0, true
}
