package exec

import (
	"errors"
	"fmt"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// The codes of an [Unavailable]: the surroundings are not right.
const (
	CodeNotFound      = "cli_not_found"
	CodeUnsuitable    = "cli_unsuitable"
	CodeTooOld        = "cli_too_old"
	CodeDisabled      = "cli_disabled"
	CodeCrashed       = "cli_crashed"
	CodeNotRunning    = "app_not_running"
	CodeVaultNotFound = protocol.CodeVaultNotFound
	CodeVaultStarting = "vault_starting"
	CodePlatform      = "unsupported_platform"
)

// The codes of a [Failure]: the client has answered, and the answer is no.
const (
	CodeNoSuchNote     = protocol.CodeNotFound
	CodeAlreadyExists  = protocol.CodeAlreadyExists
	CodeAmbiguous      = protocol.CodeAmbiguous
	CodeNotConfigured  = protocol.CodeNotConfigured
	CodeEmptyOutput    = "empty_output"
	CodeNotApplied     = "not_applied"
	CodeCLIError       = protocol.CodeCLIError
	CodeNeedsApp       = protocol.CodeNeedsApp
	CodeTargetRequired = protocol.CodeTargetRequired
)

// The codes of a [Stopped]: the call was ended before its answer was complete.
const (
	CodeTimeout        = "timeout"
	CodeCancelled      = "cancelled"
	CodeOutcomeUnknown = "outcome_unknown"
	CodeOutputLimit    = "output_limit"
)

// Using the zero Permit or Program is a mistake in this program,
// not in a request. Nothing is started.
var (
	ErrNoPermit  = errors.New("no permit: nothing is run that no policy has granted")
	ErrNoProgram = errors.New("no program: the zero Program runs nothing")
)

// Unavailable says what is wrong with the environment of a call: the program, the app or the
// vault. The same call succeeds once that is fixed.
type Unavailable struct {
	code, program, reason, hint string
	cause                       error
}

// Code returns one of the codes of surroundings.
func (u *Unavailable) Code() string { return u.code }

// Hint says what the user can do.
func (u *Unavailable) Hint() string { return u.hint }

func (u *Unavailable) Error() string {
	if u.program == "" {
		return u.reason
	}
	return fmt.Sprintf("program %q: %s", u.program, u.reason)
}

// Unwrap returns the error of the system, if there was one.
func (u *Unavailable) Unwrap() error { return u.cause }

// fact is an error: a code, the sentence, and what to do next.
type fact struct{ code, reason, hint string }

// Code returns one of the codes above.
func (f *fact) Code() string { return f.code }

// Hint says what to do next, "" when the reason says it all.
func (f *fact) Hint() string { return f.hint }

func (f *fact) Error() string { return f.reason }

// Stopped says why a call was ended before its answer was complete.
type Stopped struct{ fact }

// Failure is an answer of the client that is not the one asked for.
type Failure struct {
	fact
	text string
}

// Text returns the answer where it could be the text that was asked for, which looks like an error of the app; "" where
// it could not. Unless that is shown it is for nobody: it may name hidden notes.
func (f *Failure) Text() string { return f.text }

// IsNotFound reports whether nothing was found and no name is suggested.
func (f *Failure) IsNotFound() bool {
	return f.code == protocol.CodeNotFound && f.hint == protocol.HintNotFound
}

// WithHint returns the failure with another hint.
func (f *Failure) WithHint(hint string) *Failure {
	return &Failure{fact{f.code, f.reason, hint}, f.text}
}

// AppDoesLess reports whether the change was refused because the app would make only a part of it.
func (f *Failure) AppDoesLess() bool { return f.hint == protocol.HintAppDoesLess }

func vaultNotFound() *Unavailable {
	return &Unavailable{code: CodeVaultNotFound, reason: "the Obsidian app does not know the vault, or has none open",
		hint: "compare the name with the output of the command vaults (names are case-sensitive); the user can open the vault in Obsidian"}
}
