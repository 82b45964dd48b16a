package vault

import (
	"errors"
	"fmt"
	"io"
)

// fault is an error whose sentence is what the app would print.
type fault struct {
	status int
	kind   failureKind
	text   string
}

func (f *fault) Error() string { return f.text }

// failure says that a request was right and could not be fulfilled.
func failure(format string, args ...any) error {
	return otherFailure.failure(format, args...)
}

// misuse says that a request was wrong.
func misuse(format string, args ...any) error {
	return &fault{status: wrong, kind: badValue, text: "Error: " + fmt.Sprintf(format, args...)}
}

// explain turns an error into what is printed.
func explain(err error) reply {
	var known *fault
	if errors.As(err, &known) {
		return reply{status: known.status, kind: known.kind, text: known.text}
	}
	return reply{status: failed, kind: kindOf(err), text: "Error: " + err.Error()}
}

// verbatim is printed in quotes as it is, without escapes.
type verbatim string

func (v verbatim) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, `"`+string(v)+`"`) }

// Exit statuses.
const (
	done   = 0
	failed = 1 // the request was right and could not be fulfilled
	wrong  = 2 // the request itself, or a variable of the environment, is wrong
)
