package allowlist

import (
	"fmt"

	"vaultwicket/allowlist/quote"
)

// The codes of a [ParseError].
const (
	CodeUnknownCommand = "unknown_command"
	CodeUnknownParam   = "unknown_param"
	CodeMissingParam   = "missing_param"
	CodeBadValue       = "bad_value"
	CodeConflict       = "conflicting_params"
	CodeTargetRequired = "target_required"
	CodeContentUnsafe  = "content_unsafe"
	CodeContentTooLong = "content_too_long"
)

// ParseError says why a request is no call. It is the caller's move: the same
// request will fail again.
type ParseError struct {
	code    string
	Command string // as given
	Param   string // the parameter at fault, "" when it is the command
	Reason  string // lower case, no full stop
	hint    string
}

// Code returns one of the Code constants of this package.
func (e *ParseError) Code() string { return e.code }

// Hint returns what would be right, or "" when the reason says it all.
func (e *ParseError) Hint() string { return e.hint }

func (e *ParseError) Error() string {
	switch {
	case e.code == CodeUnknownCommand && e.Reason == unknown:
		return fmt.Sprintf("unknown command %q", quote.Short(e.Command))
	case e.code == CodeUnknownParam && e.Reason == unknown:
		return fmt.Sprintf("command %q: unknown parameter %q", quote.Short(e.Command), quote.Short(e.Param))
	case e.Param == "":
		return fmt.Sprintf("command %q: %s", quote.Short(e.Command), e.Reason)
	}
	return fmt.Sprintf("command %q: parameter %q: %s", quote.Short(e.Command), quote.Short(e.Param), e.Reason)
}

// unknown is the reason for a name that is not in the table.
const unknown = "unknown"
