package exec

import (
	"errors"
	"fmt"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// The codes of an [Unavailable]: something is wrong with the environment.
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

// The codes of a [Failure]: the program has answered with an error.
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

// A zero Permit or Program is a bug in this program, not a wrong request. Nothing is started.
var (
	ErrNoPermit  = errors.New("no permit: nothing is run that no policy has granted")
	ErrNoProgram = errors.New("no program: the zero Program runs nothing")
)

// Unavailable is the error for an environment in which the call cannot run: the program, the app or the vault. The
// same call succeeds once the problem is fixed.
type Unavailable struct {
	code, program, reason, hint string
	cause                       error
}

// Code returns one of the codes of an [Unavailable].
func (u *Unavailable) Code() string { return u.code }

// Hint says what the user can do.
func (u *Unavailable) Hint() string { return u.hint }

func (u *Unavailable) Error() string {
	if u.program == "" {
		return u.reason
	}
	return fmt.Sprintf("program %q: %s", u.program, u.reason)
}

// Unwrap returns the error of the operating system, nil if there was none.
func (u *Unavailable) Unwrap() error { return u.cause }

// fact is an error: a code, a sentence, and advice on what to do next.
type fact struct{ code, reason, hint string }

// Code returns one of the codes of a [Failure] or a [Stopped].
func (f *fact) Code() string { return f.code }

// Hint says what to do next, "" if the reason is enough.
func (f *fact) Hint() string { return f.hint }

func (f *fact) Error() string { return f.reason }

// Stopped is the error of a call that was ended before its answer was complete.
type Stopped struct{ fact }

// Failure is an answer of the program that reports an error instead of the requested data.
type Failure struct {
	fact
	text string
}

// Text returns the answer if it could be the requested text, which only looks like an error of the app; otherwise
// "". It must not be shown unless the caller checks it first: it may name hidden notes.
func (f *Failure) Text() string { return f.text }

// IsNotFound reports whether nothing was found and no similar name was suggested.
func (f *Failure) IsNotFound() bool {
	return f.code == protocol.CodeNotFound && f.hint == protocol.HintNotFound
}

// WithHint returns the failure with another hint.
func (f *Failure) WithHint(hint string) *Failure {
	return &Failure{fact{f.code, f.reason, hint}, f.text}
}

// AppDoesLess reports whether the change was refused because the app would make only part of it.
func (f *Failure) AppDoesLess() bool { return f.hint == protocol.HintAppDoesLess }

func vaultNotFound() *Unavailable {
	return &Unavailable{code: CodeVaultNotFound, reason: "the Obsidian app does not know the vault, or has none open",
		hint: "compare the name with the output of the command vaults (names are case-sensitive); the user can open the vault in Obsidian"}
}
