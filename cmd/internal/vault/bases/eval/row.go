package eval

import (
	"strings"

	"vaultwicket/cmd/internal/vault/bases/syntax"
	"vaultwicket/cmd/internal/vault/bases/value"
)

// Row is a file for which expressions are evaluated. Each formula is evaluated
// once.
type Row struct {
	*Session
	entry    value.Entry
	formulas map[*Program]*cell
}

// cell is a formula of a row. While it has no value, it is being evaluated.
type cell struct {
	value value.Value
	known bool
}

// Row returns the row of a file. That of nil has no properties, and its file is
// null: it is for expressions about values alone.
func (s *Session) Row(e value.Entry) *Row {
	if e == nil {
		e = noFile
	}
	return &Row{Session: s, entry: e}
}

// Entry returns the file of the row.
func (r *Row) Entry() value.Entry { return r.entry }

// Eval evaluates an expression.
func (r *Row) Eval(p *Program) value.Value { return r.run(p, nil) }

// EvalValues evaluates the expression of a summary, in which values is the list
// of the values of a column.
func (r *Row) EvalValues(p *Program, values value.Value) value.Value {
	return r.run(p, &scope{values: &values})
}

func (r *Row) run(p *Program, s *scope) value.Value {
	switch {
	case p.broken != "":
		return value.Failure(p.broken)
	case p.err != nil:
		return value.Failure(p.err.Error())
	}
	if r.depth >= maxDepth {
		return value.Failure("Formulas and calls are nested too deeply.")
	}
	r.depth++
	defer func() { r.depth-- }()
	e := evaluation{row: r, program: p}
	alive, kept := r.alive, r.kept
	v := e.eval(p.node, s)
	r.let(alive + r.kept - kept) // of what it took, the formulas stay
	return v
}

// Cycle is what the app says of a formula that needs its own value.
const Cycle = "Infinite loop detected in formula"

// Formula returns the value of a formula, null if there is none of that name.
func (r *Row) Formula(name string) value.Value {
	p := r.Formulas[name]
	if p == nil {
		return value.Value{}
	}
	c := r.formulas[p]
	switch {
	case c == nil:
		if r.formulas == nil {
			r.formulas = make(map[*Program]*cell, len(r.Formulas))
		}
		c = &cell{}
		r.formulas[p] = c
		c.value = r.run(p, nil)
		c.known = true
		if size := int64(c.value.Deep()); r.hold(c.value) {
			r.alive, r.kept = r.alive+size-int64(c.value.Shallow()), r.kept+size
		}
	case !c.known:
		return value.Failure(Cycle)
	}
	return c.value
}

// Property returns the value of a property of the row, null if it has none.
func (r *Row) Property(name string) value.Value { return property(r.entry, name) }

func property(e value.Entry, name string) value.Value {
	v, _ := e.Property(name)
	return v
}

// scope is what a name means within the argument of a list method.
type scope struct {
	outer    *scope
	element  value.Value
	index    int
	inLambda bool
	acc      value.Value
	hasAcc   bool
	values   *value.Value // of a summary
}

// lookup returns what a name means in the scope, and false if it means nothing
// there.
func (s *scope) lookup(name string) (value.Value, bool) {
	for ; s != nil; s = s.outer {
		switch {
		case s.inLambda && name == "value":
			return s.element, true
		case s.inLambda && name == "index":
			return value.OfNumber(float64(s.index)), true
		case s.hasAcc && name == "acc":
			return s.acc, true
		case s.values != nil && name == "values":
			return *s.values, true
		}
	}
	return value.Value{}, false
}

// evaluation is one expression that is being evaluated.
type evaluation struct {
	row     *Row
	program *Program
}

// namespace returns what of a row a name stands for, "" if it is a name like any
// other.
func namespace(n syntax.Node) string {
	if name, ok := n.(*syntax.Name); ok {
		switch name.Text {
		case "note", "file", "formula", "this":
			return name.Text
		}
	}
	return ""
}

// Cell returns the value of a property by its id: file.x, formula.x, note.x, or x
// alone, which is note.x. It is null for what does not exist.
func (r *Row) Cell(id string) value.Value {
	space, name, found := strings.Cut(id, ".")
	switch {
	case found && space == "file":
		if !IsFileField(name) {
			return value.Value{}
		}
		return r.fileField(r.entry, name)
	case found && space == "formula":
		return r.Formula(name)
	case found && space == "note":
		return r.Property(name)
	}
	return r.Property(id)
}
