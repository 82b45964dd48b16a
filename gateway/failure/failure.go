// Package failure has the errors of calls: the codes and their classes, the errors of the
// gateway itself, and the form in which a client gets any error.
//
// Codes are for programs and stable. The text and the hint of an error are for people and
// may change. An error without a code is an internal error, of which a client gets no text.
package failure

import (
	"errors"
	"fmt"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Codes of the gateway itself, besides those of the packages that it imports.
const (
	CodeVaultNotFound = "vault_not_found"
	CodeAlreadyExists = "already_exists"
	CodeNotFound      = "not_found"
	CodeNotApplied    = "not_applied"
	CodePartlyApplied = "partly_applied"
	CodeCLIError      = "cli_error"
	CodeCancelled     = "cancelled"
	CodeTimeout       = "timeout"
	CodeTooLong       = "content_too_long"
	CodeInternal      = "internal"
	CodeConflict      = "conflict"
	CodeAmbiguous     = "ambiguous"
	CodeNotConfigured = "not_configured"
	CodeNeedsApp      = "needs_app"
	CodeBadRequest    = "bad_request"
	CodeUnknown       = "outcome_unknown"
	CodePaused        = "paused"
	CodeAgent         = "agent_denied"
	CodeRateLimited   = "rate_limited"
	CodeUnconfirmed   = "unconfirmed"
	CodeBadValue      = "bad_value"
	CodeSecret        = "secret_found"
	CodeState         = "state_unavailable"
)

// RequestError is an error of the gateway itself.
type RequestError struct {
	code, reason, hint string
	approval           *Approval
	declined           bool
}

// Approval is what a call waits for.
type Approval struct {
	ID      string    `json:"id"`     // as the command approvals has it
	Reason  string    `json:"reason"` // why it is required, and what became of a dialog
	Ways    []string  `json:"ways"`   // where the user can answer: "page", "terminal"
	Expires time.Time `json:"expires"`
	// Link shows the user the question, "" where no page is open. It gives no right to answer.
	Link string `json:"link,omitempty"`
}

// Waiting returns the error with the approval that it waits for.
func (e *RequestError) Waiting(on *Approval) *RequestError {
	waits := *e
	waits.approval = on
	return &waits
}

// Declined returns the error as one of a call that the user declined, or whose approval they withdrew.
func (e *RequestError) Declined() *RequestError {
	declined := *e
	declined.declined = true
	return &declined
}

// IsDeclined reports whether an error is that the user declined the call.
func IsDeclined(err error) bool {
	request, ok := errors.AsType[*RequestError](err)
	return ok && request.declined
}

// Code returns the stable code of the failure.
func (e *RequestError) Code() string { return e.code }

// Hint says what to do, "" if the error says it all.
func (e *RequestError) Hint() string { return e.hint }

func (e *RequestError) Error() string { return e.reason }

// New returns an error with a code, a hint, which may be "", and a formatted text.
func New(code, hint, format string, args ...any) *RequestError {
	return &RequestError{code: code, hint: hint, reason: fmt.Sprintf(format, args...)}
}

// Error is a failure as callers get it. Message and Hint are for people and
// may change; Code is for programs and may not.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Field is the parameter or argument that is wrong, the first of several; "" where none is.
	Field string `json:"field,omitempty"`
	// Rule is the rule of the policy that denied the call, "" for another failure.
	Rule string `json:"rule,omitempty"`
	// Made and NotMade are the notes of a change that was made in part: those that it changed, and the others. Of very
	// many each has the first.
	Made    []string `json:"made,omitempty"`
	NotMade []string `json:"notMade,omitempty"`
	// Approval is what the call waits for, nil for any other failure.
	Approval *Approval `json:"approval,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// CodedError is an error that clients get.
type CodedError interface {
	error
	Code() string
	Hint() string
}

// Of returns an error as clients get it. One without a code is an internal error, and
// its text is for the log only, unless it is one of the owner's files: where they are is not told.
func Of(err error) *Error {
	var c CodedError
	if !errors.As(err, &c) && excerpt.IsOfOwner(err) {
		return &Error{
			Code: CodeState, Message: Sentence(excerpt.Reason(err)), Hint: `the user can see more with "vaultwicket doctor"`,
		}
	}
	if c == nil {
		return &Error{Code: CodeInternal, Message: "internal error", Hint: "please report it; the log has the details"}
	}
	e := &Error{
		Code: c.Code(), Message: Sentence(c.Error()), Hint: Sentence(c.Hint()), Field: fieldOf(err), Rule: RuleOf(err),
	}
	if waits, ok := errors.AsType[*RequestError](err); ok && waits.approval != nil {
		approval := *waits.approval
		approval.Reason = Sentence(approval.Reason)
		e.Approval = &approval
	}
	return e
}

// fieldOf returns the name of the parameter that an error is about, as a client may see it, "" for another error.
func fieldOf(err error) string {
	about, ok := errors.AsType[interface {
		error
		Field() string
	}](err)
	if !ok {
		return ""
	}
	return sanitize.Line(excerpt.Short(about.Field()))
}

// maxSentence bounds a message, a hint or a notice, in bytes: the longest lists the names of
// forty fields.
const maxSentence = 4 << 10

// Sentence returns a message, a hint or a notice for clients: printable, bounded and on one
// line, so that no name in it can begin another one.
func Sentence(text string) string { return excerpt.Clip(sanitize.Line(text), maxSentence) }

// Sentences replaces each element of a list by its [Sentence], and returns the list.
func Sentences(list []string) []string {
	for i := range list {
		list[i] = Sentence(list[i])
	}
	return list
}

// ErrInternal is an internal error as clients get it.
var ErrInternal = New(CodeInternal, "please report it; the log has the details", "internal error")

// RuleOf returns the rule of the policy that an error names, such as a policy.Denial, ""
// for another error.
func RuleOf(err error) string {
	if denial, ok := err.(interface{ RefusedBy() string }); ok {
		return denial.RefusedBy()
	}
	return ""
}

// Class says who can resolve a failure.
type Class uint8

const (
	// Bug is the zero value: an internal error, and any code that is not listed.
	Bug Class = iota
	// BadRequest: the caller can ask differently.
	BadRequest
	// Refused: the user can change a setting.
	Refused
	// Surroundings: something is wrong with the installation or the machine.
	Surroundings
	// Answered: the program ran and answered with an error.
	Answered
	// Halted: the program was stopped.
	Halted
)

// Code is one of the stable error codes, with its class.
type Code struct {
	Name  string
	Class Class
}

// Codes lists every error code that a result can carry. Programs rely on
// them: a code is never renamed, and a new one is added at the end of its class.
func Codes() []Code { return append([]Code(nil), codes...) }

var codes = []Code{
	{"unknown_command", BadRequest}, {"unknown_param", BadRequest}, {"missing_param", BadRequest},
	{"bad_value", BadRequest}, {"conflicting_params", BadRequest}, {"target_required", BadRequest},
	{"content_unsafe", BadRequest}, {"content_too_long", BadRequest}, {"bad_request", BadRequest},

	{"tier_closed", Refused}, {"restricted_command", Refused}, {"command_disabled", Refused}, {"agent_denied", Refused},
	{"insufficient_scope", Refused},
	{"mutations_off", Refused}, {"access_denied", Refused}, {"unconfirmed", Refused}, {"secret_found", Refused},
	{"rate_limited", Refused}, {"paused", Refused},

	{"cli_not_found", Surroundings}, {"cli_unsuitable", Surroundings}, {"cli_too_old", Surroundings},
	{"cli_disabled", Surroundings}, {"cli_crashed", Surroundings}, {"app_not_running", Surroundings},
	{"vault_not_found", Surroundings}, {"vault_starting", Surroundings},
	{
		"unsupported_platform",
		Surroundings,
	}, {"needs_app", Surroundings}, {"state_unavailable", Surroundings}, {"vault_unwritable", Surroundings},
	{"vault_unreadable", Surroundings},

	{"not_found", Answered}, {"already_exists", Answered}, {"ambiguous", Answered},
	{"conflict", Answered}, {"not_configured", Answered}, {"empty_output", Answered},
	{"not_applied", Answered}, {"cli_error", Answered}, {"partly_applied", Answered},

	{"timeout", Halted}, {"cancelled", Halted}, {"outcome_unknown", Halted}, {"output_limit", Halted},

	{"internal", Bug},
}

// ClassOf returns the class of a code, Bug for a code that is not listed.
func ClassOf(code string) Class {
	for _, c := range codes {
		if c.Name == code {
			return c.Class
		}
	}
	return Bug
}
