// Package view reads base files and answers their views: which files are rows, in
// which order and groups, with which cells, and in which form they print.
//
// It reads no vault: the files come from a [Source].
package view

import (
	"fmt"

	"vaultwicket/cmd/internal/vault/bases/eval"
)

// Base is a base as its file says it. [Read] makes one; the zero Base has no view
// of its own and every file as a row.
type Base struct {
	Filter   *Filter // nil: every file
	Formulas map[string]*eval.Program
	// Labels are display names by the id of the property, as it is written.
	Labels map[string]string
	// Properties are the ids that the base names, in the order of the file.
	Properties []string
	Summaries  map[string]*eval.Program
	Views      []View
	// Problems are all that is wrong, in the order of the file.
	Problems []Problem
}

// View is one view of a base.
type View struct {
	Name, Type string
	Filter     *Filter // nil: every file
	Order      []string
	Sort       []Key
	Group      *Key
	Limit      int // 0: none
	// Summaries are the names of summaries, by the id of the property.
	Summaries []ColumnSummary
}

// Key is what rows are sorted or grouped by: a property, or, where a caller
// asked for it, an expression.
type Key struct {
	Property   string
	Expression *eval.Program
	Descending bool
}

// ColumnSummary is the summary of a column.
type ColumnSummary struct{ Property, Name string }

// Problem is something that is wrong with a base file.
type Problem struct {
	// Line is that of the file, counted from 1; 0 where it concerns all of it.
	Line int
	// Fatal says that the base cannot be answered at all, as in the app.
	Fatal bool
	// Text is the sentence of the app where it has one.
	Text string
	// Position is where in an expression it is, in UTF-16 code units; -1 if it
	// is not about an expression. Expression is that one.
	Position   int
	Expression string
}

// Error is why a base cannot be answered.
type Error struct{ Problem }

// Error returns the sentence of the app.
func (e *Error) Error() string { return e.Text }

// Fatal returns the first problem for which the base cannot be answered, as an
// [*Error]; nil if there is none.
func (b *Base) Fatal() error {
	for _, p := range b.Problems {
		if p.Fatal {
			return &Error{p}
		}
	}
	return nil
}

// Severity is error for what keeps the base from being answered, else warning.
func (p Problem) Severity() string {
	if p.Fatal {
		return "error"
	}
	return "warning"
}

// String returns the problem in one line, with the line of the file in front.
func (p Problem) String() string {
	text := p.Severity() + ": " + p.Text
	if p.Line > 0 {
		text = fmt.Sprintf("line %d: %s", p.Line, text)
	}
	if p.Expression != "" {
		text += fmt.Sprintf(", in %q", p.Expression)
	}
	return text
}
