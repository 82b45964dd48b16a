package eval

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/bases/value"
)

func textMethods() map[string]function {
	any := func(name string) []param { return []param{{name, value.Null}} }
	return map[string]function{
		"contains":    {params: any("value"), required: 1, run: textTest(strings.Contains)},
		"startsWith":  {params: any("query"), required: 1, run: textTest(strings.HasPrefix)},
		"endsWith":    {params: any("query"), required: 1, run: textTest(strings.HasSuffix)},
		"containsAll": {required: 1, more: true, run: func(c *call) value.Value { return c.textContains(true) }},
		"containsAny": {required: 1, more: true, run: func(c *call) value.Value { return c.textContains(false) }},
		"lower":       {run: func(c *call) value.Value { return value.Bounded(lower(c.on.Text())) }},
		"title":       {run: func(c *call) value.Value { return value.Bounded(title(c.on.Text())) }},
		"trim":        {run: func(c *call) value.Value { return value.OfText(strings.TrimFunc(c.on.Text(), value.IsSpace)) }},
		"reverse":     {run: func(c *call) value.Value { return value.Bounded(reverseText(c.on.Text())) }},
		"repeat":      {params: []param{{"count", value.Number}}, required: 1, run: (*call).repeat},
		"slice": {params: []param{{"start", value.Number}, {"end", value.Number}}, required: 1, run: func(c *call) value.Value {
			return value.OfText(sliceText(c.on.Text(), c.arg(0).Num(), c.arg(1).Num(), len(c.args) > 1))
		}},
		"split":   {params: []param{{"separator", value.Null}, {"n", value.Number}}, required: 1, run: (*call).split},
		"replace": {params: []param{{"pattern", value.Null}, {"replacement", value.Null}}, required: 2, run: (*call).replace},
	}
}

// textTest compares without regard to case. Null is in no text.
func textTest(test func(text, wanted string) bool) func(*call) value.Value {
	return func(c *call) value.Value {
		if c.arg(0).IsNull() {
			return value.OfBool(false)
		}
		return value.OfBool(test(lower(c.on.Text()), lower(c.arg(0).Text())))
	}
}

// textContains reports whether the text has all, or any, of the arguments, or of
// the elements of one that is a list.
func (c *call) textContains(all bool) value.Value {
	text := lower(c.on.Text())
	for _, wanted := range flattened(c.args) {
		if !c.row.spend(1 + len(text)/bytesRead) {
			return c.row.ended()
		}
		if found := !wanted.IsNull() && strings.Contains(text, lower(wanted.Text())); found != all {
			return value.OfBool(found)
		}
	}
	return value.OfBool(all)
}

// flattened returns the arguments with those that are lists taken apart.
func flattened(args []value.Value) []value.Value {
	var all []value.Value
	for _, v := range args {
		if v.Kind() == value.List {
			all = append(all, v.Items()...)
			continue
		}
		all = append(all, v)
	}
	return all
}

// title has the first letter of each word in upper case and the rest in lower
// case. Words are parted by blanks.
func title(s string) string {
	var out strings.Builder
	first := true
	for _, r := range lower(s) {
		if first {
			r = unicode.ToUpper(r)
		}
		first = value.IsSpace(r)
		out.WriteRune(r)
	}
	return out.String()
}

func (c *call) repeat() value.Value {
	text, n := c.on.Text(), c.arg(0).Num()
	if !(n >= 1) || text == "" {
		return value.OfText("")
	}
	if math.Floor(n)*float64(len(text)) > value.MaxText {
		return value.Bounded(strings.Repeat(" ", value.MaxText+1))
	}
	return value.OfText(strings.Repeat(text, int(n)))
}

func (c *call) split() value.Value {
	text, separator := c.on.Text(), c.arg(0)
	var parts value.Value
	switch {
	case separator.Kind() == value.RegExp:
		parts = c.splitMatches(separator, text)
	case separator.IsNull():
		parts = value.OfList([]value.Value{value.OfText(text)})
	default:
		parts = splitText(text, separator.Text())
	}
	if n := c.arg(1); n.Kind() == value.Number && !parts.IsError() {
		_, end := bounds(len(parts.Items()), 0, max(n.Num(), 0), true)
		return value.OfList(parts.Items()[:end])
	}
	return parts
}

func splitText(text, separator string) value.Value {
	count := strings.Count(text, separator) + 1
	if separator == "" {
		count = utf8.RuneCountInString(text)
	}
	if count > value.MaxElements {
		return value.OfList(make([]value.Value, value.MaxElements+1))
	}
	parts := make([]value.Value, 0, count)
	for _, part := range strings.Split(text, separator) {
		parts = append(parts, value.OfText(part))
	}
	return value.OfList(parts)
}

func (c *call) replace() value.Value {
	text, pattern, with := c.on.Text(), c.arg(0), c.arg(1).Text()
	if pattern.Kind() == value.RegExp {
		return c.replaceMatches(pattern, text, with)
	}
	if pattern.IsNull() {
		return checked(c.name, param{"pattern", value.String}, pattern)
	}
	wanted := pattern.Text()
	if grown := strings.Count(text, wanted) * (len(with) - len(wanted)); len(text)+grown > value.MaxText {
		return value.Bounded(strings.Repeat(" ", value.MaxText+1))
	}
	return value.OfText(strings.ReplaceAll(text, wanted, with))
}
