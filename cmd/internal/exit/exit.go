// Package exit ends a command: the exit statuses, the errors of a command line, and
// the one place that prints errors.
package exit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/failure"
)

// The exit statuses. Scripts rely on them.
const (
	Done        = 0
	Failed      = 1  // the command ran and failed
	Invalid     = 2  // the request or a setting is invalid
	Denied      = 3  // denied by policy
	NotReady    = 4  // the CLI, the app, the vault or the state folder is not ready
	Interrupted = 5  // timeout, cancelled, outcome unknown
	Internal    = 70 // internal error; EX_SOFTWARE of sysexits.h
)

// Meanings are the exit statuses with what each means, for documents.
var Meanings = []struct {
	Status  int
	Meaning string
}{
	{Done, "done"},
	{Failed, "the command ran and failed"},
	{Invalid, "the request or a setting is invalid"},
	{Denied, "denied by the policy"},
	{NotReady, "the CLI, the app, the vault or the state folder is not ready"},
	{Interrupted, "timeout, cancelled, or the outcome is unknown"},
	{Internal, "internal error"},
}

// statuses are the exit statuses of the classes of failures.
var statuses = [...]int{
	failure.Bug:          Internal,
	failure.BadRequest:   Invalid,
	failure.Refused:      Denied,
	failure.Surroundings: NotReady,
	failure.Answered:     Failed,
	failure.Halted:       Interrupted,
}

// StatusOfClass returns the exit status of a class of failures.
func StatusOfClass(class failure.Class) int { return statuses[class] }

// StatusOfCode returns the exit status of an error code.
func StatusOfCode(code string) int { return StatusOfClass(failure.ClassOf(code)) }

// StatusOfResult returns the exit status of a result, whose failure may be nil.
func StatusOfResult(cause *failure.Error) int {
	if cause == nil {
		return Done
	}
	return StatusOfCode(cause.Code)
}

// StatusOf returns the exit status of an error: that of its code, else the one of an
// internal error.
func StatusOf(err error) int {
	var silent Silent
	var failed *Failure
	var coded interface{ Code() string }
	switch {
	case err == nil:
		return Done
	case errors.As(err, &silent):
		return int(silent)
	case errors.As(err, &failed):
		return failed.Status
	case errors.As(err, &coded):
		return StatusOfCode(coded.Code())
	}
	return Internal
}

// Print prints err on w, with its hint, and returns the exit status for it.
// A [Several] is printed error by error, a [Silent] not at all.
func Print(w io.Writer, err error) int {
	switch e := err.(type) {
	case nil, Silent:
	case Several:
		status := Done
		for _, one := range e {
			status = max(status, Print(w, one))
		}
		return status
	default:
		terminal.Message(w, terminal.Error, err.Error())
		if hint := HintOf(err); hint != "" {
			terminal.Message(w, terminal.Hint, hint)
		}
	}
	return StatusOf(err)
}

// HintOf returns the hint of an error, "" if it has none.
func HintOf(err error) string {
	if hinted, ok := err.(interface{ Hint() string }); ok {
		return hinted.Hint()
	}
	return ""
}

// JSON writes value as indented JSON. The returned error ends the command with
// a status; it is nil for [Done].
func JSON(out io.Writer, value any, status int) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	if status != Done {
		return Silent(status)
	}
	return nil
}
