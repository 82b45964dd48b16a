package eval

import (
	"vaultwicket/cmd/internal/vault/bases/value"
)

func listMethods() map[string]function {
	lambda := []param{{"expression", value.Null}}
	return map[string]function{
		"contains": {params: []param{{"value", value.Null}}, required: 1, run: func(c *call) value.Value {
			found, ok := c.row.listHas(c.on.Items(), c.arg(0))
			return c.tested(found, ok)
		}},
		"containsAll": {required: 1, more: true, run: func(c *call) value.Value { return c.listContains(true) }},
		"containsAny": {required: 1, more: true, run: func(c *call) value.Value { return c.listContains(false) }},
		"filter":      {params: lambda, required: 1, lambda: true, run: (*call).filter},
		"map":         {params: lambda, required: 1, lambda: true, run: (*call).mapped},
		"reduce":      {params: []param{lambda[0], {"initial", value.Null}}, required: 2, lambda: true, run: (*call).reduce},
		"flat":        {run: func(c *call) value.Value { return value.OfList(flat(nil, c.on.Items())) }},
		"join": {params: []param{{"separator", value.Null}}, required: 1, run: func(c *call) value.Value {
			return value.Bounded(value.Join(c.on.Items(), c.arg(0).Text()))
		}},
		"reverse": {run: func(c *call) value.Value {
			items := c.on.Items()
			turned := make([]value.Value, len(items))
			for i, item := range items {
				turned[len(items)-1-i] = item
			}
			return value.OfList(turned)
		}},
		"slice": {params: []param{{"start", value.Number}, {"end", value.Number}}, required: 1, run: func(c *call) value.Value {
			start, end := bounds(len(c.on.Items()), c.arg(0).Num(), c.arg(1).Num(), len(c.args) > 1)
			return value.OfList(c.on.Items()[start:end:end])
		}},
		"sort":     {run: (*call).sorted},
		"unique":   {run: (*call).unique},
		"sum":      summary(sum),
		"mean":     summary(mean),
		"median":   summary(median),
		"min":      summary(least),
		"max":      summary(greatest),
		"stddev":   summary(deviation),
		"earliest": {run: func(c *call) value.Value { return extremeDate(c.on.Items(), -1) }},
		"latest":   {run: func(c *call) value.Value { return extremeDate(c.on.Items(), 1) }},
	}
}

// tested returns the answer of a test, or the end of the session.
func (c *call) tested(found, ok bool) value.Value {
	if !ok {
		return c.row.ended()
	}
	return value.OfBool(found)
}

// listHas reports whether a list has an element. Of tags one that lies within it
// will do. ok is false when the session has ended.
func (r *Row) listHas(items []value.Value, wanted value.Value) (found, ok bool) {
	for _, item := range items {
		if !r.spend(1 + min(item.Size(), wanted.Size())/bytesRead) {
			return false, false
		}
		if item.Kind() == value.Tag && wanted.Kind().IsText() {
			if value.IsTagOrBelow(item.Text(), wanted.Text()) {
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

// listContains reports whether the list has all, or any, of the arguments. One
// that is a list is taken apart, unless the list is one of lists.
func (c *call) listContains(all bool) value.Value {
	items, wanted := c.on.Items(), c.args
	if !hasLists(items) {
		wanted = flattened(wanted)
	}
	for _, w := range wanted {
		found, ok := c.row.listHas(items, w)
		if !ok || found != all {
			return c.tested(found, ok)
		}
	}
	return value.OfBool(all)
}

func hasLists(items []value.Value) bool {
	for _, item := range items {
		if item.Kind() == value.List {
			return true
		}
	}
	return false
}

func (c *call) filter() value.Value {
	var kept []value.Value
	items := c.on.Items()
	alive, formulas := c.row.alive, c.row.kept
	if failed := c.each(items, scope{}, func(i int, v value.Value, _ *scope) bool {
		c.row.let(alive + c.row.kept - formulas) // what the answer was made of is gone
		if v.Truthy() {
			kept = append(kept, items[i])
		}
		return true
	}); failed.IsError() {
		return failed
	}
	return value.OfList(kept)
}

func (c *call) mapped() value.Value {
	results := make([]value.Value, 0, len(c.on.Items()))
	if failed := c.each(c.on.Items(), scope{}, func(_ int, v value.Value, _ *scope) bool {
		results = append(results, v)
		return true
	}); failed.IsError() {
		return failed
	}
	return value.OfList(results)
}

func (c *call) reduce() value.Value {
	result := c.arg(1)
	if failed := c.each(c.on.Items(), scope{acc: result, hasAcc: true}, func(_ int, v value.Value, s *scope) bool {
		result, s.acc = v, v
		return true
	}); failed.IsError() {
		return failed
	}
	return result
}

// flat appends items with nested lists taken apart at every depth.
func flat(to, items []value.Value) []value.Value {
	for _, item := range items {
		if len(to) > value.MaxElements {
			return to
		}
		if item.Kind() == value.List {
			to = flat(to, item.Items())
			continue
		}
		to = append(to, item)
	}
	return to
}

func (c *call) sorted() value.Value {
	cost := 0
	for _, item := range c.on.Items() {
		cost += sortSteps * (1 + item.Size()/bytesRead)
	}
	if !c.row.spend(cost) {
		return c.row.ended()
	}
	return value.OfList(c.row.Sorted(c.on.Items()))
}

// sortSteps is what an element of a list costs to sort, about.
const sortSteps = 8

// unique keeps the first of elements that are of one kind and written the same.
func (c *call) unique() value.Value {
	type written struct {
		kind value.Kind
		text string
	}
	known := map[written]bool{}
	var kept []value.Value
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
	return value.OfList(kept)
}

// summary is a method of a list that makes one number of the numbers in it; it is
// null if there are none. all is how many elements the list has.
func summary(of func(numbers []float64, all int) float64) function {
	return function{run: func(c *call) value.Value { return summarize(c.on.Items(), of) }}
}
