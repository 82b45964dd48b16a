package formula

import (
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/bases/syntax"
	"vaultwicket/cmd/internal/vault/regex"
)

// function is a function or method.
type function struct {
	// params are the names and kinds of the parameters; Null takes every kind. The first
	// required ones are mandatory.
	params   []param
	required int
	// more allows any number of arguments after params.
	more bool
	// lambda means that the first argument is evaluated for each element.
	lambda bool
	run    func(*call) Value
}

type param struct {
	name string
	kind Kind
}

// call is a function with its arguments.
type call struct {
	*evaluation
	name  string
	on    Value // of a method
	args  []Value
	nodes []syntax.Node
	scope *scope
}

// arg returns an argument, null if it is not given.
func (c *call) arg(i int) Value {
	if i >= len(c.args) {
		return Value{}
	}
	return c.args[i]
}

func (e *evaluation) call(n *syntax.Call, s *scope) Value {
	if e.row.depth >= maxDepth {
		return failure("Formulas and calls are nested too deeply.")
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
	return failure(`Cannot find function ""`)
}

func (e *evaluation) global(name string, args []syntax.Node, s *scope) Value {
	if name == "if" {
		return e.choose(args, s)
	}
	f, known := globals()[name]
	if !known {
		return failure(`Cannot find function "` + name + `"`)
	}
	return e.apply(f, &call{evaluation: e, name: name, nodes: args, scope: s})
}

// choose is if(): it evaluates the condition and one of the branches.
func (e *evaluation) choose(args []syntax.Node, s *scope) Value {
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
	return Value{}
}

// countArgs returns an error for too few or too many arguments.
func countArgs(name string, given, least, most int) Value {
	switch {
	case given < least:
		return failure(`Cannot call function "` + name + `", not enough arguments.`)
	case given > most:
		return failure(`Cannot call function "` + name + `", too many arguments.`)
	}
	return Value{}
}

// method calls a method. Of null every one is null, except those that ask about its content.
func (e *evaluation) method(on Value, name string, args []syntax.Node, s *scope) Value {
	switch {
	case on.IsError():
		return on
	case on.IsNull():
		switch name {
		case "isEmpty":
			return OfBool(true)
		case "toString":
			return OfText("")
		case "isTruthy", "contains", "containsAll", "containsAny":
			return OfBool(false)
		case "isType":
			return e.apply(anyMethods()[name], &call{evaluation: e, name: name, nodes: args, scope: s})
		}
		return Value{}
	}
	// Its own method, that of a text where the kind is one, or one that every value has.
	f, known := methods()[on.Kind()][name]
	if !known && on.Kind().isText() {
		f, known = methods()[String][name]
	}
	if !known {
		f, known = anyMethods()[name]
	}
	if !known {
		return failure(`Cannot find function "` + name + `" on type ` + on.Kind().String())
	}
	return e.apply(f, &call{evaluation: e, name: name, on: on, nodes: args, scope: s})
}

// apply evaluates the arguments, checks them and runs a function.
func (e *evaluation) apply(f function, c *call) Value {
	most := len(f.params)
	if f.more {
		most = len(c.nodes)
	}
	if v := countArgs(c.name, len(c.nodes), f.required, most); v.IsError() {
		return v
	}
	c.args = make([]Value, len(c.nodes))
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

// checked returns v, or an error if a parameter does not take its kind.
func checked(function string, p param, v Value) Value {
	if p.kind == Null || p.kind == v.Kind() || p.kind == String && v.Kind().isText() {
		return v
	}
	return failure(`Type error in "` + function + `", parameter "` + p.name + `". Expected ` + p.kind.String() + `, given ` + v.Kind().String() + `.`)
}

// each evaluates the first argument for every element, until do returns false. It returns the
// first error, otherwise null.
func (c *call) each(items []Value, inner scope, do func(i int, v Value, s *scope) bool) Value {
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
	return Value{}
}

// tables are the functions and methods. They are made at first use, because they refer to
// functions that read them.
var tables struct {
	once    sync.Once
	globals map[string]function
	any     map[string]function
	kinds   map[Kind]map[string]function
}

func makeTables() {
	tables.globals = globalFunctions()
	tables.any = map[string]function{
		"isTruthy": {run: func(c *call) Value { return OfBool(c.on.Truthy()) }},
		"isEmpty":  {run: func(c *call) Value { return OfBool(c.on.Empty()) }},
		"toString": {run: func(c *call) Value { return bounded(c.on.Text()) }},
		"isType": {params: []param{{"type", String}}, required: 1, run: func(c *call) Value {
			return OfBool(strings.EqualFold(c.on.Kind().String(), c.arg(0).Text()))
		}},
	}
	tables.kinds = map[Kind]map[string]function{
		String: textMethods(), Number: numberMethods(), Date: dateMethods(), List: listMethods(), File: fileMethods(),
		Link: {
			"asFile": {run: func(c *call) Value { return ofEntry(c.row.meant(c.on, c.row.entry)) }},
			"linksTo": {params: []param{{"file", Null}}, required: 1, run: func(c *call) Value {
				from := c.row.meant(c.on, c.row.entry)
				to := c.row.meant(c.arg(0), c.row.entry)
				return OfBool(from != nil && to != nil && c.row.Leads(from, to))
			}},
		},
		Object: {
			"keys": {run: func(c *call) Value {
				var keys []Value
				for _, key := range c.on.Fields().Keys {
					keys = append(keys, OfText(key))
				}
				return OfList(keys)
			}},
			"values": {run: func(c *call) Value { return OfList(c.on.Fields().Values) }},
		},
		RegExp: {
			"matches": {params: []param{{"value", Null}}, required: 1, run: func(c *call) Value {
				if c.arg(0).IsNull() {
					return OfBool(false)
				}
				matched := false
				failed := c.row.eachMatch(c.on, c.arg(0).Text(), false, func(*regex.Match) bool { matched = true; return false })
				if failed.IsError() {
					return failed
				}
				return OfBool(matched)
			}},
		},
	}
}

// globals returns the functions that are not methods; if() is not among them, see choose.
func globals() map[string]function {
	tables.once.Do(makeTables)
	return tables.globals
}

// anyMethods returns the methods of every kind.
func anyMethods() map[string]function {
	tables.once.Do(makeTables)
	return tables.any
}

// methods returns the methods by kind. Every kind that is a text also has those of String.
func methods() map[Kind]map[string]function {
	tables.once.Do(makeTables)
	return tables.kinds
}

// IsFunction reports whether a function exists that is not a method.
func IsFunction(name string) bool {
	_, known := globals()[name]
	return known || name == "if"
}
