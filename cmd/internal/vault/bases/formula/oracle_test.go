package formula

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
)

// The oracle is a second, slow statement of a part of the language: it works on
// trees of its own and on Go values (nil, bool, float64, string, []any and oops),
// shares no code with the evaluator, and writes each tree as an expression.

// oops is an error; which one does not matter.
type oops struct{}

type tree interface {
	write() string
	want(names map[string]any) any
}

type (
	leaf   struct{ v any }
	ident  struct{ name string }
	prefix struct {
		op string
		x  tree
	}
	infix struct {
		op   string
		x, y tree
	}
	choice struct{ c, a, b tree }
	array  struct{ items []tree }
	filter struct {
		list, test tree
	}
	mapping struct {
		list, with tree
	}
	fold struct {
		list, with, from tree
	}
	at struct{ list, place tree }
)

func (l leaf) write() string {
	switch v := l.v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(l.v)
}
func (i ident) write() string  { return i.name }
func (p prefix) write() string { return p.op + "(" + p.x.write() + ")" }
func (i infix) write() string  { return "(" + i.x.write() + ") " + i.op + " (" + i.y.write() + ")" }
func (c choice) write() string {
	return "if(" + c.c.write() + ", " + c.a.write() + ", " + c.b.write() + ")"
}

func (a array) write() string {
	var parts []string
	for _, item := range a.items {
		parts = append(parts, item.write())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
func (f filter) write() string  { return "(" + f.list.write() + ").filter(" + f.test.write() + ")" }
func (m mapping) write() string { return "(" + m.list.write() + ").map(" + m.with.write() + ")" }
func (f fold) write() string {
	return "(" + f.list.write() + ").reduce(" + f.with.write() + ", " + f.from.write() + ")"
}
func (a at) write() string { return "(" + a.list.write() + ")[" + a.place.write() + "]" }

func (l leaf) want(map[string]any) any        { return l.v }
func (i ident) want(names map[string]any) any { return names[i.name] }

func (p prefix) want(names map[string]any) any {
	v := p.x.want(names)
	if _, failed := v.(oops); failed {
		return v
	}
	if p.op == "!" {
		return !isTrue(v)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case float64:
		return -v
	}
	return oops{}
}

func (i infix) want(names map[string]any) any {
	x := i.x.want(names)
	if _, failed := x.(oops); failed {
		return x
	}
	if i.op == "&&" && !isTrue(x) {
		return false
	}
	if i.op == "||" && isTrue(x) {
		return true
	}
	y := i.y.want(names)
	if _, failed := y.(oops); failed {
		return y
	}
	switch i.op {
	case "&&", "||":
		return isTrue(y)
	case "==":
		return alike(x, y)
	case "!=":
		return !alike(x, y)
	case "<":
		return below(x, y)
	case ">":
		return below(y, x)
	}
	return reckon(i.op, x, y)
}

func reckon(op string, x, y any) any {
	a, isA := x.(float64)
	b, isB := y.(float64)
	s, isS := x.(string)
	u, isU := y.(string)
	list, isList := x.([]any)
	switch {
	case isA && isB && op == "+":
		return a + b
	case isA && isB && op == "-":
		return a - b
	case isA && isB && op == "*":
		return a * b
	case isA && isB && op == "/":
		return a / b
	case op == "+" && isList:
		if more, ok := y.([]any); ok {
			return append(append([]any{}, list...), more...)
		}
		return append(append([]any{}, list...), y)
	case op == "+" && isS:
		return s + shown(y)
	case op == "+" && isU:
		return shown(x) + u
	case x == nil || y == nil:
		return nil
	}
	return oops{}
}

func (c choice) want(names map[string]any) any {
	v := c.c.want(names)
	if _, failed := v.(oops); failed {
		return v
	}
	if isTrue(v) {
		return c.a.want(names)
	}
	return c.b.want(names)
}

func (a array) want(names map[string]any) any {
	items := []any{}
	for _, item := range a.items {
		v := item.want(names)
		if _, failed := v.(oops); failed {
			return v
		}
		items = append(items, v)
	}
	return items
}

// inside runs do for each element with the names that it brings, until do fails.
func inside(list tree, names map[string]any, do func(v any, inner map[string]any) bool) any {
	v := list.want(names)
	items, ok := v.([]any)
	if !ok {
		if v == nil {
			return nil
		}
		return oops{}
	}
	for i, item := range items {
		inner := map[string]any{}
		for name, v := range names {
			inner[name] = v
		}
		inner["value"], inner["index"] = item, float64(i)
		if !do(item, inner) {
			return oops{}
		}
	}
	return items
}

func (f filter) want(names map[string]any) any {
	kept := []any{}
	all := inside(f.list, names, func(v any, inner map[string]any) bool {
		test := f.test.want(inner)
		if isTrue(test) {
			kept = append(kept, v)
		}
		_, failed := test.(oops)
		return !failed
	})
	if _, isList := all.([]any); !isList {
		return all
	}
	return kept
}

func (m mapping) want(names map[string]any) any {
	made := []any{}
	all := inside(m.list, names, func(_ any, inner map[string]any) bool {
		v := m.with.want(inner)
		made = append(made, v)
		_, failed := v.(oops)
		return !failed
	})
	if _, isList := all.([]any); !isList {
		return all
	}
	return made
}

func (f fold) want(names map[string]any) any {
	if v := f.list.want(names); v == nil {
		return nil
	}
	if _, isList := f.list.want(names).([]any); !isList {
		return oops{}
	}
	acc := f.from.want(names)
	if _, failed := acc.(oops); failed {
		return acc
	}
	all := inside(f.list, names, func(_ any, inner map[string]any) bool {
		inner["acc"] = acc
		acc = f.with.want(inner)
		_, failed := acc.(oops)
		return !failed
	})
	if _, failed := all.(oops); failed {
		return all
	}
	return acc
}

func (a at) want(names map[string]any) any {
	place := a.place.want(names)
	if _, failed := place.(oops); failed {
		return place
	}
	v := a.list.want(names)
	items, isList := v.([]any)
	if v == nil {
		return nil
	}
	if !isList {
		return oops{}
	}
	if n, ok := place.(float64); ok && n == math.Trunc(n) && n >= 0 && n < float64(len(items)) {
		return items[int(n)]
	}
	return nil
}

func isTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	}
	return false
}

func alike(x, y any) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	a, isA := x.([]any)
	b, isB := y.([]any)
	switch {
	case isA && isB:
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if !alike(a[i], b[i]) {
				return false
			}
		}
		return true
	case isA:
		return len(a) == 1 && alike(a[0], y)
	case isB:
		return len(b) == 1 && alike(x, b[0])
	}
	if s, ok := x.(string); ok {
		if u, ok := y.(string); ok {
			return s == u
		}
	}
	return digits(x) == digits(y)
}

func below(x, y any) bool {
	if x == nil || y == nil {
		return false
	}
	_, isA := x.([]any)
	_, isB := y.([]any)
	if isA || isB {
		return false
	}
	s, isS := x.(string)
	u, isU := y.(string)
	if isS && isU {
		return sort.StringsAreSorted([]string{s, u}) && s != u
	}
	return digits(x) < digits(y)
}

// digits is what JavaScript's Number() makes of a value.
func digits(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		if strings.TrimSpace(v) == "" {
			return 0
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && strings.Trim(v, "0123456789. ") == "" {
			return n
		}
	}
	return math.NaN()
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, shown(item))
		}
		return strings.Join(parts, ", ")
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 0):
			return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+") + "inity"
		case v == 0:
			return "0"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case oops:
		return "Error"
	}
	return fmt.Sprint(v)
}

// drawTree draws an expression of a depth; names are those that it may use.
func drawTree(t *rapid.T, depth int, names []string) tree {
	if depth == 0 || rapid.IntRange(0, 5).Draw(t, "leaf") == 0 {
		if rapid.Bool().Draw(t, "named") {
			return ident{rapid.SampledFrom(names).Draw(t, "name")}
		}
		return leaf{rapid.SampledFrom([]any{nil, true, false, 0.0, 1.0, 2.0, 7.0, 0.5, "", "a", "B", "10", "9"}).Draw(t, "value")}
	}
	sub := func(more ...string) tree { return drawTree(t, depth-1, append(append([]string{}, names...), more...)) }
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return prefix{rapid.SampledFrom([]string{"!", "-"}).Draw(t, "op"), sub()}
	case 1:
		return choice{sub(), sub(), sub()}
	case 2:
		var a array
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			a.items = append(a.items, sub())
		}
		return a
	case 3:
		return filter{sub(), sub("value", "index")}
	case 4:
		return mapping{sub(), sub("value", "index")}
	case 5:
		return fold{sub(), sub("value", "index", "acc"), sub()}
	case 6:
		return at{sub(), sub()}
	}
	return infix{rapid.SampledFrom([]string{"+", "-", "*", "/", "==", "!=", "<", ">", "&&", "||"}).Draw(t, "op"), sub(), sub()}
}

func TestOracle(t *testing.T) {
	n := kinds()
	names := map[string]any{"n": 7.0, "b": true, "e": "", "s": "Some Text", "l": []any{3.0, "x", 1.0}, "none": nil}
	session := NewSession(t.Context(), environment(n))
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawTree(t, 4, []string{"n", "b", "e", "s", "l", "none"})
		want := drawn.want(names)
		got := session.Row(n).Eval(Compile(drawn.write()))
		if _, failed := want.(oops); failed != got.IsError() {
			t.Fatalf("%s is %q, the oracle says %q", drawn.write(), got.Text(), shown(want))
		}
		if !got.IsError() && (got.Text() != shown(want) || got.IsNull() != (want == nil)) {
			t.Fatalf("%s is %q, the oracle says %q", drawn.write(), got.Text(), shown(want))
		}
	})
	require.NoError(t, session.Err())
}
