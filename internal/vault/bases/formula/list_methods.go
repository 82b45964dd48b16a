package formula

import (
	"math"
	"slices"
	"strings"
)

func listMethods() map[string]function {
	lambda := []param{{"expression", Null}}
	return map[string]function{
		"contains": {params: []param{{"value", Null}}, required: 1, run: func(c *call) Value {
			found, ok := c.row.listHas(c.on.Items(), c.arg(0))
			return c.tested(found, ok)
		}},
		"containsAll": {required: 1, more: true, run: func(c *call) Value { return c.listContains(allOf) }},
		"containsAny": {required: 1, more: true, run: func(c *call) Value { return c.listContains(anyOf) }},
		"filter":      {params: lambda, required: 1, lambda: true, run: (*call).filter},
		"map":         {params: lambda, required: 1, lambda: true, run: (*call).mapped},
		"reduce":      {params: []param{lambda[0], {"initial", Null}}, required: 2, lambda: true, run: (*call).reduce},
		"flat":        {run: func(c *call) Value { return OfList(flat(nil, c.on.Items())) }},
		"join": {params: []param{{"separator", Null}}, required: 1, run: func(c *call) Value {
			return bounded(join(c.on.Items(), c.arg(0).Text()))
		}},
		"reverse": {run: func(c *call) Value {
			turned := slices.Clone(c.on.Items())
			slices.Reverse(turned)
			return OfList(turned)
		}},
		"slice": {params: []param{{"start", Number}, {"end", Number}}, required: 1, run: func(c *call) Value {
			start, end := bounds(len(c.on.Items()), c.arg(0).Num(), c.endOfSlice())
			return OfList(c.on.Items()[start:end:end])
		}},
		"sort":     {run: (*call).sorted},
		"unique":   {run: (*call).unique},
		"sum":      summary(sum),
		"mean":     summary(mean),
		"median":   summary(median),
		"min":      summary(least),
		"max":      summary(greatest),
		"stddev":   summary(deviation),
		"earliest": {run: func(c *call) Value { return extremeDate(c.on.Items(), -1) }},
		"latest":   {run: func(c *call) Value { return extremeDate(c.on.Items(), 1) }},
	}
}

// tested returns the result of a test, or the error of an ended session.
func (c *call) tested(found, ok bool) Value {
	if !ok {
		return c.row.ended()
	}
	return OfBool(found)
}

// listHas reports whether a list contains a value; of tags also one below the wanted tag. ok is
// false when the session has ended.
func (r *Row) listHas(items []Value, wanted Value) (found, ok bool) {
	for _, item := range items {
		if !r.spend(1 + min(item.Size(), wanted.Size())/bytesRead) {
			return false, false
		}
		if item.Kind() == Tag && wanted.Kind().isText() {
			// The "#" is optional in both, and case is ignored.
			tag := strings.ToLower(strings.TrimPrefix(item.Text(), "#"))
			above := strings.ToLower(strings.TrimPrefix(wanted.Text(), "#"))
			if above != "" && (tag == above || strings.HasPrefix(tag, above+"/")) {
				return true, true
			}
			continue
		}
		if r.Equal(item, wanted) {
			return true, true
		}
	}
	return false, true
}

// quantifier says how many of some values have to be found. It is what the test of none of them results in.
type quantifier bool

const (
	allOf quantifier = true
	anyOf quantifier = false
)

// listContains reports whether the list contains all, or any, of the arguments. An argument
// that is a list means its elements, unless the list contains lists.
func (c *call) listContains(which quantifier) Value {
	items := c.on.Items()
	wanted := c.args
	if !slices.ContainsFunc(items, func(v Value) bool { return v.Kind() == List }) {
		wanted = flattened(wanted)
	}
	for _, w := range wanted {
		found, ok := c.row.listHas(items, w)
		if !ok || found != bool(which) { // nothing after it can change the result
			return c.tested(found, ok)
		}
	}
	return OfBool(bool(which))
}

func (c *call) filter() Value {
	var kept []Value
	alive := c.row.alive
	formulas := c.row.kept
	if failed := c.each(scope{}, func(item, v Value, _ *scope) {
		c.row.let(alive + c.row.kept - formulas) // what the answer was made of is gone
		if v.Truthy() {
			kept = append(kept, item)
		}
	}); failed.IsError() {
		return failed
	}
	return OfList(kept)
}

func (c *call) mapped() Value {
	results := make([]Value, 0, len(c.on.Items()))
	if failed := c.each(scope{}, func(_, v Value, _ *scope) { results = append(results, v) }); failed.IsError() {
		return failed
	}
	return OfList(results)
}

func (c *call) reduce() Value {
	result := c.arg(1)
	if failed := c.each(scope{acc: result, hasAcc: true}, func(_, v Value, s *scope) {
		result = v
		s.acc = v
	}); failed.IsError() {
		return failed
	}
	return result
}

// flat appends items and, recursively, the elements of nested lists.
func flat(to, items []Value) []Value {
	for _, item := range items {
		if len(to) > maxElements {
			return to
		}
		if item.Kind() == List {
			to = flat(to, item.Items())
			continue
		}
		to = append(to, item)
	}
	return to
}

func (c *call) sorted() Value {
	cost := 0
	for _, item := range c.on.Items() {
		cost += sortSteps * (1 + item.Size()/bytesRead)
	}
	if !c.row.spend(cost) {
		return c.row.ended()
	}
	sorted := slices.Clone(c.on.Items())
	slices.SortStableFunc(sorted, func(a, b Value) int { return c.row.Order(a, b) })
	return OfList(sorted)
}

// sortSteps is the approximate cost of sorting one element.
const sortSteps = 8

// unique keeps the first of elements with the same kind and text.
func (c *call) unique() Value {
	type written struct {
		kind Kind
		text string
	}
	known := map[written]bool{}
	var kept []Value
	for _, item := range c.on.Items() {
		key := written{item.Kind(), item.Text()}
		if !c.row.spend(2 + len(key.text)/bytesMade) {
			return c.row.ended()
		}
		if !known[key] {
			known[key] = true
			kept = append(kept, item)
		}
	}
	return OfList(kept)
}

// summary is a method that reduces the numbers of a list to one.
func summary(of func(numbers []float64, all int) float64) function {
	return function{run: func(c *call) Value { return numeric(of)(c.on.Items()) }}
}

func sum(numbers []float64, _ int) float64 {
	total := 0.0
	for _, n := range numbers {
		total += n
	}
	return total
}

// mean divides by the length of the whole list, as the app does.
func mean(numbers []float64, all int) float64 { return sum(numbers, all) / float64(all) }

func median(numbers []float64, _ int) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func least(numbers []float64, _ int) float64    { return slices.Min(numbers) }
func greatest(numbers []float64, _ int) float64 { return slices.Max(numbers) }

// deviation is the population standard deviation.
func deviation(numbers []float64, _ int) float64 {
	average := sum(numbers, 0) / float64(len(numbers))
	total := 0.0
	for _, n := range numbers {
		total += (n - average) * (n - average)
	}
	return math.Sqrt(total / float64(len(numbers)))
}

// extremeDate returns the first date (direction -1) or the last (1), null without dates.
func extremeDate(items []Value, direction int) Value {
	result := Value{}
	var best Moment
	for _, item := range items {
		m, ok := item.Moment()
		if ok && (result.IsNull() || m.Time.Compare(best.Time) == direction) {
			result = item
			best = m
		}
	}
	return result
}

// summaries are the built-in summaries of the app by name.
var summaries = map[string]func([]Value) Value{
	"Average": numeric(
		mean,
	), "Min": numeric(least), "Max": numeric(greatest), "Sum": numeric(sum), "Median": numeric(median), "Stddev": numeric(deviation),
	"Earliest":  func(values []Value) Value { return extremeDate(values, -1) },
	"Latest":    func(values []Value) Value { return extremeDate(values, 1) },
	"Range":     rangeOf,
	"Checked":   counted(func(v Value) bool { return v.Kind() == Boolean && v.Truthy() }),
	"Unchecked": counted(func(v Value) bool { return v.Kind() == Boolean && !v.Truthy() }),
	"Empty":     counted(Value.Empty),
	"Filled":    counted(func(v Value) bool { return !v.Empty() }),
	"Unique":    unique,
}

// Summary returns the built-in summary of the app with that name, nil if there is none.
func Summary(name string) func(values []Value) Value { return summaries[name] }

// numeric reduces the numbers among values to one; null without numbers. all is the number of
// values.
func numeric(of func(numbers []float64, all int) float64) func([]Value) Value {
	return func(values []Value) Value {
		var numbers []float64
		for _, v := range values {
			if v.Kind() == Number {
				numbers = append(numbers, v.Num())
			}
		}
		if len(numbers) == 0 {
			return Value{}
		}
		return OfNumber(of(numbers, len(values)))
	}
}

// rangeOf is the difference between the least and the greatest number, or the duration between
// the first and the last date.
func rangeOf(values []Value) Value {
	first, ok := extremeDate(values, -1).Moment()
	if !ok {
		return numeric(
			func(numbers []float64, _ int) float64 { return slices.Max(numbers) - slices.Min(numbers) },
		)(
			values,
		)
	}
	last, _ := extremeDate(values, 1).Moment()
	return OfSpan(Span{Millis: float64(last.Time.UnixMilli() - first.Time.UnixMilli())})
}

func counted(test func(Value) bool) func([]Value) Value {
	return func(values []Value) Value {
		n := 0
		for _, v := range values {
			if test(v) {
				n++
			}
		}
		return OfNumber(float64(n))
	}
}

// unique counts the different values, ignoring empty ones.
func unique(values []Value) Value {
	known := map[string]bool{}
	for _, v := range values {
		if !v.Empty() {
			known[v.Kind().String()+v.Text()] = true
		}
	}
	return OfNumber(float64(len(known)))
}
