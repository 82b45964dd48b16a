package query

import "fmt"

// ParseError says where a query is wrong and what would be right.
type ParseError struct {
	code   string
	At     int // the character where the trouble begins, from 1
	Reason string
	hint   string
}

// Code returns the kind of error, for programs.
func (e *ParseError) Code() string { return e.code }

// Error says what is wrong with which character.
func (e *ParseError) Error() string { return fmt.Sprintf("query, character %d: %s", e.At, e.Reason) }

// Hint says what would be right.
func (e *ParseError) Hint() string { return e.hint }

// Overrun says that a regex took too long.
type Overrun struct{ Pattern string }

// Code returns the kind of error, for programs.
func (e *Overrun) Code() string { return "regex_too_slow" }

// Error names the regex.
func (e *Overrun) Error() string { return fmt.Sprintf("regex %q: stopped, takes too long", e.Pattern) }

// Hint says what to do.
func (e *Overrun) Hint() string {
	return "avoid repetition inside repetition, or narrow the search with other terms"
}
