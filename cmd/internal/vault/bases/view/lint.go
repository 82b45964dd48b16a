package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/eval"
	"vaultwicket/cmd/internal/vault/bases/syntax"
)

// references notes what a base refers to and does not have: functions, formulas
// and summaries. Nothing of it keeps the base from being answered.
func (r *reader) references() {
	for _, name := range slices.Sorted(maps.Keys(r.base.Formulas)) {
		r.inProgram(fmt.Sprintf("Formula %q: ", name), r.base.Formulas[name], 0)
	}
	for _, name := range slices.Sorted(maps.Keys(r.base.Summaries)) {
		r.inProgram(fmt.Sprintf("Summary %q: ", name), r.base.Summaries[name], 0)
	}
	r.inFilter("Filters: ", r.base.Filter)
	for _, v := range r.base.Views {
		where := fmt.Sprintf("View %q: ", v.Name)
		r.inFilter(where, v.Filter)
		for _, id := range idsOf(v) {
			r.inID(where, id)
		}
		for _, s := range v.Summaries {
			if _, own := r.base.Summaries[s.Name]; !own && !eval.IsSummary(s.Name) {
				r.warn(0, "%sno summary is called %q", where, s.Name)
			}
		}
	}
}

// idsOf returns the properties that a view names.
func idsOf(v View) []string {
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
	return ids
}

func (r *reader) inID(where, id string) {
	if name, ok := strings.CutPrefix(id, "formula."); ok && r.base.Formulas[name] == nil {
		r.warn(0, "%sno formula is called %q", where, name)
	}
	if name, ok := strings.CutPrefix(id, "file."); ok && !eval.IsFileField(name) {
		r.warn(0, "%sa file has no field %q", where, name)
	}
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

func (r *reader) inProgram(where string, p *eval.Program, line int) {
	if p.Node() == nil {
		return
	}
	syntax.Walk(p.Node(), func(n syntax.Node) {
		text := r.unknown(n)
		if text == "" {
			return
		}
		r.base.Problems = append(r.base.Problems, Problem{Line: line, Text: where + text, Position: syntax.Units(p.Source(), n.Position()), Expression: p.Source()})
	})
}

// unknown says what a part of an expression refers to that does not exist, "" if
// there is nothing to say.
func (r *reader) unknown(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.Call:
		if name, ok := n.Function.(*syntax.Name); ok && !eval.IsFunction(name.Text) {
			return `Cannot find function "` + name.Text + `"`
		}
	case *syntax.Member:
		if of, ok := n.X.(*syntax.Name); ok && of.Text == "formula" && r.base.Formulas[n.Name] == nil {
			return fmt.Sprintf("no formula is called %q", n.Name)
		}
	}
	return ""
}
