// Package failure defines the errors of calls: the codes and their classes, the errors of the gateway itself, and the
// form in which a client receives any error.
//
// Codes are for programs, and stable. The text and the hint of an error are for people, and may change. An error
// without a code is an internal error, whose text is never sent to a client.
package failure

import (
	"errors"
	"fmt"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Codes of the gateway itself. The packages that it imports have codes of their own.
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

// Approval describes the approval that a call waits for.
type Approval struct {
	ID      string    `json:"id"`     // the id that the command approvals lists
	Reason  string    `json:"reason"` // why it is required, and how a dialog with the user ended
	Ways    []string  `json:"ways"`   // where the user can answer: "page", "terminal"
	Expires time.Time `json:"expires"`
	// Link opens the question for the user, "" if no page is open. It gives no right to answer.
	Link string `json:"link,omitempty"`
}

// Waiting returns a copy of the error with the approval that the call waits for.
func (e *RequestError) Waiting(on *Approval) *RequestError {
	waits := *e
	waits.approval = on
	return &waits
}

// Declined returns a copy of the error, marked as a call that the user declined or whose approval they withdrew.
func (e *RequestError) Declined() *RequestError {
	declined := *e
	declined.declined = true
	return &declined
}

// IsDeclined reports whether err says that the user declined the call.
func IsDeclined(err error) bool {
	request, ok := errors.AsType[*RequestError](err)
	return ok && request.declined
}

// Code returns the stable code of the failure.
func (e *RequestError) Code() string { return e.code }

// Hint returns advice on what to do, "" if the message is enough.
func (e *RequestError) Hint() string { return e.hint }

func (e *RequestError) Error() string { return e.reason }

// New returns an error with a code, a hint, which may be "", and a formatted message.
func New(code, hint, format string, args ...any) *RequestError {
	return &RequestError{code: code, hint: hint, reason: fmt.Sprintf(format, args...)}
}

// Error is a failure in the form that callers receive. Message and Hint are for people and may change; Code is for
// programs and does not.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Field is the wrong parameter or argument, the first if there are several; "" if the error is not about one.
	Field string `json:"field,omitempty"`
	// Rule is the policy rule that denied the call, "" for other failures.
	Rule string `json:"rule,omitempty"`
	// Made and NotMade are the notes of a change that was made only in part: those that were changed, and the others.
	// Moved are those of Made that were only moved, and have the old text. Long lists are shortened to their first entries.
	Made    []string `json:"made,omitempty"`
	Moved   []string `json:"moved,omitempty"`
	NotMade []string `json:"notMade,omitempty"`
	// Approval is the approval that the call waits for, nil for other failures.
	Approval *Approval `json:"approval,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// CodedError is an error that may be shown to clients.
type CodedError interface {
	error
	Code() string
	Hint() string
}

// Of converts an error into the form for clients. An error without a code becomes an internal error without its text,
// which is for the log only. Errors about the owner's files are reported without their paths.
func Of(err error) *Error {
	var c CodedError
	if !errors.As(err, &c) && excerpt.IsOfOwner(err) {
		return &Error{
			Code:    CodeState,
			Message: Sentence(excerpt.Reason(err)),
			Hint:    `the user can see more with "vaultwicket doctor"`,
		}
	}
	if c == nil {
		return &Error{Code: CodeInternal, Message: "internal error", Hint: "please report it; the log has the details"}
	}
	e := &Error{
		Code:    c.Code(),
		Message: Sentence(c.Error()),
		Hint:    Sentence(c.Hint()),
		Field:   fieldOf(err),
		Rule:    RuleOf(err),
	}
	if waits, ok := errors.AsType[*RequestError](err); ok && waits.approval != nil {
		approval := *waits.approval
		approval.Reason = Sentence(approval.Reason)
		e.Approval = &approval
	}
	return e
}

// fieldOf returns the name of the parameter that an error is about, in a form that is safe to show to a client; ""
// for other errors.
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

// maxSentence is the maximum size of a message, a hint or a notice in bytes. The longest ones list the names of forty
// fields.
const maxSentence = 4 << 10

// Sentence makes a message, a hint or a notice safe to send to clients: printable, bounded and on one line, so that
// no name in it can start a line of its own.
func Sentence(text string) string { return excerpt.Clip(sanitize.Line(text), maxSentence) }

// Sentences replaces each element of list by its [Sentence] and returns list.
func Sentences(list []string) []string {
	for i := range list {
		list[i] = Sentence(list[i])
	}
	return list
}

// ErrInternal is the error that clients receive for any internal error.
var ErrInternal = New(CodeInternal, "please report it; the log has the details", "internal error")

// RuleOf returns the policy rule that denied the call if err names one, such as a policy.Denial; otherwise "".
func RuleOf(err error) string {
	if denial, ok := err.(interface{ RefusedBy() string }); ok {
		return denial.RefusedBy()
	}
	return ""
}

// Class tells who can resolve a failure.
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

// Codes lists every error code that a result can contain. Programs rely on them: a code is never renamed, and a new
// one is added at the end of its class.
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
	{"unsupported_platform", Surroundings}, {"needs_app", Surroundings}, {"state_unavailable", Surroundings},
	{"vault_unwritable", Surroundings}, {"vault_unreadable", Surroundings},

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
