package view

import (
	"context"

	"vaultwicket/cmd/internal/vault/bases/eval"
	"vaultwicket/cmd/internal/vault/bases/value"
)

// Filter decides which files are rows: an expression, or several filters of which
// all, any or none have to hold.
type Filter struct {
	// Expression is nil for a filter of Parts.
	Expression *eval.Program
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
func (f *Filter) Holds(row *eval.Row) bool {
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
func (b *Base) Unmet(ctx context.Context, env eval.Environment, v View, e value.Entry) (unmet []string, err error) {
	env.Formulas = b.Formulas
	session := eval.NewSession(ctx, env)
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
