package formula

import (
	"context"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
)

// Program is a compiled expression.
type Program struct {
	source   string
	node     Node
	err      *SyntaxError
	broken   string // the error that it is, without an expression
	patterns map[*RegexNode]Value
}

// Compile compiles an expression. One that does not parse evaluates to its error.
func Compile(source string) *Program {
	p := &Program{source: source, patterns: map[*RegexNode]Value{}}
	node, err := Parse(source)
	if err != nil {
		p.err = err.(*SyntaxError) // Parse has no others
		return p
	}
	p.node = node
	Walk(node, func(n Node) {
		if literal, ok := n.(*RegexNode); ok {
			compiled, err := CompileRegex(literal.Body, RegexFlags{
				IgnoreCase: strings.Contains(literal.Flags, "i"), Multiline: strings.Contains(literal.Flags, "m"),
				DotAll: strings.Contains(literal.Flags, "s"), Unicode: strings.ContainsAny(literal.Flags, "uv"),
			}, budget.Default.Match)
			if err != nil {
				p.patterns[literal] = failure("Invalid regular expression: /" + literal.Body + "/: " + err.Error())
				return
			}
			p.patterns[literal] = Value{kind: RegExp, ref: &pattern{literal.Body, literal.Flags, compiled}}
		}
	})
	return p
}

// Source returns the expression as it is written.
func (p *Program) Source() string { return p.source }

// IsEmpty reports whether the expression is blank.
func (p *Program) IsEmpty() bool {
	return p.broken == "" && strings.TrimFunc(p.source, IsSpace) == ""
}

// Problem returns the syntax error, nil if there is none.
func (p *Program) Problem() *SyntaxError { return p.err }

// Node returns the syntax tree, nil if the expression does not parse.
func (p *Program) Node() Node { return p.node }

// Broken returns a program that evaluates to an error with a sentence.
func Broken(sentence string) *Program { return &Program{broken: sentence} }

// Environment is what expressions can read.
type Environment struct {
	World
	// Backlinks returns the links to the files that link to a file, in the order of listings,
	// each displayed as the name without extension.
	Backlinks func(Entry) Value
	// Leads reports whether a link or an embed of one file leads to another.
	Leads func(from, to Entry) bool
	// Dangles reports whether a file may have an unresolved link to path, ignoring case. False
	// positives are allowed.
	Dangles func(from Entry, path string) bool
	// Random returns a number in [0, 1).
	Random func() float64
	// This is the file named this, nil if there is none.
	This Entry
	// Formulas are the formulas of the base by name.
	Formulas map[string]*Program
}

// Session is the evaluation of one query within the budget of its context. It is not safe for
// concurrent use.
type Session struct {
	Environment
	budget *budget.Budget
	steps  int
	unpaid int // of the steps
	err    error
	depth  int
	files  map[fileKey]Entry

	// alive is the bytes of live values, kept the part of them in cached formulas, and held the
	// bytes taken from the budget for them.
	alive, kept, held int64
}

const (
	maxDepth = 200 // formulas and calls within each other
	// payEvery is how many steps are taken from the budget at once, holdStep how many bytes.
	payEvery = 256
	holdStep = 64 << 10
)

// NewSession starts a query with the budget of ctx.
func NewSession(ctx context.Context, env Environment) *Session {
	return &Session{Environment: env, budget: budget.From(ctx), files: map[fileKey]Entry{}}
}

// Err returns the error of the budget that ended the session, nil if none did. Values evaluated
// after it are meaningless.
func (s *Session) Err() error { return s.err }

// Steps returns the number of steps taken.
func (s *Session) Steps() int { return s.steps }

// spend counts n steps and reports whether the budget allows them.
func (s *Session) spend(n int) bool {
	s.steps += n
	if s.unpaid += n; s.err == nil && s.unpaid >= payEvery {
		s.err = s.budget.Step(int64(s.unpaid))
		s.unpaid = 0
	}
	return s.err == nil
}

// hold counts the bytes of a new value and reports whether the budget allows them.
func (s *Session) hold(v Value) bool {
	if s.alive += int64(v.shallow()); s.err == nil && s.alive > s.held {
		more := max(holdStep, s.alive-s.held)
		if s.err = s.budget.Hold(more); s.err == nil {
			s.held += more
		}
	}
	return s.err == nil
}

// let sets the bytes of live values, and releases spare bytes of the budget.
func (s *Session) let(alive int64) {
	s.alive = alive
	if spare := s.held - alive; spare > 16*holdStep {
		s.budget.Release(spare - holdStep)
		s.held -= spare - holdStep
	}
}

// Keep counts a value of the answer and reports whether the budget allows it.
func (s *Session) Keep(v Value) bool {
	if s.err == nil {
		s.err = s.budget.Put(int64(v.deep()))
	}
	return s.err == nil
}

// Forgetting calls do and, unless it returns true, releases the formulas evaluated in it.
func (s *Session) Forgetting(do func() (keep bool)) bool {
	alive := s.alive
	kept := s.kept
	keep := do()
	if !keep {
		s.kept = kept
		s.let(alive)
	}
	return keep
}

// ended is the value of every expression after the session has ended.
func (s *Session) ended() Value { return failure(s.err.Error()) }

// Bytes per step: bytes read, and bytes of a new value.
const (
	bytesRead = 64
	bytesMade = 16
)

// made counts the cost of a new value.
func (s *Session) made(v Value) Value {
	if !s.spend(v.Size()/bytesMade) || !s.hold(v) {
		return s.ended()
	}
	return v
}

// fileKey is a link target and the file that contains it.
type fileKey struct{ name, from string }

// maxFiles bounds the cache of resolved links.
const maxFiles = 4096

// Row is a file for which expressions are evaluated. Each formula is evaluated once.
type Row struct {
	*Session
	entry    Entry // may be nil
	formulas map[*Program]*cell
}

// cell is a formula of a row; while known is false it is being evaluated.
type cell struct {
	value Value
	known bool
}

// Row returns the row of a file. The row of nil has no properties and a null file.
func (s *Session) Row(e Entry) *Row { return &Row{Session: s, entry: e} }

// Entry returns the file of the row.
func (r *Row) Entry() Entry { return r.entry }

// path returns the path of the file, "" for none.
func (r *Row) path() string {
	if r.entry == nil {
		return ""
	}
	return r.entry.Path()
}

// Eval evaluates an expression.
func (r *Row) Eval(p *Program) Value { return r.run(p, nil) }

// EvalValues evaluates the expression of a summary, where the name values is the list of the
// values of a column.
func (r *Row) EvalValues(p *Program, values Value) Value {
	return r.run(p, &scope{values: &values})
}

func (r *Row) run(p *Program, s *scope) Value {
	switch {
	case p.broken != "":
		return failure(p.broken)
	case p.err != nil:
		return failure(p.err.Error())
	}
	if r.depth >= maxDepth {
		return failure("Formulas and calls are nested too deeply.")
	}
	r.depth++
	defer func() { r.depth-- }()
	e := evaluation{row: r, program: p}
	alive := r.alive
	kept := r.kept
	v := e.eval(p.node, s)
	r.let(alive + r.kept - kept) // of what it took, the formulas stay
	return v
}

// Cycle is the sentence of the app about a formula that needs its own value.
const Cycle = "Infinite loop detected in formula"

// Formula returns the value of a formula, null for an unknown name.
func (r *Row) Formula(name string) Value {
	p := r.Formulas[name]
	if p == nil {
		return Value{}
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
		if size := int64(c.value.deep()); r.hold(c.value) {
			r.alive = r.alive + size - int64(c.value.shallow())
			r.kept = r.kept + size
		}
	case !c.known:
		return failure(Cycle)
	}
	return c.value
}

// Property returns the value of a property of the row, null if it has none.
func (r *Row) Property(name string) (v Value) {
	if r.entry != nil {
		v, _ = r.entry.Property(name)
	}
	return v
}

// scope binds names in the argument of a list method or in a summary.
type scope struct {
	outer    *scope
	element  Value
	index    int
	inLambda bool
	acc      Value
	hasAcc   bool
	values   *Value // of a summary
}

// evaluation is the evaluation of one expression.
type evaluation struct {
	row     *Row
	program *Program
}

// namespace returns note, file, formula or this if n is one of these names, otherwise "".
func namespace(n Node) string {
	if name, ok := n.(*NameNode); ok {
		switch name.Text {
		case "note", "file", "formula", "this":
			return name.Text
		}
	}
	return ""
}

// SplitID returns the namespace of a property and its name there by its id: file.x, formula.x,
// note.x, or x, which is note.x.
func SplitID(id string) (space, name string) {
	space, name, found := strings.Cut(id, ".")
	if found && IsNamespace(space) {
		return space, name
	}
	return "note", id
}

// IsNamespace reports whether a name is that of a namespace of properties: file, formula or note.
func IsNamespace(name string) bool {
	switch name {
	case "file", "formula", "note":
		return true
	}
	return false
}

// Cell returns the value of a property by its id, see [SplitID]. It is null if it does not exist.
func (r *Row) Cell(id string) Value {
	switch space, name := SplitID(id); {
	case space == "formula":
		return r.Formula(name)
	case space == "note":
		return r.Property(name)
	case IsFileField(name):
		return r.fileField(r.entry, name)
	}
	return Value{}
}
