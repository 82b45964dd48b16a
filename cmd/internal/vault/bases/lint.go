package bases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/bases/syntax"
)

// references reports references to functions, formulas, fields and summaries that do not
// exist, and formulas that need their own value, as warnings.
func (r *reader) references() {
	for _, name := range slices.Sorted(maps.Keys(r.base.Formulas)) {
		line := r.lines["formula "+name]
		r.inProgram(fmt.Sprintf("Formula %q: ", name), r.base.Formulas[name], line)
		if r.needs(name, name, map[string]bool{}) {
			r.warn(line, "Formula %q: %s", name, formula.Cycle)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.base.Summaries)) {
		r.inProgram(fmt.Sprintf("Summary %q: ", name), r.base.Summaries[name], r.lines["summary "+name])
	}
	r.inFilter("Filters: ", r.base.Filter)
	for i, v := range r.base.Views {
		line, where := r.views[i], fmt.Sprintf("View %q: ", v.Name)
		r.inFilter(where, v.Filter)
		ids := slices.Clone(v.Order)
		for _, key := range v.Sort {
			ids = append(ids, key.Property)
		}
		if v.Group != nil {
			ids = append(ids, v.Group.Property)
		}
		for _, s := range v.Summaries {
			ids = append(ids, s.Property)
		}
		for _, id := range ids {
			if name, ok := strings.CutPrefix(id, "formula."); ok && r.base.Formulas[name] == nil {
				r.warn(line, "%sno formula is called %q", where, name)
			}
			if name, ok := strings.CutPrefix(id, "file."); ok && !formula.IsFileField(name) {
				r.warn(line, "%sa file has no field %q", where, name)
			}
		}
		for _, s := range v.Summaries {
			if _, own := r.base.Summaries[s.Name]; !own && !formula.IsSummary(s.Name) {
				r.warn(line, "%sno summary is called %q", where, s.Name)
			}
		}
	}
}

// needs reports whether a formula refers to the wanted one, directly or through others.
func (r *reader) needs(name, wanted string, seen map[string]bool) bool {
	p := r.base.Formulas[name]
	if p == nil || p.Node() == nil || seen[name] {
		return false
	}
	seen[name] = true
	found := false
	syntax.Walk(p.Node(), func(n syntax.Node) {
		if of, ok := formulaOf(n); ok && !found {
			found = of == wanted || r.needs(of, wanted, seen)
		}
	})
	return found
}

// formulaOf returns the name in formula.x or formula["x"].
func formulaOf(n syntax.Node) (string, bool) {
	switch n := n.(type) {
	case *syntax.Member:
		of, ok := n.X.(*syntax.Name)
		return n.Name, ok && of.Text == "formula"
	case *syntax.Index:
		of, isName := n.X.(*syntax.Name)
		key, isText := n.Key.(*syntax.String)
		if isName && isText && of.Text == "formula" {
			return key.Value, true
		}
	}
	return "", false
}

func (r *reader) inFilter(where string, f *Filter) {
	switch {
	case f == nil:
	case f.Expression != nil:
		r.inProgram(where, f.Expression, f.Line)
	default:
		for _, part := range f.Parts {
			r.inFilter(where, part)
		}
	}
}

func (r *reader) inProgram(where string, p *formula.Program, line int) {
	if p.Node() == nil {
		return
	}
	syntax.Walk(p.Node(), func(n syntax.Node) {
		text, at := r.unknown(n)
		if text == "" {
			return
		}
		r.base.Problems = append(r.base.Problems, Problem{Line: line, Text: where + text, Position: syntax.Units(p.Source(), at), Expression: p.Source()})
	})
}

// unknown describes a reference of a node that does not exist, and its place in bytes; ""
// if there is none.
func (r *reader) unknown(n syntax.Node) (text string, at int) {
	if name, ok := formulaOf(n); ok && r.base.Formulas[name] == nil {
		return fmt.Sprintf("no formula is called %q", name), n.Position()
	}
	call, ok := n.(*syntax.Call)
	if !ok {
		return "", 0
	}
	if name, ok := call.Function.(*syntax.Name); ok && !formula.IsFunction(name.Text) {
		return `Cannot find function "` + name.Text + `"`, name.Position()
	}
	return "", 0
}

// Implied is what a note needs to pass the filters of a view, as far as they require it
// directly: a property that equals a literal, a tag, a link, or a folder.
type Implied struct {
	// Folder is where the note has to be: "/" is the vault's own folder, "" is any.
	Folder string
	Tags   []string // without "#"
	Links  []string // to the files that it has to link to
	// Properties are those that the columns of the view name, which may be anything,
	// and those that have to have a value.
	Properties []ImpliedProperty
}

// ImpliedProperty is a property of a note to be made.
type ImpliedProperty struct {
	Name  string
	Value formula.Value // null: any
}

// Implied returns the requirements of the filters of the base and of a view. Statements under
// or and not are ignored.
func (b *Base) Implied(v View) Implied {
	var i Implied
	for _, id := range v.Order {
		space, name, found := strings.Cut(id, ".")
		switch {
		case !found || space != "file" && space != "formula" && space != "note":
			i.set(id, formula.Value{})
		case space == "note":
			i.set(name, formula.Value{})
		}
	}
	for _, s := range append(b.Filter.statements(), v.Filter.statements()...) {
		if s.Expression != nil && s.Expression.Node() != nil {
			i.from(s.Expression.Node())
		}
	}
	return i
}

// set notes a property. A value takes the place of none.
func (i *Implied) set(name string, v formula.Value) {
	for n := range i.Properties {
		if i.Properties[n].Name == name {
			if i.Properties[n].Value.IsNull() {
				i.Properties[n].Value = v
			}
			return
		}
	}
	i.Properties = append(i.Properties, ImpliedProperty{name, v})
}

// from adds the requirements of a statement, and those of both sides of &&.
func (i *Implied) from(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Binary:
		switch n.Op {
		case syntax.And:
			i.from(n.X)
			i.from(n.Y)
		case syntax.Equal:
			i.equal(n.X, n.Y)
			i.equal(n.Y, n.X)
		}
	case *syntax.Call:
		i.called(n)
	}
}

// equal adds a property, or the folder, that equals a literal.
func (i *Implied) equal(x, y syntax.Node) {
	v, isLiteral := literal(y)
	if !isLiteral {
		return
	}
	if isFileMember(x, "folder") && v.Kind() == formula.String {
		i.Folder = v.Text()
		return
	}
	if name, ok := propertyName(x); ok && name != "tags" {
		i.set(name, v)
	}
}

// called adds those of file.inFolder("x"), file.hasTag("x"), tags.contains("x"), file.hasLink("x") and
// file.hasLink(link("x")).
func (i *Implied) called(n *syntax.Call) {
	method, ok := n.Function.(*syntax.Member)
	if !ok || len(n.Args) == 0 {
		return
	}
	first := n.Args[0]
	if link, ok := first.(*syntax.Call); ok && method.Name == "hasLink" && len(link.Args) > 0 {
		if f, ok := link.Function.(*syntax.Name); ok && f.Text == "link" {
			first = link.Args[0]
		}
	}
	v, isLiteral := literal(first)
	if !isLiteral || v.Kind() != formula.String {
		return
	}
	of, _ := method.X.(*syntax.Name)
	onFile := of != nil && of.Text == "file"
	property, isProperty := propertyName(method.X)
	switch {
	case onFile && method.Name == "inFolder":
		i.Folder = v.Text()
	case onFile && method.Name == "hasLink" && !strings.ContainsAny(v.Text(), "[]|\r\n"):
		i.Links = append(i.Links, v.Text())
	case onFile && method.Name == "hasTag",
		method.Name == "contains" && (isProperty && property == "tags" || isFileMember(method.X, "tags")):
		i.Tags = append(i.Tags, strings.TrimPrefix(v.Text(), "#"))
	}
}

func isFileMember(n syntax.Node, name string) bool {
	m, ok := n.(*syntax.Member)
	if !ok || m.Name != name {
		return false
	}
	of, ok := m.X.(*syntax.Name)
	return ok && of.Text == "file"
}

// propertyName returns the name in x, note.x or note["x"].
func propertyName(n syntax.Node) (string, bool) {
	switch n := n.(type) {
	case *syntax.Name:
		switch n.Text {
		case "file", "note", "formula", "this":
			return "", false
		}
		return n.Text, true
	case *syntax.Member:
		of, ok := n.X.(*syntax.Name)
		return n.Name, ok && of.Text == "note"
	case *syntax.Index:
		of, isName := n.X.(*syntax.Name)
		key, isText := n.Key.(*syntax.String)
		if isName && isText && of.Text == "note" {
			return key.Value, true
		}
	}
	return "", false
}

func literal(n syntax.Node) (formula.Value, bool) {
	switch n := n.(type) {
	case *syntax.String:
		return formula.OfText(n.Value), true
	case *syntax.Number:
		return formula.OfNumber(n.Value), true
	case *syntax.Bool:
		return formula.OfBool(n.Value), true
	}
	return formula.Value{}, false
}
