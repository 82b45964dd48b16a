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

// ExitMeanings are the exit statuses and their meanings, for documents.
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

// StatusOfResult returns the exit status of a result, whose failure may be nil.
func StatusOfResult(cause *failure.Error) int {
	if cause == nil {
		return ExitDone
	}
	return StatusOfCode(cause.Code)
}

// StatusOf returns the exit status of an error: that of its code, or the one of an internal error.
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
	case errors.Is(err, context.Canceled): // by Ctrl-C
		return ExitInterrupted
	}
	return ExitInternal
}

// Output is the standard output of a command. It remembers that something could not be written, so that no command
// ends as if it had been.
type Output struct {
	to     io.Writer
	failed error
}

// NewOutput returns the standard output that writes to a stream, which is the stream itself if it is one already.
func NewOutput(to io.Writer) *Output {
	if output, isOutput := to.(*Output); isOutput {
		return output
	}
	return &Output{to: to}
}

// Write writes to the stream. The error is the stream's.
func (o *Output) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// Check returns the error with which a command ends that only prints and ended with err: its own, or that the output
// could not be written, of which the exit status is [ExitNotReady]; of a closed pipe nothing is said. A server, whose
// output is the connection to its client, has an error of its own for that.
func (o *Output) Check(err error) error {
	return o.check(err, "the output could not be written: %v", "")
}

// CheckDone is [Output.Check] for a command that does something before it prints: it was done all the same. look says where
// the user sees it.
func (o *Output) CheckDone(err error, look string) error {
	return o.check(err, "the command was carried out, but its output could not be written: %v", look)
}

func (o *Output) check(err error, format, hint string) error {
	isOther := err != nil && StatusOf(err) != ExitInternal // an internal error here is that of the output
	if o.failed == nil || isOther {
		return err
	}
	if errors.Is(o.failed, syscall.EPIPE) { // whoever read it has seen enough
		return Silent(ExitNotReady)
	}
	reason := o.failed
	if path, ok := errors.AsType[*fs.PathError](reason); ok {
		reason = path.Err
	}
	return Fail(ExitNotReady, fmt.Sprintf(format, reason), hint)
}

// PrintError prints err on w, with its hint, and returns the exit status for it.
// A [Several] is printed error by error, a [Silent] not at all.
func PrintError(w io.Writer, err error) int {
	switch e := err.(type) {
	case nil, Silent:
	case Several:
		status := ExitDone
		for _, one := range e {
			status = max(status, PrintError(w, one))
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

// PrintError prints err on standard error, see the function of that name, with hints that name the flags and the settings
// file of the command. It returns the exit status for err.
func (s Streams) PrintError(err error) int {
	several, isSeveral := err.(Several)
	silent, isSilent := err.(Silent)
	hint := ""
	if !isSeveral && !isSilent {
		hint = HintOf(err)
	}
	switch {
	case isSeveral:
		status := ExitDone
		for _, one := range several {
			status = max(status, s.PrintError(one))
		}
		return status
	case isSilent:
		return int(silent)
	case err == nil || hint == "" || s.Hints == nil || s.Hints.ForOwner == nil:
		return PrintError(s.Err, err)
	}
	return PrintError(s.Err, &Failure{StatusOf(err), err.Error(), s.Hints.ForOwner(hint)})
}

// Hints says how the hints of a command are told to the owner.
type Hints struct {
	// ForOwner is set when the command has read its settings, and nil before.
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
// a status; it is nil for [ExitDone].
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

// Write writes a text on standard output.
func Write(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// UsageError is the error for an invalid command line or setting. The hint may be "".
type UsageError struct{ Reason, Advice string }

func (e *UsageError) Error() string { return e.Reason }

// Code is the code of an invalid request.
func (e *UsageError) Code() string { return "bad_request" }

// Hint says what to do, "" if there is nothing to say.
func (e *UsageError) Hint() string { return e.Advice }

// Failure is an error that ends a command with a certain status. The hint may be "".
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

// ThisProgram returns the absolute path of this program. Linux tells it in /proc alone.
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

// Several are errors that are printed one after the other. The exit status is the highest of theirs.
type Several []error

func (e Several) Error() string {
	var texts []string
	for _, err := range e {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// Silent ends a command with a status and prints nothing: the output has said everything.
type Silent int

func (Silent) Error() string { return "" }
