package formula

import (
	"maps"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/syntax"
)

func (e *evaluation) eval(n syntax.Node, s *scope) Value {
	if !e.row.spend(1) {
		return e.row.ended()
	}
	switch n := n.(type) {
	case *syntax.Number:
		return OfNumber(n.Value)
	case *syntax.String:
		return OfText(n.Value)
	case *syntax.Bool:
		return OfBool(n.Value)
	case *syntax.Regex:
		return e.program.patterns[n]
	case *syntax.Name:
		return e.name(n, s)
	case *syntax.List:
		items := make([]Value, len(n.Items))
		for i, item := range n.Items {
			if items[i] = e.eval(item, s); items[i].IsError() {
				return items[i]
			}
		}
		return e.row.made(OfList(items))
	case *syntax.Unary:
		return e.unary(n, s)
	case *syntax.Binary:
		return e.binary(n, s)
	case *syntax.Member:
		if v, ok := e.inNamespace(n.X, n.Name); ok {
			return v
		}
		return e.row.field(e.eval(n.X, s), n.Name)
	case *syntax.Index:
		return e.index(n, s)
	case *syntax.Call:
		return e.call(n, s)
	}
	return Value{} // null, and an empty expression
}

func (e *evaluation) name(n *syntax.Name, s *scope) Value {
	if v, ok := s.lookup(n.Text); ok {
		return v
	}
	switch namespace(n) {
	case "file":
		return e.row.fileField(e.row.entry, "file")
	case "this":
		return ofEntry(e.row.This)
	case "note":
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

func (e *evaluation) unary(n *syntax.Unary, s *scope) Value {
	switch v := e.eval(n.X, s); {
	case v.IsError():
		return v
	case n.Op == syntax.Not:
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
}

// binary evaluates from left to right. The chain of left operands, which may be long, is walked
// without recursion.
func (e *evaluation) binary(n *syntax.Binary, s *scope) Value {
	var chain []*syntax.Binary
	var first syntax.Node = n
	for {
		b, ok := first.(*syntax.Binary)
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

func (e *evaluation) operate(n *syntax.Binary, left Value, s *scope) Value {
	if left.IsError() {
		return left
	}
	if n.Op == syntax.And || n.Op == syntax.Or {
		if left.Truthy() == (n.Op == syntax.Or) {
			return OfBool(n.Op == syntax.Or) // the other side is not evaluated
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
	case syntax.Equal:
		return OfBool(e.row.Equal(left, right))
	case syntax.NotEqual:
		return OfBool(!e.row.Equal(left, right))
	case syntax.Less, syntax.Greater, syntax.LessEqual, syntax.GreaterEqual:
		c, ok := e.row.Compare(left, right)
		switch n.Op {
		case syntax.Less:
			return OfBool(ok && c < 0)
		case syntax.Greater:
			return OfBool(ok && c > 0)
		case syntax.LessEqual:
			return OfBool(ok && c <= 0)
		}
		return OfBool(ok && c >= 0)
	}
	return e.row.made(e.row.calculate(n.Op, left, right))
}

// inNamespace returns the meaning of a name after note, file, formula or this; ok is false
// after anything else.
func (e *evaluation) inNamespace(of syntax.Node, name string) (v Value, ok bool) {
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
		return property(e.row.This, name), true
	case "file":
		return e.row.fileField(e.row.entry, name), true
	}
	return Value{}, false
}

func (e *evaluation) index(n *syntax.Index, s *scope) Value {
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
		return element(of.Items(), key)
	case Object:
		return of.Fields().Lookup(key.Text())
	}
	return failure(`Cannot access index "` + key.Text() + `" of non-array value`)
}

// element returns an element of a list, null where there is none.
func element(items []Value, key Value) Value {
	n := key.Num()
	if key.Kind() != Number || n != float64(int(n)) || n < 0 || int(n) >= len(items) {
		return Value{}
	}
	return items[int(n)]
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
		if v, ok := dateField(m, name); ok {
			return v
		}
	case Duration:
		span, _ := of.Span()
		if n, ok := span.Field(name, r.Now); ok {
			return OfNumber(n)
		}
	case List:
		if name == "length" {
			return OfNumber(float64(of.Len()))
		}
	default:
		if of.Kind().isText() && name == "length" {
			return OfNumber(float64(unitLength(of.Text())))
		}
	}
	return failure(`Cannot find "` + name + `" on type ` + of.Kind().String())
}

// dateField returns a part of a date in the local zone; name is case-insensitive.
func dateField(m Moment, name string) (Value, bool) {
	t, n := m.Time, 0
	switch strings.ToLower(name) {
	case "year":
		n = t.Year()
	case "month":
		n = int(t.Month())
	case "day":
		n = t.Day()
	case "hour":
		n = t.Hour()
	case "minute":
		n = t.Minute()
	case "second":
		n = t.Second()
	case "millisecond":
		n = t.Nanosecond() / 1e6
	case "timestamp":
		return OfNumber(float64(t.UnixMilli())), true
	default:
		return Value{}, false
	}
	return OfNumber(float64(n)), true
}
