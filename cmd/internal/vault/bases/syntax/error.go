package syntax

import (
	"fmt"
	"unicode/utf16"
)

// Error says where an expression stops being one.
type Error struct {
	// Position counts from 0 in UTF-16 code units, as the app does. At is the same
	// place in bytes.
	Position, At int
	// Reason says what is wrong. It is ours; the app tells only the position.
	Reason string
}

// Error returns the sentence of the app.
func (e *Error) Error() string {
	return fmt.Sprintf("Unable to parse formula. (position %d)", e.Position)
}

func newError(source string, at int, reason string) *Error {
	return &Error{Position: Units(source, at), At: at, Reason: reason}
}

// Units returns a place in an expression that counts bytes as one that counts
// UTF-16 code units.
func Units(source string, at int) int { return len(utf16.Encode([]rune(source[:at]))) }
