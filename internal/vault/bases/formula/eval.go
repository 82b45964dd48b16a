package formula

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

func (e *evaluation) eval(n Node, s *scope) Value {
	if !e.row.spend(1) {
		return e.row.ended()
	}
	switch n := n.(type) {
	case *NumberNode:
		return OfNumber(n.Value)
	case *StringNode:
		return OfText(n.Value)
	case *BoolNode:
		return OfBool(n.Value)
	case *RegexNode:
		return e.program.patterns[n]
	case *NameNode:
		return e.name(n, s)
	case *ListNode:
		items := make([]Value, len(n.Items))
		for i, item := range n.Items {
			if items[i] = e.eval(item, s); items[i].IsError() {
				return items[i]
			}
		}
		return e.row.made(OfList(items))
	case *UnaryNode:
		switch v := e.eval(n.X, s); {
		case v.IsError():
			return v
		case n.Op == Not:
			return OfBool(!v.Truthy())
		case v.kind == Null:
			return v
		case v.kind == Number:
			return OfNumber(-v.number)
		case v.kind == Duration:
			span, _ := v.Span()
			return OfSpan(span.times(-1))
		default:
			return failure("Invalid operator between Number and " + v.kind.String())
		}
	case *BinaryNode:
		return e.binary(n, s)
	case *MemberNode:
		if v, ok := e.inNamespace(n.X, n.Name); ok {
			return v
		}
		return e.row.field(e.eval(n.X, s), n.Name)
	case *IndexNode:
		return e.index(n, s)
	case *CallNode:
		return e.call(n, s)
	}
	return Value{} // null, and an empty expression
}

// name returns the value of a name that is bound in the scope, or the meaning that it has in every
// expression.
func (e *evaluation) name(n *NameNode, s *scope) Value {
	for ; s != nil; s = s.outer {
		switch {
		case s.inLambda && n.Text == "value":
			return s.element
		case s.inLambda && n.Text == "index":
			return OfNumber(float64(s.index))
		case s.hasAcc && n.Text == "acc":
			return s.acc
		case s.values != nil && n.Text == "values":
			return *s.values
		}
	}
	switch namespace(n) {
	case "file":
		return e.row.fileField(e.row.entry, "file")
	case "this":
		return ofEntry(e.row.This)
	case "note":
		if e.row.entry == nil {
			return Value{}
		}
		return e.row.entry.Properties()
	case "formula":
		f := &Fields{}
		for _, name := range slices.Sorted(maps.Keys(e.row.Formulas)) {
			f.Keys = append(f.Keys, name)
			f.Values = append(f.Values, e.row.Formula(name))
		}
		return OfFields(f)
	}
	return e.row.Property(n.Text)
}

// binary evaluates from left to right. The chain of left operands, which may be long, is walked
// without recursion.
func (e *evaluation) binary(n *BinaryNode, s *scope) Value {
	var chain []*BinaryNode
	var first Node = n
	for {
		b, ok := first.(*BinaryNode)
		if !ok {
			break
		}
		chain = append(chain, b)
		first = b.X
	}
	left := e.eval(first, s)
	for i := len(chain) - 1; i >= 0; i-- {
		left = e.operate(chain[i], left, s)
	}
	return left
}

func (e *evaluation) operate(n *BinaryNode, left Value, s *scope) Value {
	if left.IsError() {
		return left
	}
	if n.Op == And || n.Op == Or {
		if left.Truthy() == (n.Op == Or) {
			return OfBool(n.Op == Or) // the other side is not evaluated
		}
		right := e.eval(n.Y, s)
		if right.IsError() {
			return right
		}
		return OfBool(right.Truthy())
	}
	right := e.eval(n.Y, s)
	if right.IsError() {
		return right
	}
	if !e.row.spend(1 + min(left.Size(), right.Size())/bytesRead) {
		return e.row.ended()
	}
	switch n.Op {
	case Equal:
		return OfBool(e.row.Equal(left, right))
	case NotEqual:
		return OfBool(!e.row.Equal(left, right))
	case Less, Greater, LessEqual, GreaterEqual:
		c, ok := e.row.Compare(left, right)
		switch n.Op {
		case Less:
			return OfBool(ok && c < 0)
		case Greater:
			return OfBool(ok && c > 0)
		case LessEqual:
			return OfBool(ok && c <= 0)
		}
		return OfBool(ok && c >= 0)
	}
	return e.row.made(e.row.calculate(n.Op, left, right))
}

// inNamespace returns the meaning of a name after note, file, formula or this; ok is false
// after anything else.
func (e *evaluation) inNamespace(of Node, name string) (v Value, ok bool) {
	switch namespace(of) {
	case "note":
		return e.row.Property(name), true
	case "formula":
		return e.row.Formula(name), true
	case "this":
		switch {
		case e.row.This == nil:
			return Value{}, true
		case name == "file":
			return ofEntry(e.row.This), true
		case name == "note":
			return e.row.This.Properties(), true
		}
		v, _ = e.row.This.Property(name)
		return v, true
	case "file":
		return e.row.fileField(e.row.entry, name), true
	}
	return Value{}, false
}

func (e *evaluation) index(n *IndexNode, s *scope) Value {
	key := e.eval(n.Key, s)
	if key.IsError() {
		return key
	}
	if key.Kind() == String {
		if v, ok := e.inNamespace(n.X, key.Text()); ok {
			return v
		}
	}
	of := e.eval(n.X, s)
	switch of.Kind() {
	case Null, Error:
		return of
	case List:
		items := of.Items()
		n := key.Num()
		isWhole := key.Kind() == Number && n == float64(int(n))
		if !isWhole || n < 0 || int(n) >= len(items) {
			return Value{}
		}
		return items[int(n)]
	case Object:
		return of.Fields().Lookup(key.Text())
	}
	return failure(`Cannot access index "` + key.Text() + `" of non-array value`)
}

// field returns a field of a value.
func (r *Row) field(of Value, name string) Value {
	switch of.Kind() {
	case Null, Error:
		return of
	case Object:
		return of.Fields().Lookup(name)
	case File:
		return r.fileField(of.Entry(), name)
	case Date:
		m, _ := of.Moment()
		if part := dateFields[strings.ToLower(name)]; part != nil {
			return OfNumber(float64(part(m.Time)))
		}
	case Duration:
		if divisors, known := lengths[strings.ToLower(name)]; known {
			span, _ := of.Span()
			n := span.Milliseconds(r.Now) // months and days are counted from now
			for _, by := range divisors {
				n /= by
			}
			return OfNumber(n)
		}
	case List:
		if name == "length" {
			return OfNumber(float64(of.Len()))
		}
	default:
		if of.Kind().isText() && name == "length" {
			n := 0
			for _, c := range of.Text() {
				n += max(1, utf16.RuneLen(c)) // in UTF-16 code units, as in JavaScript
			}
			return OfNumber(float64(n))
		}
	}
	return failure(`Cannot find "` + name + `" on type ` + of.Kind().String())
}

// dateFields are the parts of a date in the local zone by name.
var dateFields = map[string]func(time.Time) int{
	"year": time.Time.Year, "month": func(t time.Time) int { return int(t.Month()) }, "day": time.Time.Day,
	"hour": time.Time.Hour, "minute": time.Time.Minute, "second": time.Time.Second,
	"millisecond": func(t time.Time) int { return t.Nanosecond() / 1e6 }, "timestamp": func(t time.Time) int { return int(t.UnixMilli()) },
}

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
	nodes []Node
	scope *scope
}

// arg returns an argument, null if it is not given.
func (c *call) arg(i int) Value {
	if i >= len(c.args) {
		return Value{}
	}
	return c.args[i]
}

func (e *evaluation) call(n *CallNode, s *scope) Value {
	if e.row.depth >= maxDepth {
		return failure("Formulas and calls are nested too deeply.")
	}
	e.row.depth++
	defer func() { e.row.depth-- }()
	switch f := n.Function.(type) {
	case *NameNode:
		if f.Text == "if" {
			// It evaluates the condition and one of the branches.
			if v := countArgs("if", len(n.Args), 2, 3); v.IsError() {
				return v
			}
			switch condition := e.eval(n.Args[0], s); {
			case condition.IsError():
				return condition
			case condition.Truthy():
				return e.eval(n.Args[1], s)
			case len(n.Args) == 3:
				return e.eval(n.Args[2], s)
			}
			return Value{}
		}
		global, known := allTables().globals[f.Text]
		if !known {
			return failure(`Cannot find function "` + f.Text + `"`)
		}
		return e.apply(global, &call{evaluation: e, name: f.Text, nodes: n.Args, scope: s})
	case *MemberNode:
		on := e.eval(f.X, s)
		c := &call{evaluation: e, name: f.Name, on: on, nodes: n.Args, scope: s}
		switch {
		case on.IsError():
			return on
		case on.IsNull(): // a method of null is null, except those that ask about its content
			switch f.Name {
			case "isEmpty":
				return OfBool(true)
			case "toString":
				return OfText("")
			case "isTruthy", "contains", "containsAll", "containsAny":
				return OfBool(false)
			case "isType":
				return e.apply(allTables().any[f.Name], c)
			}
			return Value{}
		}
		// Its own method, that of a text where the kind is one, or one that every value has.
		method, known := allTables().kinds[on.Kind()][f.Name]
		if !known && on.Kind().isText() {
			method, known = allTables().kinds[String][f.Name]
		}
		if !known {
			method, known = allTables().any[f.Name]
		}
		if !known {
			return failure(`Cannot find function "` + f.Name + `" on type ` + on.Kind().String())
		}
		return e.apply(method, c)
	}
	if v := e.eval(n.Function, s); v.IsError() {
		return v
	}
	return failure(`Cannot find function ""`)
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
	isText := p.kind == String && v.Kind().isText()
	if isText || p.kind == Null || p.kind == v.Kind() {
		return v
	}
	return failure(
		`Type error in "` + function + `", parameter "` + p.name + `". Expected ` + p.kind.String() + `, given ` + v.Kind().
			String() +
			`.`,
	)
}

// each evaluates the first argument for every element of the list. It returns the first error,
// otherwise null.
func (c *call) each(inner scope, do func(item, v Value, s *scope)) Value {
	inner.outer = c.scope
	inner.inLambda = true
	for i, item := range c.on.Items() {
		inner.element = item
		inner.index = i
		v := c.eval(c.nodes[0], &inner)
		if v.IsError() {
			return v
		}
		do(item, v, &inner)
	}
	return Value{}
}

// tables are the functions and methods.
type tables struct {
	globals map[string]function          // that are not methods; if() is not among them, see choose
	any     map[string]function          // methods of every kind
	kinds   map[Kind]map[string]function // every kind that is a text also has those of String
}

// allTables makes them at first use.
var allTables func() tables

func init() { allTables = sync.OnceValue(makeTables) } // the functions in them read them

func makeTables() tables {
	return tables{
		globals: globalFunctions(),
		any:     methodsOfAll(),
		kinds: map[Kind]map[string]function{
			String: textMethods(),
			Number: numberMethods(),
			Date:   dateMethods(),
			List:   listMethods(),
			File:   fileMethods(),
			Link:   linkMethods(),
			Object: objectMethods(),
			RegExp: regexMethods(),
		},
	}
}

func globalFunctions() map[string]function {
	one := func(name string, kind Kind, run func(*call) Value) function {
		return function{params: []param{{name, kind}}, required: 1, run: run}
	}
	return map[string]function{
		"date":       one("input", Null, (*call).date),
		"duration":   one("value", Null, (*call).duration),
		"now":        {run: func(c *call) Value { return OfMoment(Moment{Time: c.row.Now, HasTime: true}) }},
		"today":      {run: func(c *call) Value { return OfMoment(Moment{Time: c.row.Now}.Day()) }},
		"list":       one("element", Null, (*call).listOf),
		"number":     one("input", Null, (*call).number),
		"min":        {required: 1, more: true, run: func(c *call) Value { return c.extreme(math.Min) }},
		"max":        {required: 1, more: true, run: func(c *call) Value { return c.extreme(math.Max) }},
		"link":       {params: []param{{"path", Null}, {"display", Null}}, required: 1, run: (*call).link},
		"file":       one("path", Null, (*call).file),
		"image":      one("path", Null, (*call).image),
		"icon":       one("name", Null, textual(func(name string) Value { return Value{kind: Icon, text: name} })),
		"html":       one("html", Null, textual(func(text string) Value { return Value{kind: HTML, text: text} })),
		"escapeHTML": one("html", Null, textual(func(s string) Value { return bounded(escapeHTML.Replace(s)) })),
		"random":     {run: func(c *call) Value { return OfNumber(c.row.Random()) }},
	}
}

// methodsOfAll returns the methods of values of every kind.
func methodsOfAll() map[string]function {
	return map[string]function{
		"isTruthy": {run: func(c *call) Value { return OfBool(c.on.Truthy()) }},
		"isEmpty":  {run: func(c *call) Value { return OfBool(c.on.Empty()) }},
		"toString": {run: func(c *call) Value { return bounded(c.on.Text()) }},
		"isType": {params: []param{{"type", String}}, required: 1, run: func(c *call) Value {
			return OfBool(strings.EqualFold(c.on.Kind().String(), c.arg(0).Text()))
		}},
	}
}

func linkMethods() map[string]function {
	return map[string]function{
		"asFile": {run: func(c *call) Value { return ofEntry(c.row.meant(c.on, c.row.path())) }},
		"linksTo": {params: []param{{"file", Null}}, required: 1, run: func(c *call) Value {
			from := c.row.meant(c.on, c.row.path())
			to := c.row.meant(c.arg(0), c.row.path())
			return OfBool(from != nil && to != nil && c.row.Leads(from, to))
		}},
	}
}

func objectMethods() map[string]function {
	return map[string]function{
		"keys": {run: func(c *call) Value {
			var keys []Value
			for _, key := range c.on.Fields().Keys {
				keys = append(keys, OfText(key))
			}
			return OfList(keys)
		}},
		"values": {run: func(c *call) Value { return OfList(c.on.Fields().Values) }},
	}
}

func regexMethods() map[string]function {
	return map[string]function{
		"matches": {params: []param{{"value", Null}}, required: 1, run: func(c *call) Value {
			if c.arg(0).IsNull() {
				return OfBool(false)
			}
			matched := false
			failed := c.row.eachMatch(
				c.on,
				c.arg(0).Text(),
				func(*Match) bool { matched = true; return false },
			)
			if failed.IsError() {
				return failed
			}
			return OfBool(matched)
		}},
	}
}

// IsFunction reports whether a function exists that is not a method.
func IsFunction(name string) bool {
	_, known := allTables().globals[name]
	return known || name == "if"
}

// Functions returns the names of the functions that are not methods, sorted.
func Functions() []string {
	names := append(slices.Collect(maps.Keys(allTables().globals)), "if")
	slices.Sort(names)
	return names
}

// IsMethod reports whether values of some kind have a method with that name.
func IsMethod(name string) bool {
	if _, known := allTables().any[name]; known {
		return true
	}
	for _, methods := range allTables().kinds {
		if _, known := methods[name]; known {
			return true
		}
	}
	return false
}

// Methods returns the names of the methods of all kinds, sorted.
func Methods() []string {
	names := slices.Collect(maps.Keys(allTables().any))
	for _, methods := range allTables().kinds {
		names = slices.AppendSeq(names, maps.Keys(methods))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// IsOfFiles reports whether a method is one of files.
func IsOfFiles(name string) bool {
	_, known := allTables().kinds[File][name]
	return known
}

// IsPart reports whether a date or a duration has a part with that name in lower case.
func IsPart(name string) bool {
	_, ofDuration := lengths[name]
	return dateFields[name] != nil || ofDuration
}
