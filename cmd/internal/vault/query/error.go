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
