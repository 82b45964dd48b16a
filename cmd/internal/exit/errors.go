package exit

import (
	"strings"

	"vaultwicket/gateway/failure"
)

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

// New returns a [Failure].
func New(status int, message, hint string) error { return &Failure{status, message, hint} }

// Of returns a failure of the gateway as an error.
func Of(e *failure.Error) error { return New(StatusOfCode(e.Code), e.Message, e.Hint) }

// Several are errors that are printed one after the other. The exit status is the
// highest of theirs.
type Several []error

func (e Several) Error() string {
	var texts []string
	for _, err := range e {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// Silent ends a command with a status and prints nothing: the output has said
// everything.
type Silent int

func (Silent) Error() string { return "" }
