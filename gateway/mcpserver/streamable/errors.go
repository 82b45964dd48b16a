package streamable

import (
	"errors"
	"fmt"
)

// SettingError is a setting with which no server starts: it is wrong, unsafe, or
// asks for what the machine does not give.
type SettingError struct {
	Setting string // its name, such as "http" or "allow-origin"
	Value   string // what it was; "" when that is secret or beside the point
	Reason  string // what is wrong with it, to stand behind it in a sentence
	hint    string
	cause   error
}

func (e *SettingError) Error() string {
	text := e.Setting
	if e.Value != "" {
		text = fmt.Sprintf("%s %q", e.Setting, e.Value)
	}
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", text, e.Reason, e.cause)
	}
	return text + ": " + e.Reason
}

// Code puts it with the wrong requests.
func (e *SettingError) Code() string { return "bad_request" }

// Hint is what would be right, "" where the error says it.
func (e *SettingError) Hint() string { return e.hint }

// Unwrap returns what the system said, nil if it was not asked.
func (e *SettingError) Unwrap() error { return e.cause }

// errNoServer is a fault of the program, not of a setting.
var errNoServer = errors.New("Config.Server is missing")

// ErrCut is the end of a server that stopped before every request was answered.
var ErrCut = errors.New("the server stopped before all requests were completed")
