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
	broken   string // message of the error that the program evaluates to, see Broken
	patterns map[*RegexNode]Value
}

// Compile compiles an expression. An expression with a syntax error evaluates to that error.
func Compile(source string) *Program {
	p := &Program{source: source, patterns: map[*RegexNode]Value{}}
	node, err := Parse(source)
	if err != nil {
		p.err = err.(*SyntaxError) // Parse returns no other errors
		return p
	}
	p.node = node
	Walk(node, func(n Node) {
		if literal, ok := n.(*RegexNode); ok {
			flags := RegexFlags{
				IgnoreCase: strings.Contains(literal.Flags, "i"),
				Multiline:  strings.Contains(literal.Flags, "m"),
				DotAll:     strings.Contains(literal.Flags, "s"),
				Unicode:    strings.ContainsAny(literal.Flags, "uv"),
			}
			compiled, err := CompileRegex(literal.Body, flags, budget.Default.Match)
			if err != nil {
				p.patterns[literal] = failure("Invalid regular expression: /" + literal.Body + "/: " + err.Error())
				return
			}
			p.patterns[literal] = Value{kind: RegExp, ref: &pattern{literal.Body, literal.Flags, compiled}}
		}
	})
	return p
}

// Source returns the text of the expression.
func (p *Program) Source() string { return p.source }

// IsEmpty reports whether the expression is blank.
func (p *Program) IsEmpty() bool {
	return p.broken == "" && strings.TrimFunc(p.source, IsSpace) == ""
}

// Problem returns the syntax error, or nil.
func (p *Program) Problem() *SyntaxError { return p.err }

// Node returns the syntax tree, or nil if there is a syntax error.
func (p *Program) Node() Node { return p.node }

// Broken returns a program that evaluates to an error with a message.
func Broken(message string) *Program { return &Program{broken: message} }

// Environment is what expressions can access.
type Environment struct {
	World
	// Backlinks returns links to the files that link to a file, in the order of listings. The display
	// text of each is the name without extension.
	Backlinks func(Entry) Value
	// Leads reports whether a link or an embed in the file from leads to the file to.
	Leads func(from, to Entry) bool
	// Dangles reports whether a file may have a link to path, ignoring case, that does not resolve.
	// False positives are allowed.
	Dangles func(from Entry, path string) bool
	// Random returns a number in [0, 1).
	Random func() float64
	// This is the file that "this" stands for, or nil.
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
	unpaid int // steps not yet charged to budget
	err    error
	depth  int
	files  map[fileKey]Entry

	// alive is the number of bytes of live values, kept is the part of them in cached formulas, and held
	// is the number of bytes reserved in the budget for them.
	alive, kept, held int64
}

const (
	maxDepth = 200 // nested formulas and calls
	// payEvery is how many steps, and holdStep how many bytes, are charged to the budget at once.
	payEvery = 256
	holdStep = 64 << 10
)

// NewSession begins a query with the budget of ctx.
func NewSession(ctx context.Context, env Environment) *Session {
	return &Session{Environment: env, budget: budget.From(ctx), files: map[fileKey]Entry{}}
}

// Err returns the budget error that ended the session, or nil. Values that are evaluated after it are
// meaningless.
func (s *Session) Err() error { return s.err }

// Steps returns the number of steps taken.
func (s *Session) Steps() int { return s.steps }

// spend charges n steps and reports whether the budget allows them.
func (s *Session) spend(n int) bool {
	s.steps += n
	s.unpaid += n
	if s.err == nil && s.unpaid >= payEvery {
		s.err = s.budget.Step(int64(s.unpaid))
		s.unpaid = 0
	}
	return s.err == nil
}

// hold charges the bytes of a new value and reports whether the budget allows them.
func (s *Session) hold(v Value) bool {
	s.alive += int64(v.shallow())
	if s.err == nil && s.alive > s.held {
		missing := max(holdStep, s.alive-s.held)
		s.err = s.budget.Hold(missing)
		if s.err == nil {
			s.held += missing
		}
	}
	return s.err == nil
}

// setAlive sets the number of bytes of live values, and releases spare bytes of the budget.
func (s *Session) setAlive(alive int64) {
	s.alive = alive
	if spare := s.held - alive; spare > 16*holdStep {
		s.budget.Release(spare - holdStep)
		s.held -= spare - holdStep
	}
}

// Keep charges a value of the answer and reports whether the budget allows it.
func (s *Session) Keep(v Value) bool {
	if s.err == nil {
		s.err = s.budget.Put(int64(v.deep()))
	}
	return s.err == nil
}

// Forgetting calls do and returns its result. If that is false, it releases the memory of the formulas that were
// evaluated in do.
func (s *Session) Forgetting(do func() (keep bool)) bool {
	alive := s.alive
	kept := s.kept
	keep := do()
	if !keep {
		s.kept = kept
		s.setAlive(alive)
	}
	return keep
}

// ended returns the value of every expression after the session has ended.
func (s *Session) ended() Value { return failure(s.err.Error()) }

// How many bytes that are read, and how many bytes of a new value, cost a step.
const (
	bytesRead = 64
	bytesMade = 16
)

// made charges the cost of a new value. It returns the value, or the error of the session.
func (s *Session) made(v Value) Value {
	if !s.spend(v.Size()/bytesMade) || !s.hold(v) {
		return s.ended()
	}
	return v
}

// fileKey is a link target with the path of the file that contains the link.
type fileKey struct{ name, from string }

// maxFiles is the maximum number of resolved links in the cache.
const maxFiles = 4096

// Row is a file for which expressions are evaluated. Each formula is evaluated only once.
type Row struct {
	*Session
	entry    Entry // may be nil
	formulas map[*Program]*cell
}

// cell is the value of a formula of a row. isKnown is false while the formula is being evaluated.
type cell struct {
	value   Value
	isKnown bool
}

// Row returns the row of a file. If e is nil, the row has no properties, and its file is null.
func (s *Session) Row(e Entry) *Row { return &Row{Session: s, entry: e} }

// Entry returns the file of the row.
func (r *Row) Entry() Entry { return r.entry }

// path returns the path of the file, or "" if there is none.
func (r *Row) path() string {
	if r.entry == nil {
		return ""
	}
	return r.entry.Path()
}

// Eval evaluates an expression.
func (r *Row) Eval(p *Program) Value { return r.run(p, nil) }

// EvalValues evaluates the expression of a summary, in which the variable values is the list of the values of a
// column.
func (r *Row) EvalValues(p *Program, values Value) Value {
	return r.run(p, &scope{values: &values})
}

// run evaluates an expression in a scope.
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
	r.setAlive(alive + r.kept - kept) // only the cached formulas stay in memory
	return v
}

// Cycle is the message of the app about a formula that depends on itself.
const Cycle = "Infinite loop detected in formula"

// Formula returns the value of a formula, or null if there is no formula with that name.
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
		c.isKnown = true
		size := int64(c.value.deep())
		if r.hold(c.value) {
			r.alive += size - int64(c.value.shallow())
			r.kept += size
		}
	case !c.isKnown:
		return failure(Cycle)
	}
	return c.value
}

// Property returns the value of a property of the row, or null if the row does not have it.
func (r *Row) Property(name string) (v Value) {
	if r.entry != nil {
		v, _ = r.entry.Property(name)
	}
	return v
}

// scope has the variables in the argument of a list method or in a summary.
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

// namespace returns the name if n is one of the names note, file, formula and this, otherwise "".
func namespace(n Node) string {
	if name, ok := n.(*NameNode); ok {
		switch name.Text {
		case "note", "file", "formula", "this":
			return name.Text
		}
	}
	return ""
}

// SplitID splits the id of a property into its namespace and its name: file.x, formula.x, note.x, or x, which is
// note.x.
func SplitID(id string) (namespace, name string) {
	namespace, name, found := strings.Cut(id, ".")
	if found && IsNamespace(namespace) {
		return namespace, name
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

// Cell returns the value of a property by its id, see [SplitID], or null if there is no such property.
func (r *Row) Cell(id string) Value {
	switch namespace, name := SplitID(id); {
	case namespace == "formula":
		return r.Formula(name)
	case namespace == "note":
		return r.Property(name)
	case IsFileField(name):
		return r.fileField(r.entry, name)
	}
	return Value{}
}
