// Package bases reads base files and evaluates their views: which files are rows, in which order and groups,
// with which cells, and how they are printed.
//
// A query reads the files of a [Source]. The source of a vault is made from its index by [Memory.New], and
// converts properties to values when an expression reads them.
package bases

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// Base is a parsed base file, see [Read]. The zero Base has no views and no filter.
type Base struct {
	Filter   *Filter // if nil, every file passes
	Formulas map[string]*formula.Program
	// Labels are the display names by property id, as the file has them.
	Labels map[string]string
	// Properties are the ids of configured properties, in the order of the file.
	Properties []string
	Summaries  map[string]*formula.Program
	Views      []View
	// Problems are errors and warnings, in the order of the file.
	Problems []Problem
}

// View is one view of a base.
type View struct {
	Name, Type string
	Filter     *Filter // if nil, every file passes
	Order      []string
	Sort       []Key
	Group      *Key
	Limit      int // maximum number of rows; 0 is no limit
	// Summaries are the summaries of columns, in the order of the file.
	Summaries []ColumnSummary
}

// Key is a sort or group key: a property or, in a [Query], an expression.
type Key struct {
	Property   string
	Expression *formula.Program
	Descending bool
}

// ColumnSummary is the summary of a column.
type ColumnSummary struct{ Property, Name string }

// Problem is an error or a warning about a base file.
type Problem struct {
	// Line is counted from 1. It is 0 for a problem of the whole file.
	Line int
	// Fatal means that the base cannot be queried, as in the app.
	Fatal bool
	// Text is the message, in the words of the app if it has a message for this.
	Text string
	// Position is the position in Expression in UTF-16 code units, or -1.
	Position   int
	Expression string
}

// Error is a fatal problem of a base.
type Error struct{ Problem }

// Error returns the message.
func (e *Error) Error() string { return e.Text }

// Fatal returns the first fatal problem as an [*Error], or nil if there is none.
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

// String returns the problem in one line, with the line number first.
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

// Filter selects rows: by an expression, or by filters that are combined by a [Mode].
type Filter struct {
	// Expression is nil if the filter has Parts.
	Expression *formula.Program
	Mode       Mode
	Parts      []*Filter
	Line       int // in the base file, or 0
}

// Mode is how the parts of a filter are combined: and, or, or not, which means none of them.
type Mode uint8

// The modes.
const (
	All Mode = iota
	Any
	None
)

// modeNames are the keys of the modes in a base file.
var modeNames = [...]string{All: "and", Any: "or", None: "not"}

// Holds reports whether a row passes the filter. Every row passes a nil filter. Parts are evaluated from left
// to right until the result is known. An expression that fails counts as false.
func (f *Filter) Holds(row *formula.Row) bool {
	holds, _ := f.test(row)
	return holds
}

// test is Holds, and also returns the message of the first expression that failed, or "".
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

// statements returns the filters that all have to hold: the parts of a filter with mode and, or the filter
// itself.
func (f *Filter) statements() []*Filter {
	if f == nil {
		return nil
	}
	if f.Expression != nil || f.Mode != All {
		return []*Filter{f}
	}
	var statements []*Filter
	for _, part := range f.Parts {
		statements = append(statements, part.statements()...)
	}
	return statements
}

// Unmet returns the filters of the base and of a view that a file does not pass, each as one line. The error
// is that of the budget of ctx.
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

// fileLabels are the labels that the app has for the fields of a file.
var fileLabels = map[string]string{
	"name": "file name", "basename": "file base name", "fullname": "file full name", "path": "file path",
	"folder": "folder", "ext": "file extension",
	"size": "file size", "ctime": "created time", "mtime": "modified time", "tags": "file tags",
	"links": "file links", "embeds": "file embeds",
	"backlinks": "file backlinks", "properties": "properties", "file": "file",
}

// Label returns the label of a column: the display name of the property, the label that the app has for a
// field of a file, or the name.
func (b *Base) Label(id string) string {
	namespace, name := formula.SplitID(id)
	switch {
	case b.Labels[namespace+"."+name] != "":
		return b.Labels[namespace+"."+name]
	case namespace == "file" && fileLabels[name] != "":
		return fileLabels[name]
	case namespace == "note" && b.Labels[name] != "":
		return b.Labels[name]
	}
	return name
}
