// Package bases reads base files and answers their views: which files are rows, in
// which order and groups, with which cells, and in which form they print.
//
// A query reads the files of a [Source]. That of a vault is made from its index by
// [Memory.New]; it converts properties to values when an expression reads them.
package bases

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// Base is a parsed base file, see [Read]. The zero Base has no view and every file as a row.
type Base struct {
	Filter   *Filter // nil: every file
	Formulas map[string]*formula.Program
	// Labels are display names by property id as written.
	Labels map[string]string
	// Properties are the configured property ids, in the order of the file.
	Properties []string
	Summaries  map[string]*formula.Program
	Views      []View
	// Problems are errors and warnings, in the order of the file.
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

// Key is what rows are sorted or grouped by: a property, or in a [Query] an expression.
type Key struct {
	Property   string
	Expression *formula.Program
	Descending bool
}

// ColumnSummary is the summary of a column.
type ColumnSummary struct{ Property, Name string }

// Problem is an error or a warning about a base file.
type Problem struct {
	// Line is counted from 1; 0 is the whole file.
	Line int
	// Fatal means that no query can be answered, as in the app.
	Fatal bool
	// Text is the sentence of the app, if it has one.
	Text string
	// Position is the place in Expression in UTF-16 code units, -1 without one.
	Position   int
	Expression string
}

// Error is the error of a base with a fatal problem.
type Error struct{ Problem }

// Error returns the sentence of the app.
func (e *Error) Error() string { return e.Text }

// Fatal returns the first fatal problem as an [*Error], nil if there is none.
func (b *Base) Fatal() error {
	for _, p := range b.Problems {
		if p.Fatal {
			return &Error{p}
		}
	}
	return nil
}

// Severity returns "error" for a fatal problem, otherwise "warning".
func (p Problem) Severity() string {
	if p.Fatal {
		return "error"
	}
	return "warning"
}

// String returns the problem in one line, after the line number.
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

// Filter selects the files that are rows: an expression, or filters combined by a [Mode].
type Filter struct {
	// Expression is nil for a filter of Parts.
	Expression *formula.Program
	Mode       Mode
	Parts      []*Filter
	Line       int // in the file, 0 if it is not from one
}

// Mode combines the parts of a filter: and, or, or not (none of them).
type Mode uint8

// The modes.
const (
	All Mode = iota
	Any
	None
)

// modeNames are the keys of the modes in a base file.
var modeNames = [...]string{All: "and", Any: "or", None: "not"}

// Holds reports whether a row passes; nil passes every row. Parts are evaluated from left to
// right until the result is known. An expression that fails is false.
func (f *Filter) Holds(row *formula.Row) bool {
	holds, _ := f.test(row)
	return holds
}

// test is Holds with the sentence of the first expression that failed, "" if none did.
func (f *Filter) test(row *formula.Row) (holds bool, failed string) {
	if f == nil {
		return true, ""
	}
	if f.Expression != nil {
		if f.Expression.IsEmpty() {
			return true, ""
		}
		v := row.Eval(f.Expression)
		if v.IsError() {
			failed = v.Message()
		}
		return v.Truthy(), failed
	}
	for _, part := range f.Parts {
		holds, message := part.test(row)
		failed = cmp.Or(failed, message)
		if holds == (f.Mode != All) {
			return f.Mode == Any, failed
		}
	}
	return f.Mode != Any, failed
}

// statements returns the parts of a filter under and; any other filter is one statement.
func (f *Filter) statements() []*Filter {
	if f == nil {
		return nil
	}
	if f.Expression != nil || f.Mode != All {
		return []*Filter{f}
	}
	var all []*Filter
	for _, part := range f.Parts {
		all = append(all, part.statements()...)
	}
	return all
}

// Unmet returns the filters of the base and of a view that a file does not pass, each in one
// line. The error is that of the budget of ctx.
func (b *Base) Unmet(
	ctx context.Context,
	env formula.Environment,
	v View,
	e formula.Entry,
) (unmet []string, err error) {
	env.Formulas = b.Formulas
	session := formula.NewSession(ctx, env)
	row := session.Row(e)
	for _, f := range append(b.Filter.statements(), v.Filter.statements()...) {
		if !f.Holds(row) {
			unmet = append(unmet, f.String())
		}
	}
	return unmet, session.Err()
}

// String returns the filter in one line.
func (f *Filter) String() string {
	if f.Expression != nil {
		return f.Expression.Source()
	}
	text := modeNames[f.Mode] + "("
	for i, part := range f.Parts {
		if i > 0 {
			text += ", "
		}
		text += part.String()
	}
	return text + ")"
}

// fileLabels are the labels of the app for the fields of a file.
var fileLabels = map[string]string{
	"name": "file name", "basename": "file base name", "fullname": "file full name", "path": "file path", "folder": "folder", "ext": "file extension",
	"size": "file size", "ctime": "created time", "mtime": "modified time", "tags": "file tags", "links": "file links", "embeds": "file embeds",
	"backlinks": "file backlinks", "properties": "properties", "file": "file",
}

// Label returns the label of a column: the display name of the property, otherwise the label
// of the app, otherwise the name.
func (b *Base) Label(id string) string {
	space, name := formula.SplitID(id)
	switch {
	case b.Labels[space+"."+name] != "":
		return b.Labels[space+"."+name]
	case space == "file" && fileLabels[name] != "":
		return fileLabels[name]
	case space == "note" && b.Labels[name] != "":
		return b.Labels[name]
	}
	return name
}
