// Package bases reads base files and answers their views: which files are rows, in
// which order and groups, with which cells, and in which form they print.
//
// A query reads the files of a [Source]. That of a vault is made from its index by
// [Memory.New]; it converts properties to values when an expression reads them.
package bases

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/frontmatter"
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

// property returns the value of a property of the note at a path.
func (v *Vault) property(p frontmatter.Property, from string) formula.Value {
	name := strings.ToLower(p.Key)
	switch name {
	case "tags", "tag":
		// Tags come in a list or in one text, with "#" or without.
		w := p.Value
		var tags []formula.Value
		add := func(text string) {
			for _, tag := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || formula.IsSpace(r) }) {
				tags = append(tags, formula.OfTag("#"+strings.TrimPrefix(tag, "#")))
			}
		}
		switch w.Kind() {
		case frontmatter.Null:
			return formula.Value{}
		case frontmatter.List:
			for _, item := range w.List() {
				add(item.String())
			}
		default:
			add(w.String())
		}
		return formula.OfList(tags)
	case "aliases", "cssclasses":
		return v.value(p.Value, verbatim, from)
	}
	return v.value(p.Value, v.Types[name], from)
}

// verbatim is the type of a property whose texts are not converted: an alias may look like
// a date.
const verbatim = "verbatim"

// value converts a value of a note. declared is the type that the user assigned to the
// property, "" for none.
func (v *Vault) value(w frontmatter.Value, declared, from string) formula.Value {
	switch w.Kind() {
	case frontmatter.Bool:
		return formula.OfBool(w.IsTrue())
	case frontmatter.Number:
		return formula.OfNumber(w.Float())
	case frontmatter.List:
		if declared != verbatim { // a type that is assigned to the property is not that of its elements
			declared = ""
		}
		items := make([]formula.Value, 0, len(w.List()))
		for _, item := range w.List() {
			items = append(items, v.value(item, declared, from))
		}
		return formula.OfList(items)
	case frontmatter.Map:
		fields := &formula.Fields{}
		for _, field := range w.Fields() {
			fields.Keys = append(fields.Keys, field.Key)
			fields.Values = append(fields.Values, v.value(field.Value, "", from))
		}
		return formula.OfFields(fields)
	case frontmatter.String:
		// A text is converted by its form, or by its declared type.
		text := w.Text()
		switch declared {
		case verbatim:
			return formula.OfText(text)
		case "number":
			if n, ok := formula.ParseNumber(text); ok && strings.TrimSpace(text) != "" {
				return formula.OfNumber(n)
			}
		case "checkbox":
			if text == "true" || text == "false" {
				return formula.OfBool(text == "true")
			}
		}
		if text == "" {
			return formula.OfText(text)
		}
		if t, ok := formula.ParseLink(text, from); ok {
			return formula.OfTarget(t)
		}
		if c := text[0]; c >= '0' && c <= '9' && declared != "text" {
			if m, ok := formula.ParseProperty(text, v.Now.Location()); ok {
				return formula.OfMoment(m)
			}
		}
		if strings.Contains(text, "://") && !strings.ContainsAny(text, " \t\n") {
			if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.Host != "" {
				return formula.OfURL(text)
			}
		}
		return formula.OfText(text)
	}
	return formula.Value{}
}
