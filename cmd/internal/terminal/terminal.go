// Package terminal is what a command sees of the terminal: its streams, whether a
// stream is a terminal, the confirmation that a user types, and messages on standard
// error.
package terminal

import (
	"fmt"
	"io"
	"os"

	"vaultwicket/gateway/clean"
)

// IsTerminal reports whether a stream is a character device other than the null
// device, which programs are given in place of a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Visible returns text from outside as our own messages show it: control sequences
// of a terminal and invisible characters appear as escapes.
func Visible(s string) string {
	text, _ := clean.Text(s)
	return text
}

// The labels of messages.
const (
	Error   = "error"
	Hint    = "hint"
	Warning = "warning"
	Note    = "note"
)

// Message writes "vaultwicket: LABEL: TEXT" and a line break.
func Message(w io.Writer, label, text string) {
	fmt.Fprintf(w, "vaultwicket: %s: %s\n", label, Visible(text))
}

// Notef writes a note: a fact that the user should know and that is no error.
func Notef(w io.Writer, format string, args ...any) {
	Message(w, Note, fmt.Sprintf(format, args...))
}
