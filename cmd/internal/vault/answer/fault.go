package answer

import (
	"errors"
	"fmt"
	"io"
)

// Fault is an error whose sentence is what the app would print.
type Fault struct {
	Status int
	kind   Kind
	Text   string
}

func (f *Fault) Error() string { return f.Text }

// Failure says that a request was right and could not be fulfilled.
func Failure(format string, args ...any) error {
	return OtherFailure.Failure(format, args...)
}

// Misuse says that a request was wrong.
func Misuse(format string, args ...any) error {
	return &Fault{Status: ExitMisuse, kind: BadValue, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// Explain turns an error into what is printed.
func Explain(err error) Reply {
	var known *Fault
	if errors.As(err, &known) {
		return Reply{Status: known.Status, Kind: known.kind, Text: known.Text}
	}
	return Reply{Status: ExitFailed, Kind: kindOf(err), Text: "Error: " + err.Error()}
}

// Verbatim is printed in quotes as it is, without escapes.
type Verbatim string

// Format writes the text in quotes, for every verb.
func (v Verbatim) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, `"`+string(v)+`"`) }

// Exit statuses.
const (
	ExitDone   = 0
	ExitFailed = 1 // the request was right and could not be fulfilled
	ExitMisuse = 2 // the request itself, or a variable of the environment, is wrong
)
