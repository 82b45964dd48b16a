package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// EnableEscapes prepares a terminal for escape sequences, and reports whether it obeys
// them. Consoles before Windows 10 do not.
func EnableEscapes(stream any) bool {
	file, ok := stream.(*os.File)
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
