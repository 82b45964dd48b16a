// Package failure is what the gateway says when a call is not carried out: the codes
// and their classes, the errors that the gateway itself makes, and the form in which a
// client sees any error.
//
// Codes are for programs and stable. The text and the hint of an error are for people and
// may change. An error without a code is an internal error, of which a client sees
// nothing but that.
package failure

import (
	"errors"
	"fmt"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
)

// Codes that the gateway itself answers with, besides those of the packages
// below it.
const (
	CodeVaultNotFound = "vault_not_found"
	CodeAlreadyExists = "already_exists"
	CodeNotFound      = "not_found"
	CodeNotApplied    = "not_applied"
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
	CodeRateLimited   = "rate_limited"
	CodeUnconfirmed   = "unconfirmed"
	CodeBadValue      = "bad_value"
	CodeState         = "state_unavailable"
)

// RequestError is a failure that the gateway itself finds.
type RequestError struct {
	code, reason, hint string
}

// Code returns the stable code of the failure.
func (e *RequestError) Code() string { return e.code }

// Hint says how to mend it, "" when the error says it all.
func (e *RequestError) Hint() string { return e.hint }

func (e *RequestError) Error() string { return e.reason }

// New returns an error with a code, a hint, which may be "", and a formatted text.
func New(code, hint, format string, args ...any) *RequestError {
	return &RequestError{code: code, hint: hint, reason: fmt.Sprintf(format, args...)}
}

// Error is a failure as callers see it. Message and Hint are for people and
// may change; Code is for programs and may not.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Rule is that of the policy which refused, "" for another failure.
	Rule string `json:"rule,omitempty"`
}

// Error makes it an error, for where one has to be returned.
func (e *Error) Error() string { return e.Message }

// CodedError is an error that a client may see.
type CodedError interface {
	error
	Code() string
	Hint() string
}

// Of returns an error as clients see it. One without a code is an internal error, and
// its text is for the log only.
func Of(err error) *Error {
	var c CodedError
	if !errors.As(err, &c) {
		return &Error{Code: CodeInternal, Message: "internal error", Hint: "please report it; the log has the details"}
	}
	return &Error{Code: c.Code(), Message: Sentence(c.Error()), Hint: Sentence(c.Hint()), Rule: RuleOf(err)}
}

// maxSentence bounds what a client sees of a message, a hint or a notice: the longest lists the
// names of forty fields.
const maxSentence = 4 << 10

// Sentence returns a message, a hint or a notice as a client may see it: on one line, so that
// no name in it can begin another one, without what is not printable, and bounded.
func Sentence(text string) string { return quote.Clip(clean.Line(text), maxSentence) }

// Sentences puts the elements of a list into their places as [Sentence] returns them, and
// returns the list.
func Sentences(list []string) []string {
	for i := range list {
		list[i] = Sentence(list[i])
	}
	return list
}

// ErrInternal is all that a client sees of an internal error.
var ErrInternal = New(CodeInternal, "please report it; the log has the details", "internal error")

// RuleOf returns the rule of the policy that an error names, such as a policy.Denial, ""
// for another error.
func RuleOf(err error) string {
	if denial, ok := err.(interface{ RefusedBy() string }); ok {
		return denial.RefusedBy()
	}
	return ""
}
