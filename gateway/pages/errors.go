package pages

import (
	"fmt"
	"strings"

	"vaultwicket/allowlist/quote"
)

// Codes of the errors, as programs know them.
const (
	codeBadValue   = "bad_value"
	codeBadRequest = "bad_request"
	codeNotFound   = "not_found"
)

const sendAsItWas = "send the cursor of the latest answer, as it was"

// Invalid says that something cannot be as it was given: a cursor, a position, a
// limit or a list of fields.
type Invalid struct {
	What   string // what it is
	Reason string // what is wrong with it
	Advice string // what would be right
}

// Code returns the name of the error for programs: bad_value.
func (*Invalid) Code() string { return codeBadValue }

func (e *Invalid) Error() string { return e.What + " " + e.Reason }

// Hint says what would be right.
func (e *Invalid) Hint() string { return e.Advice }

// FieldError says that no row has a field that was asked for.
type FieldError struct {
	Field   string
	Present []string // the names of the fields that are there, sorted, at most 40, each at most 61 characters
	More    bool     // there are others, which Present has no room for
	Nearest string   // the one that may be meant, "" if none is near
}

// Code returns the name of the error for programs: bad_value.
func (*FieldError) Code() string { return codeBadValue }

func (e *FieldError) Error() string {
	return fmt.Sprintf("fields: no row has a field %s", quoted(e.Field))
}

// Hint names the fields that are there.
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

// NoRows says that fields cannot be chosen, because a text has none.
type NoRows struct{ Reason string }

// Code returns the name of the error for programs: bad_request.
func (*NoRows) Code() string { return codeBadRequest }

func (e *NoRows) Error() string { return "fields cannot be chosen: the answer " + e.Reason }

// Hint says what would be right.
func (*NoRows) Hint() string {
	return "leave fields out; they are for rows that are objects of JSON"
}

// Gone says that nothing is kept under an id for a session: it was there too long,
// or had to make room, or never was.
type Gone struct{}

// Code returns the name of the error for programs: not_found.
func (*Gone) Code() string { return codeNotFound }

func (*Gone) Error() string { return "the rest of this answer is not kept any more" }

// Hint says what to do.
func (*Gone) Hint() string { return "run the command again, without a cursor" }

// maxQuoted bounds what an error repeats of a name, in bytes: it may list forty of them.
const maxQuoted = 60

func quoted(s string) string { return fmt.Sprintf("%q", quote.Clip(s, maxQuoted)) }
