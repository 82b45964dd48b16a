package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// The exit statuses. Scripts rely on them.
const (
	ExitDone        = 0
	ExitFailed      = 1  // the command ran and failed
	ExitInvalid     = 2  // the request or a setting is invalid
	ExitDenied      = 3  // denied by policy
	ExitNotReady    = 4  // the CLI, the app, the vault, the state folder or the output is not ready
	ExitInterrupted = 5  // timeout, cancelled, outcome unknown
	ExitInternal    = 70 // internal error; EX_SOFTWARE of sysexits.h
)

// ExitMeanings are the exit statuses and their meanings, for the documentation.
var ExitMeanings = []struct {
	Status  int
	Meaning string
}{
	{ExitDone, "done"},
	{ExitFailed, "the command ran and failed"},
	{ExitInvalid, "the request or a setting is invalid"},
	{ExitDenied, "denied by the policy"},
	{ExitNotReady, "the CLI, the app, the vault, the state folder or the output is not ready"},
	{ExitInterrupted, "timeout, cancelled, or the outcome is unknown"},
	{ExitInternal, "internal error"},
}

// statuses maps the classes of failures to exit statuses.
var statuses = [...]int{
	failure.Bug:          ExitInternal,
	failure.BadRequest:   ExitInvalid,
	failure.Refused:      ExitDenied,
	failure.Surroundings: ExitNotReady,
	failure.Answered:     ExitFailed,
	failure.Halted:       ExitInterrupted,
}

// StatusOfClass returns the exit status of a class of failures.
func StatusOfClass(class failure.Class) int { return statuses[class] }

// StatusOfCode returns the exit status of an error code.
func StatusOfCode(code string) int { return StatusOfClass(failure.ClassOf(code)) }

// StatusOfResult returns the exit status of a result. cause is its failure, which may be nil.
func StatusOfResult(cause *failure.Error) int {
	if cause == nil {
		return ExitDone
	}
	return StatusOfCode(cause.Code)
}

// StatusOf returns the exit status of an error. An error without a status or a code is an internal error.
func StatusOf(err error) int {
	var silent Silent
	var failed *Failure
	var coded interface{ Code() string }
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &silent):
		return int(silent)
	case errors.As(err, &failed):
		return failed.Status
	case errors.As(err, &coded):
		return StatusOfCode(coded.Code())
	case errors.Is(err, context.Canceled): // the user pressed Ctrl-C
		return ExitInterrupted
	}
	return ExitInternal
}

// Output is the standard output of a command. It remembers write errors, so that a command does not succeed if its
// output was lost.
type Output struct {
	to     io.Writer
	failed error
}

// NewOutput returns an Output that writes to a stream. If the stream is an Output, it is returned.
func NewOutput(to io.Writer) *Output {
	if output, isOutput := to.(*Output); isOutput {
		return output
	}
	return &Output{to: to}
}

// Write writes to the stream and returns its error.
func (o *Output) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// Check returns the error of a command that only prints. It is err, or if the output could not be written, an error
// with the exit status [ExitNotReady]; for a closed pipe that error is silent. A server must not use it: its output is
// the connection to its client, and it reports write errors itself.
func (o *Output) Check(err error) error {
	return o.check(err, "the output could not be written: %v", "")
}

// CheckDone does the same as [Output.Check] for a command that has changed something before it prints. look is a hint
// about where the user can see the change.
func (o *Output) CheckDone(err error, look string) error {
	return o.check(err, "the command was carried out, but its output could not be written: %v", look)
}

// check returns the error for the output if there is one. format is its message, with a verb for the reason.
func (o *Output) check(err error, format, hint string) error {
	isOwn := err != nil && StatusOf(err) != ExitInternal // an internal error here is the write error itself
	if o.failed == nil || isOwn {
		return err
	}
	if errors.Is(o.failed, syscall.EPIPE) { // the reader has closed the pipe on purpose
		return Silent(ExitNotReady)
	}
	reason := o.failed
	if pathErr, ok := errors.AsType[*fs.PathError](reason); ok {
		reason = pathErr.Err
	}
	return Fail(ExitNotReady, fmt.Sprintf(format, reason), hint)
}

// PrintError prints err with its hint on w, and returns its exit status.
// The errors of a [Several] are printed one by one; a [Silent] is not printed.
func PrintError(w io.Writer, err error) int {
	switch e := err.(type) {
	case nil, Silent:
	case Several:
		status := ExitDone
		for _, part := range e {
			status = max(status, PrintError(w, part))
		}
		return status
	default:
		Message(w, Error, ForOwner(err.Error()))
		if hint := HintOf(err); hint != "" {
			Message(w, Hint, ForOwner(hint))
		}
	}
	return StatusOf(err)
}

// PrintError does the same as the function [PrintError] on standard error, with hints that name the flags and the
// settings file of the command.
func (s Streams) PrintError(err error) int {
	if several, ok := err.(Several); ok {
		status := ExitDone
		for _, part := range several {
			status = max(status, s.PrintError(part))
		}
		return status
	}
	if silent, ok := err.(Silent); ok {
		return int(silent)
	}
	hint := HintOf(err)
	canRewrite := s.Hints != nil && s.Hints.ForOwner != nil
	if hint == "" || !canRewrite {
		return PrintError(s.Err, err)
	}
	return PrintError(s.Err, &Failure{StatusOf(err), err.Error(), s.Hints.ForOwner(hint)})
}

// Hints rewrites the hints of a command for the owner.
type Hints struct {
	// ForOwner returns a hint for the owner. It is nil until the command has read its settings.
	ForOwner func(hint string) string
}

// HintOf returns the hint of an error, "" if it has none.
func HintOf(err error) string {
	if hinted, ok := err.(interface{ Hint() string }); ok {
		return hinted.Hint()
	}
	return ""
}

// PrintJSON writes value as indented JSON. The returned error ends the command with
// status, without a message; it is nil for [ExitDone].
func PrintJSON(out io.Writer, value any, status int) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	if status != ExitDone {
		return Silent(status)
	}
	return nil
}

// Write writes a text to standard output.
func Write(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// UsageError is the error for an invalid command line or setting. The hint may be "".
type UsageError struct{ Reason, Advice string }

func (e *UsageError) Error() string { return e.Reason }

// Code returns the code of an invalid request.
func (e *UsageError) Code() string { return "bad_request" }

// Hint says what to do, "" if there is nothing to say.
func (e *UsageError) Hint() string { return e.Advice }

// Failure is an error that ends a command with the given status. The hint may be "".
type Failure struct {
	Status          int
	Message, Advice string
}

func (e *Failure) Error() string { return e.Message }

// Hint says what to do, "" if there is nothing to say.
func (e *Failure) Hint() string { return e.Advice }

// Fail returns a [Failure].
func Fail(status int, message, hint string) error { return &Failure{status, message, hint} }

// FailureOf returns a failure of the gateway as an error.
func FailureOf(e *failure.Error) error { return Fail(StatusOfCode(e.Code), e.Message, e.Hint) }

// ThisProgram returns the absolute path of this program. On Linux it fails without /proc.
func ThisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", Fail(
			ExitNotReady,
			fmt.Sprintf("the path of this program is not known: %v", err),
			"mount /proc: vaultwicket starts itself to read a vault, and finds itself there",
		)
	}
	return path, nil
}

// Several are errors that are printed one after the other. The exit status is the highest one.
type Several []error

func (e Several) Error() string {
	var texts []string
	for _, err := range e {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// Silent is an error that ends a command with a status and prints nothing, because the output is sufficient.
type Silent int

func (Silent) Error() string { return "" }
