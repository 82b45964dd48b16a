package eval

import (
	"maps"
	"slices"

	"vaultwicket/cmd/internal/vault/bases/syntax"
	"vaultwicket/cmd/internal/vault/bases/value"
)

// function is a row of the tables of functions and methods.
type function struct {
	// params are the names and the kinds of the parameters; the kind Null takes
	// every value. The first required ones have to be given.
	params   []param
	required int
	// more takes any number of values behind params.
	more bool
	// lambda says that the first argument is evaluated anew for each element.
	lambda bool
	run    func(*call) value.Value
}

type param struct {
	name string
	kind value.Kind
}

// call is a function with its arguments.
type call struct {
	*evaluation
	name  string
	on    value.Value // of a method
	args  []value.Value
	nodes []syntax.Node
	scope *scope
}

// arg returns an argument, null if it is not given.
func (c *call) arg(i int) value.Value {
	if i >= len(c.args) {
		return value.Value{}
	}
	return c.args[i]
}

func (e *evaluation) call(n *syntax.Call, s *scope) value.Value {
	if e.row.depth >= maxDepth {
		return value.Failure("Formulas and calls are nested too deeply.")
	}
	e.row.depth++
	defer func() { e.row.depth-- }()
	switch f := n.Function.(type) {
	case *syntax.Name:
		return e.global(f.Text, n.Args, s)
	case *syntax.Member:
		on := e.eval(f.X, s)
		return e.method(on, f.Name, n.Args, s)
	}
	if v := e.eval(n.Function, s); v.IsError() {
		return v
	}
	return value.Failure(`Cannot find function ""`)
}

func (e *evaluation) global(name string, args []syntax.Node, s *scope) value.Value {
	if name == "if" {
		return e.choose(args, s)
	}
	f, known := globals()[name]
	if !known {
		return value.Failure(`Cannot find function "` + name + `"`)
	}
	return e.apply(f, &call{evaluation: e, name: name, nodes: args, scope: s})
}

// choose evaluates the condition of if() and then one of the two others.
func (e *evaluation) choose(args []syntax.Node, s *scope) value.Value {
	if v := countArgs("if", len(args), 2, 3); v.IsError() {
		return v
	}
	switch condition := e.eval(args[0], s); {
	case condition.IsError():
		return condition
	case condition.Truthy():
		return e.eval(args[1], s)
	case len(args) == 3:
		return e.eval(args[2], s)
	}
	return value.Value{}
}

// countArgs returns an error for too few or too many arguments.
func countArgs(name string, given, least, most int) value.Value {
	switch {
	case given < least:
		return value.Failure(`Cannot call function "` + name + `", not enough arguments.`)
	case given > most:
		return value.Failure(`Cannot call function "` + name + `", too many arguments.`)
	}
	return value.Value{}
}

// method calls a method. Of null every one is null, but for those that ask
// whether something is there.
func (e *evaluation) method(on value.Value, name string, args []syntax.Node, s *scope) value.Value {
	switch {
	case on.IsError():
		return on
	case on.IsNull():
		return e.ofNull(name, args, s)
	}
	f, known := methodOf(on.Kind(), name)
	if !known {
		return value.Failure(`Cannot find function "` + name + `" on type ` + on.Kind().String())
	}
	return e.apply(f, &call{evaluation: e, name: name, on: on, nodes: args, scope: s})
}

func (e *evaluation) ofNull(name string, args []syntax.Node, s *scope) value.Value {
	switch name {
	case "isEmpty":
		return value.OfBool(true)
	case "toString":
		return value.OfText("")
	case "isTruthy", "contains", "containsAll", "containsAny":
		return value.OfBool(false)
	case "isType":
		return e.apply(anyMethods()[name], &call{evaluation: e, name: name, nodes: args, scope: s})
	}
	return value.Value{}
}

// methodOf finds the method of a kind: its own, that of a text where the kind is
// one, or one that every value has.
func methodOf(kind value.Kind, name string) (function, bool) {
	if f, ok := methods()[kind][name]; ok {
		return f, true
	}
	if kind.IsText() {
		if f, ok := methods()[value.String][name]; ok {
			return f, true
		}
	}
	f, ok := anyMethods()[name]
	return f, ok
}

// apply evaluates the arguments, checks them and runs a function.
func (e *evaluation) apply(f function, c *call) value.Value {
	most := len(f.params)
	if f.more {
		most = len(c.nodes)
	}
	if v := countArgs(c.name, len(c.nodes), f.required, most); v.IsError() {
		return v
	}
	c.args = make([]value.Value, len(c.nodes))
	size := c.on.Size()
	for i, n := range c.nodes {
		if i == 0 && f.lambda {
			continue
		}
		v := e.eval(n, c.scope)
		if !v.IsError() && i < len(f.params) {
			v = checked(c.name, f.params[i], v)
		}
		if v.IsError() {
			return v
		}
		c.args[i] = v
		size += v.Size()
	}
	if !e.row.spend(size / bytesRead) {
		return e.row.ended()
	}
	return e.row.made(f.run(c))
}

// checked returns v, or an error if it is not of the kind that a parameter takes.
func checked(function string, p param, v value.Value) value.Value {
	if p.kind == value.Null || p.kind == v.Kind() || p.kind == value.String && v.Kind().IsText() {
		return v
	}
	return value.Failure(`Type error in "` + function + `", parameter "` + p.name + `". Expected ` + p.kind.String() + `, given ` + v.Kind().String() + `.`)
}

// each evaluates the first argument for every element, until do returns false.
// The result is an error of one of them, else null.
func (c *call) each(items []value.Value, inner scope, do func(i int, v value.Value, s *scope) bool) value.Value {
	inner.outer, inner.inLambda = c.scope, true
	for i, item := range items {
		inner.element, inner.index = item, i
		v := c.eval(c.nodes[0], &inner)
		if v.IsError() {
			return v
		}
		if !do(i, v, &inner) {
			break
		}
	}
	return value.Value{}
}

// sortedNames returns the keys of a map in order.
func sortedNames[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }
