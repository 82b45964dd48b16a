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
