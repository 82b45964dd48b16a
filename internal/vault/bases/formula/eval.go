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

// eval evaluates a node. It returns an error as soon as a part of the node is an error.
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
			items[i] = e.eval(item, s)
			if items[i].IsError() {
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

// name returns the value of a name: a variable of the scope, a namespace, or a property.
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

// binary evaluates operands from left to right. It walks the chain of left operands, which may be long,
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

// operate applies the operator of n to the value of its left operand and to its right operand.
func (e *evaluation) operate(n *BinaryNode, left Value, s *scope) Value {
	if left.IsError() {
		return left
	}
	if n.Op == And || n.Op == Or {
		if left.Truthy() == (n.Op == Or) {
			return OfBool(n.Op == Or) // the right operand is not evaluated
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

// inNamespace returns the value of a name in the namespace note, file, formula or this. ok is false if n is
// not a namespace.
func (e *evaluation) inNamespace(n Node, name string) (v Value, ok bool) {
	switch namespace(n) {
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

// index evaluates x[key].
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
	object := e.eval(n.X, s)
	switch object.Kind() {
	case Null, Error:
		return object
	case List:
		items := object.Items()
		n := key.Num()
		isWhole := key.Kind() == Number && n == float64(int(n))
		if !isWhole || n < 0 || int(n) >= len(items) {
			return Value{}
		}
		return items[int(n)]
	case Object:
		return object.Fields().Lookup(key.Text())
	}
	return failure(`Cannot access index "` + key.Text() + `" of non-array value`)
}

// field returns the field of a value with a name.
func (r *Row) field(v Value, name string) Value {
	switch v.Kind() {
	case Null, Error:
		return v
	case Object:
		return v.Fields().Lookup(name)
	case File:
		return r.fileField(v.Entry(), name)
	case Date:
		m, _ := v.Moment()
		if part := dateFields[strings.ToLower(name)]; part != nil {
			return OfNumber(float64(part(m.Time)))
		}
	case Duration:
		if divisors, known := durationFields[strings.ToLower(name)]; known {
			span, _ := v.Span()
			n := span.Milliseconds(r.Now) // months and days are counted from now
			for _, divisor := range divisors {
				n /= divisor
			}
			return OfNumber(n)
		}
	case List:
		if name == "length" {
			return OfNumber(float64(v.Len()))
		}
	default:
		if v.Kind().isText() && name == "length" {
			n := 0
			for _, c := range v.Text() {
				n += max(1, utf16.RuneLen(c)) // in UTF-16 code units, as in JavaScript
			}
			return OfNumber(float64(n))
		}
	}
	return failure(`Cannot find "` + name + `" on type ` + v.Kind().String())
}

// dateFields are the fields of a date, in the local time zone.
var dateFields = map[string]func(time.Time) int{
	"year":        time.Time.Year,
	"month":       func(t time.Time) int { return int(t.Month()) },
	"day":         time.Time.Day,
	"hour":        time.Time.Hour,
	"minute":      time.Time.Minute,
	"second":      time.Time.Second,
	"millisecond": func(t time.Time) int { return t.Nanosecond() / 1e6 },
	"timestamp":   func(t time.Time) int { return int(t.UnixMilli()) },
}

// function is a function or method.
type function struct {
	// params are the names and kinds of the parameters. A parameter of kind Null accepts every kind.
	params   []param
	required int // minimum number of arguments
	// isVariadic allows any number of arguments after params.
	isVariadic bool
	// hasLambda means that the first argument is an expression that is evaluated for each element.
	hasLambda bool
	run       func(*call) Value
}

// param is a parameter.
type param struct {
	name string
	kind Kind
}

// call is a call of a function.
type call struct {
	*evaluation
	name  string
	on    Value // the value whose method is called
	args  []Value
	nodes []Node // the arguments, not evaluated
	scope *scope
}

// arg returns an argument, or null if it is missing.
func (c *call) arg(i int) Value {
	if i >= len(c.args) {
		return Value{}
	}
	return c.args[i]
}

// call evaluates a call.
func (e *evaluation) call(n *CallNode, s *scope) Value {
	if e.row.depth >= maxDepth {
		return failure("Formulas and calls are nested too deeply.")
	}
	e.row.depth++
	defer func() { e.row.depth-- }()
	switch f := n.Function.(type) {
	case *NameNode:
		if f.Text == "if" {
			return e.choose(n, s)
		}
		global, known := allTables().globals[f.Text]
		if !known {
			return failure(`Cannot find function "` + f.Text + `"`)
		}
		return e.apply(global, &call{evaluation: e, name: f.Text, nodes: n.Args, scope: s})
	case *MemberNode:
		return e.method(n, f, s)
	}
	if v := e.eval(n.Function, s); v.IsError() {
		return v
	}
	return failure(`Cannot find function ""`)
}

// choose evaluates if(): the condition and only one of the branches.
func (e *evaluation) choose(n *CallNode, s *scope) Value {
	if v := countArgs("if", len(n.Args), 2, 3); v.IsError() {
		return v
	}
	condition := e.eval(n.Args[0], s)
	switch {
	case condition.IsError():
		return condition
	case condition.Truthy():
		return e.eval(n.Args[1], s)
	case len(n.Args) == 3:
		return e.eval(n.Args[2], s)
	}
	return Value{}
}

// method evaluates the call of a method.
func (e *evaluation) method(n *CallNode, f *MemberNode, s *scope) Value {
	on := e.eval(f.X, s)
	c := &call{evaluation: e, name: f.Name, on: on, nodes: n.Args, scope: s}
	switch {
	case on.IsError():
		return on
	case on.IsNull(): // methods of null return null, except tests of its content
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
	// The method of the kind, that of texts if the value is a text, or a method of all kinds.
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

// countArgs returns an error for too few or too many arguments, otherwise null.
func countArgs(name string, count, minCount, maxCount int) Value {
	switch {
	case count < minCount:
		return failure(`Cannot call function "` + name + `", not enough arguments.`)
	case count > maxCount:
		return failure(`Cannot call function "` + name + `", too many arguments.`)
	}
	return Value{}
}

// apply evaluates the arguments, checks them and runs a function.
func (e *evaluation) apply(f function, c *call) Value {
	maxCount := len(f.params)
	if f.isVariadic {
		maxCount = len(c.nodes)
	}
	if v := countArgs(c.name, len(c.nodes), f.required, maxCount); v.IsError() {
		return v
	}
	c.args = make([]Value, len(c.nodes))
	size := c.on.Size()
	for i, n := range c.nodes {
		if i == 0 && f.hasLambda {
			continue
		}
		v := e.eval(n, c.scope)
		if !v.IsError() && i < len(f.params) {
			v = checkKind(c.name, f.params[i], v)
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

// checkKind returns v, or an error if a parameter does not accept its kind.
func checkKind(function string, p param, v Value) Value {
	isText := p.kind == String && v.Kind().isText()
	if isText || p.kind == Null || p.kind == v.Kind() {
		return v
	}
	where := `Type error in "` + function + `", parameter "` + p.name + `". `
	return failure(where + `Expected ` + p.kind.String() + `, given ` + v.Kind().String() + `.`)
}

// each evaluates the first argument for every element of the list and calls do with the element and the
// result. It returns the first error, otherwise null.
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

// tables have all functions and methods.
type tables struct {
	globals map[string]function          // functions that are not methods, except if(), see choose
	any     map[string]function          // methods of every kind
	kinds   map[Kind]map[string]function // methods by kind; kinds that are texts also have those of String
}

// allTables returns the tables, which are made on first use.
var allTables func() tables

// It is set here because the functions in the tables refer to it.
func init() { allTables = sync.OnceValue(makeTables) }

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
	unary := func(name string, kind Kind, run func(*call) Value) function {
		return function{params: []param{{name, kind}}, required: 1, run: run}
	}
	return map[string]function{
		"date":       unary("input", Null, (*call).date),
		"duration":   unary("value", Null, (*call).duration),
		"now":        {run: func(c *call) Value { return OfMoment(Moment{Time: c.row.Now, HasTime: true}) }},
		"today":      {run: func(c *call) Value { return OfMoment(Moment{Time: c.row.Now}.Day()) }},
		"list":       unary("element", Null, (*call).listOf),
		"number":     unary("input", Null, (*call).number),
		"min":        {required: 1, isVariadic: true, run: func(c *call) Value { return c.extreme(math.Min) }},
		"max":        {required: 1, isVariadic: true, run: func(c *call) Value { return c.extreme(math.Max) }},
		"link":       {params: []param{{"path", Null}, {"display", Null}}, required: 1, run: (*call).link},
		"file":       unary("path", Null, (*call).file),
		"image":      unary("path", Null, (*call).image),
		"icon":       unary("name", Null, textual(func(name string) Value { return Value{kind: Icon, text: name} })),
		"html":       unary("html", Null, textual(func(text string) Value { return Value{kind: HTML, text: text} })),
		"escapeHTML": unary("html", Null, textual(func(s string) Value { return bounded(escapeHTML.Replace(s)) })),
		"random":     {run: func(c *call) Value { return OfNumber(c.row.Random()) }},
	}
}

// methodsOfAll returns the methods of every kind.
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
		"asFile": {run: func(c *call) Value { return ofEntry(c.row.targetOf(c.on, c.row.path())) }},
		"linksTo": {params: []param{{"file", Null}}, required: 1, run: func(c *call) Value {
			from := c.row.targetOf(c.on, c.row.path())
			to := c.row.targetOf(c.arg(0), c.row.path())
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
			isMatch := false
			failed := c.row.eachMatch(c.on, c.arg(0).Text(), func(*Match) bool {
				isMatch = true
				return false
			})
			if failed.IsError() {
				return failed
			}
			return OfBool(isMatch)
		}},
	}
}

// IsFunction reports whether there is a function with a name that is not a method.
func IsFunction(name string) bool {
	_, known := allTables().globals[name]
	return known || name == "if"
}

// Functions returns the sorted names of the functions that are not methods.
func Functions() []string {
	names := append(slices.Collect(maps.Keys(allTables().globals)), "if")
	slices.Sort(names)
	return names
}

// IsMethod reports whether values of any kind have a method with a name.
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

// Methods returns the sorted names of the methods of all kinds.
func Methods() []string {
	names := slices.Collect(maps.Keys(allTables().any))
	for _, methods := range allTables().kinds {
		names = slices.AppendSeq(names, maps.Keys(methods))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// IsOfFiles reports whether files have a method with a name.
func IsOfFiles(name string) bool {
	_, known := allTables().kinds[File][name]
	return known
}

// IsPart reports whether dates or durations have a field with a name, which is in lower case.
func IsPart(name string) bool {
	_, isOfDuration := durationFields[name]
	return dateFields[name] != nil || isOfDuration
}
