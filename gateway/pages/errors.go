package pages

import (
	"fmt"
	"strings"

	"vaultwicket/allowlist/quote"
)

const sendAsItWas = "send the cursor of the latest answer, as it was"

// Invalid is an invalid cursor, position, limit or list of fields.
type Invalid struct {
	What   string // such as "fields"
	Reason string // why it is invalid
	Advice string // for the hint
}

// Code returns bad_value.
func (*Invalid) Code() string { return "bad_value" }

func (e *Invalid) Error() string { return e.What + " " + e.Reason }

// Hint returns the advice.
func (e *Invalid) Hint() string { return e.Advice }

// FieldError says that no row has a field that was asked for.
type FieldError struct {
	Field   string
	Present []string // names of fields that the rows have, sorted, at most 40, each at most 61 characters
	More    bool     // the rows have others, too
	Nearest string   // the one that was most likely meant, "" if none is near
}

// Code returns bad_value.
func (*FieldError) Code() string { return "bad_value" }

func (e *FieldError) Error() string {
	return fmt.Sprintf("fields: no row has a field %s", quoted(e.Field))
}

// Hint lists the fields of the rows.
func (e *FieldError) Hint() string {
	if len(e.Present) == 0 {
		return "the rows have no fields at all; leave fields out"
	}
	names := make([]string, len(e.Present))
	for i, name := range e.Present {
		names[i] = quoted(name)
	}
	hint := "there are " + strings.Join(names, ", ")
	if e.More {
		hint += " and others"
	}
	if e.Nearest != "" {
		hint = fmt.Sprintf("did you mean %s? %s", quoted(e.Nearest), hint)
	}
	return hint
}

// NoRows says that a text has no fields to choose from.
type NoRows struct{ Reason string }

// Code returns bad_request.
func (*NoRows) Code() string { return "bad_request" }

func (e *NoRows) Error() string { return "fields cannot be chosen: the answer " + e.Reason }

// Hint returns the advice.
func (*NoRows) Hint() string {
	return "leave fields out; they are for rows that are objects of JSON"
}

// Gone says that no text is kept under an id for a session: it has expired, was evicted, or
// never existed.
type Gone struct{}

// Code returns not_found.
func (*Gone) Code() string { return "not_found" }

func (*Gone) Error() string { return "the rest of this answer is not kept any more" }

// Hint says what to do.
func (*Gone) Hint() string { return "run the command again, without a cursor" }

// maxQuoted bounds what an error repeats of a name, in bytes: it may list forty of them.
const maxQuoted = 60

func quoted(s string) string { return fmt.Sprintf("%q", quote.Clip(s, maxQuoted)) }
