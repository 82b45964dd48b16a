// Package bases reads base files and answers their views: which files are rows, in
// which order and groups, with which cells, and in which form they print.
//
// A query reads the files of a [Source]. That of a vault is made from its index by
// [Memory.New]; it converts properties to values when an expression reads them.
package bases

import (
	"context"
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/formula"
)

// Base is a base as its file says it. [Read] makes one; the zero Base has no view
// of its own and every file as a row.
type Base struct {
	Filter   *Filter // nil: every file
	Formulas map[string]*formula.Program
	// Labels are display names by the id of the property, as it is written.
	Labels map[string]string
	// Properties are the ids that the base names, in the order of the file.
	Properties []string
	Summaries  map[string]*formula.Program
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
	Expression *formula.Program
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

// Filter decides which files are rows: an expression, or several filters of which
// all, any or none have to hold.
type Filter struct {
	// Expression is nil for a filter of Parts.
	Expression *formula.Program
	Mode       Mode
	Parts      []*Filter
	Line       int // in the file, 0 if it is not from one
}

// Mode says how many of the parts of a filter have to hold.
type Mode uint8

// The modes.
const (
	All Mode = iota
	Any
	None
)

var modeNames = [...]string{All: "and", Any: "or", None: "not"}

// String returns the key of the mode in a file.
func (m Mode) String() string { return modeNames[m] }

// Holds reports whether a row passes. Of the parts no more are evaluated than are
// needed, from left to right. An expression that fails does not hold.
func (f *Filter) Holds(row *formula.Row) bool {
	if f == nil {
		return true
	}
	if f.Expression != nil {
		return f.Expression.IsEmpty() || row.Eval(f.Expression).Truthy()
	}
	for _, part := range f.Parts {
		if holds := part.Holds(row); holds == (f.Mode != All) {
			return f.Mode == Any
		}
	}
	return f.Mode != Any
}

// statements are the parts of a filter of which all have to hold; one of another
// kind is a statement by itself.
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
// line. The error is that of a session.
func (b *Base) Unmet(ctx context.Context, env formula.Environment, v View, e formula.Entry) (unmet []string, err error) {
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
	text := f.Mode.String() + "("
	for i, part := range f.Parts {
		if i > 0 {
			text += ", "
		}
		text += part.String()
	}
	return text + ")"
}

// fileLabels are the words of the app for the fields of a file; those that are not
// here stand for themselves.
var fileLabels = map[string]string{
	"name": "file name", "basename": "file base name", "fullname": "file full name", "path": "file path", "folder": "folder", "ext": "file extension",
	"size": "file size", "ctime": "created time", "mtime": "modified time", "tags": "file tags", "links": "file links", "embeds": "file embeds",
	"backlinks": "file backlinks", "properties": "properties", "file": "file",
}

// Label returns what is written above a column: the display name of the property,
// else the word of the app, else its name.
func (b *Base) Label(id string) string {
	space, name, found := strings.Cut(id, ".")
	if space != "file" && space != "formula" && space != "note" || !found {
		space, name, found = "note", id, true
	}
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
