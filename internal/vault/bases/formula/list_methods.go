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
			return c.testResult(found, ok)
		}},
		"containsAll": {required: 1, isVariadic: true, run: func(c *call) Value { return c.listContains(allOf) }},
		"containsAny": {required: 1, isVariadic: true, run: func(c *call) Value { return c.listContains(anyOf) }},
		"filter":      {params: lambda, required: 1, hasLambda: true, run: (*call).filter},
		"map":         {params: lambda, required: 1, hasLambda: true, run: (*call).mapped},
		"reduce":      {params: []param{lambda[0], {"initial", Null}}, required: 2, hasLambda: true, run: (*call).reduce},
		"flat":        {run: func(c *call) Value { return OfList(flat(nil, c.on.Items())) }},
		"join": {params: []param{{"separator", Null}}, required: 1, run: func(c *call) Value {
			return bounded(join(c.on.Items(), c.arg(0).Text()))
		}},
		"reverse": {run: func(c *call) Value {
			reversed := slices.Clone(c.on.Items())
			slices.Reverse(reversed)
			return OfList(reversed)
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

// testResult returns the result of a test, or the error of the session if ok is false.
func (c *call) testResult(found, ok bool) Value {
	if !ok {
		return c.row.ended()
	}
	return OfBool(found)
}

// listHas reports whether a list contains a value. A tag in the list also matches if it is nested in the wanted
// tag. ok is false if the session has ended.
func (r *Row) listHas(items []Value, wanted Value) (found, ok bool) {
	for _, item := range items {
		if !r.spend(1 + min(item.Size(), wanted.Size())/bytesRead) {
			return false, false
		}
		if item.Kind() == Tag && wanted.Kind().isText() {
			// The "#" is optional in both tags, and case is ignored.
			tag := strings.ToLower(strings.TrimPrefix(item.Text(), "#"))
			wantedTag := strings.ToLower(strings.TrimPrefix(wanted.Text(), "#"))
			if wantedTag != "" && (tag == wantedTag || strings.HasPrefix(tag, wantedTag+"/")) {
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

// quantifier says whether all values or any value has to be found. As a bool it is the result for no values.
type quantifier bool

const (
	allOf quantifier = true
	anyOf quantifier = false
)

// listContains reports whether the list contains all or any of the arguments. An argument that is a list stands
// for its elements, unless the list contains lists.
func (c *call) listContains(which quantifier) Value {
	items := c.on.Items()
	wanted := c.args
	if !slices.ContainsFunc(items, func(v Value) bool { return v.Kind() == List }) {
		wanted = flattened(wanted)
	}
	for _, w := range wanted {
		found, ok := c.row.listHas(items, w)
		if !ok || found != bool(which) { // later values cannot change the result
			return c.testResult(found, ok)
		}
	}
	return OfBool(bool(which))
}

func (c *call) filter() Value {
	var kept []Value
	alive := c.row.alive
	formulas := c.row.kept
	failed := c.each(scope{}, func(item, v Value, _ *scope) {
		c.row.setAlive(alive + c.row.kept - formulas) // the intermediate values are garbage
		if v.Truthy() {
			kept = append(kept, item)
		}
	})
	if failed.IsError() {
		return failed
	}
	return OfList(kept)
}

func (c *call) mapped() Value {
	results := make([]Value, 0, len(c.on.Items()))
	failed := c.each(scope{}, func(_, v Value, _ *scope) { results = append(results, v) })
	if failed.IsError() {
		return failed
	}
	return OfList(results)
}

func (c *call) reduce() Value {
	result := c.arg(1)
	failed := c.each(scope{acc: result, hasAcc: true}, func(_, v Value, s *scope) {
		result = v
		s.acc = v
	})
	if failed.IsError() {
		return failed
	}
	return result
}

// flat appends items to a list, with nested lists replaced recursively by their elements. It stops after
// maxElements.
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

// unique returns the list without elements that have the same kind and text as an earlier one.
func (c *call) unique() Value {
	type identity struct {
		kind Kind
		text string
	}
	seen := map[identity]bool{}
	var kept []Value
	for _, item := range c.on.Items() {
		key := identity{item.Kind(), item.Text()}
		if !c.row.spend(2 + len(key.text)/bytesMade) {
			return c.row.ended()
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, item)
		}
	}
	return OfList(kept)
}

// summary returns a method that reduces the numbers in a list to one.
func summary(reduce func(numbers []float64, count int) float64) function {
	return function{run: func(c *call) Value { return numeric(reduce)(c.on.Items()) }}
}

func sum(numbers []float64, _ int) float64 {
	total := 0.0
	for _, n := range numbers {
		total += n
	}
	return total
}

// mean divides by the length of the whole list, as the app does.
func mean(numbers []float64, count int) float64 { return sum(numbers, count) / float64(count) }

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

// deviation returns the population standard deviation.
func deviation(numbers []float64, _ int) float64 {
	average := sum(numbers, 0) / float64(len(numbers))
	total := 0.0
	for _, n := range numbers {
		total += (n - average) * (n - average)
	}
	return math.Sqrt(total / float64(len(numbers)))
}

// extremeDate returns the first date for direction -1, the last for 1, or null if there are no dates.
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

// summaries are the summaries that are built into the app.
var summaries = map[string]func([]Value) Value{
	"Average":   numeric(mean),
	"Min":       numeric(least),
	"Max":       numeric(greatest),
	"Sum":       numeric(sum),
	"Median":    numeric(median),
	"Stddev":    numeric(deviation),
	"Earliest":  func(values []Value) Value { return extremeDate(values, -1) },
	"Latest":    func(values []Value) Value { return extremeDate(values, 1) },
	"Range":     rangeOf,
	"Checked":   counted(func(v Value) bool { return v.Kind() == Boolean && v.Truthy() }),
	"Unchecked": counted(func(v Value) bool { return v.Kind() == Boolean && !v.Truthy() }),
	"Empty":     counted(Value.Empty),
	"Filled":    counted(func(v Value) bool { return !v.Empty() }),
	"Unique":    unique,
}

// Summary returns the built-in summary with a name, or nil.
func Summary(name string) func(values []Value) Value { return summaries[name] }

// numeric returns a summary that reduces the numbers among values to one. count is the number of all values. The
// summary is null if there are no numbers.
func numeric(reduce func(numbers []float64, count int) float64) func([]Value) Value {
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
		return OfNumber(reduce(numbers, len(values)))
	}
}

// rangeOf returns the duration between the first and the last date or, if there are no dates, the difference
// between the least and the greatest number.
func rangeOf(values []Value) Value {
	first, ok := extremeDate(values, -1).Moment()
	if !ok {
		spread := func(numbers []float64, _ int) float64 { return slices.Max(numbers) - slices.Min(numbers) }
		return numeric(spread)(values)
	}
	last, _ := extremeDate(values, 1).Moment()
	return OfSpan(Span{Millis: float64(last.Time.UnixMilli() - first.Time.UnixMilli())})
}

// counted returns a summary that counts the values that pass a test.
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

// unique returns the number of different values, without empty ones.
func unique(values []Value) Value {
	seen := map[string]bool{}
	for _, v := range values {
		if !v.Empty() {
			seen[v.Kind().String()+v.Text()] = true
		}
	}
	return OfNumber(float64(len(seen)))
}
