package arguments

import (
	"fmt"

	"vaultwicket/gateway/mcpserver/wire"
)

// The codes of an [Error].
const (
	BadRequest = "bad_request" // the shape is wrong
	BadValue   = "bad_value"   // one value is wrong
)

// Error says what is wrong with the arguments of a tool call. The caller can correct it.
type Error struct{ code, field, reason, hint string }

// Wrong returns the error for the argument at field, such as "params.content", or for the
// arguments as a whole if field is empty. reason continues a sentence that begins with the
// argument: "is missing". hint is what to send instead.
func Wrong(code, field, reason, hint string) *Error { return &Error{code, field, reason, hint} }

// unknown is the error for an argument that the tool does not have.
func unknown(field, hint string) *Error { return &Error{code: BadRequest, field: field, hint: hint} }

// Code is the error code, such as [BadRequest].
func (e *Error) Code() string { return e.code }

// Hint says what to send instead.
func (e *Error) Hint() string { return e.hint }

func (e *Error) Error() string {
	switch {
	case e.reason == "":
		return fmt.Sprintf("unknown argument %q", wire.Clip(e.field))
	case e.field == "":
		return "the arguments " + e.reason
	}
	return fmt.Sprintf("argument %q %s", wire.Clip(e.field), e.reason)
}
