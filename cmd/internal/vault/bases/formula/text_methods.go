package formula

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func textMethods() map[string]function {
	any := func(name string) []param { return []param{{name, Null}} }
	return map[string]function{
		"contains":    {params: any("value"), required: 1, run: textTest(strings.Contains)},
		"startsWith":  {params: any("query"), required: 1, run: textTest(strings.HasPrefix)},
		"endsWith":    {params: any("query"), required: 1, run: textTest(strings.HasSuffix)},
		"containsAll": {required: 1, more: true, run: func(c *call) Value { return c.textContains(true) }},
		"containsAny": {required: 1, more: true, run: func(c *call) Value { return c.textContains(false) }},
		"lower":       {run: func(c *call) Value { return bounded(lower(c.on.Text())) }},
		"title":       {run: func(c *call) Value { return bounded(title(c.on.Text())) }},
		"trim":        {run: func(c *call) Value { return OfText(strings.TrimFunc(c.on.Text(), IsSpace)) }},
		"reverse":     {run: func(c *call) Value { return bounded(reverseText(c.on.Text())) }},
		"repeat":      {params: []param{{"count", Number}}, required: 1, run: (*call).repeat},
		"slice": {params: []param{{"start", Number}, {"end", Number}}, required: 1, run: func(c *call) Value {
			return OfText(sliceText(c.on.Text(), c.arg(0).Num(), c.arg(1).Num(), len(c.args) > 1))
		}},
		"split":   {params: []param{{"separator", Null}, {"n", Number}}, required: 1, run: (*call).split},
		"replace": {params: []param{{"pattern", Null}, {"replacement", Null}}, required: 2, run: (*call).replace},
	}
}

// textTest is a test of two texts, ignoring case. It is false for null.
func textTest(test func(text, wanted string) bool) func(*call) Value {
	return func(c *call) Value {
		if c.arg(0).IsNull() {
			return OfBool(false)
		}
		return OfBool(test(lower(c.on.Text()), lower(c.arg(0).Text())))
	}
}

// textContains reports whether the text contains all, or any, of the arguments or elements of
// arguments that are lists.
func (c *call) textContains(all bool) Value {
	text := lower(c.on.Text())
	for _, wanted := range flattened(c.args) {
		if !c.row.spend(1 + len(text)/bytesRead) {
			return c.row.ended()
		}
		if found := !wanted.IsNull() && strings.Contains(text, lower(wanted.Text())); found != all {
			return OfBool(found)
		}
	}
	return OfBool(all)
}

// flattened returns the arguments with lists replaced by their elements.
func flattened(args []Value) []Value {
	var all []Value
	for _, v := range args {
		if v.Kind() == List {
			all = append(all, v.Items()...)
			continue
		}
		all = append(all, v)
	}
	return all
}

// title returns the words, separated by blanks, with the first letter in upper case and the
// rest in lower case.
func title(s string) string {
	var out strings.Builder
	first := true
	for _, r := range lower(s) {
		if first {
			r = unicode.ToUpper(r)
		}
		first = IsSpace(r)
		out.WriteRune(r)
	}
	return out.String()
}

func (c *call) repeat() Value {
	text, n := c.on.Text(), c.arg(0).Num()
	if !(n >= 1) || text == "" {
		return OfText("")
	}
	if math.Floor(n)*float64(len(text)) > maxText {
		return tooLong
	}
	return OfText(strings.Repeat(text, int(n)))
}

func (c *call) split() Value {
	text, separator := c.on.Text(), c.arg(0)
	var parts Value
	switch {
	case separator.Kind() == RegExp:
		parts = c.splitMatches(separator, text)
	case separator.IsNull():
		parts = OfList([]Value{OfText(text)})
	default:
		between := separator.Text()
		count := strings.Count(text, between) + 1
		if between == "" {
			count = utf8.RuneCountInString(text)
		}
		if count > maxElements {
			return tooMany
		}
		items := make([]Value, 0, count)
		for part := range strings.SplitSeq(text, between) {
			items = append(items, OfText(part))
		}
		parts = OfList(items)
	}
	if n := c.arg(1); n.Kind() == Number && !parts.IsError() {
		_, end := bounds(len(parts.Items()), 0, max(n.Num(), 0), true)
		return OfList(parts.Items()[:end])
	}
	return parts
}

func (c *call) replace() Value {
	text, pattern, with := c.on.Text(), c.arg(0), c.arg(1).Text()
	if pattern.Kind() == RegExp {
		return c.replaceMatches(pattern, text, with)
	}
	if pattern.IsNull() {
		return checked(c.name, param{"pattern", String}, pattern)
	}
	wanted := pattern.Text()
	if grown := strings.Count(text, wanted) * (len(with) - len(wanted)); len(text)+grown > maxText {
		return tooLong
	}
	return OfText(strings.ReplaceAll(text, wanted, with))
}

// Lengths and offsets of texts are in UTF-16 code units, as in JavaScript.

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func unitLength(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// sliceText is slice() of a text. Half of a surrogate pair becomes U+FFFD.
func sliceText(s string, from, to float64, hasEnd bool) string {
	if isASCII(s) {
		start, end := bounds(len(s), from, to, hasEnd)
		return s[start:end]
	}
	units := utf16.Encode([]rune(s))
	start, end := bounds(len(units), from, to, hasEnd)
	return string(utf16.Decode(units[start:end]))
}

// bounds returns the range of slice() of JavaScript, where negative offsets are relative to the
// end.
func bounds(length int, from, to float64, hasEnd bool) (start, end int) {
	if !hasEnd {
		to = float64(length)
	}
	start, end = bound(length, from), bound(length, to)
	return start, max(start, end)
}

func bound(length int, at float64) int {
	at = math.Trunc(at)
	switch n := float64(length); {
	case at != at || at <= -n:
		return 0
	case at < 0:
		return length + int(at)
	case at >= n:
		return length
	}
	return int(at)
}

// reverseText reverses the code units of a text. A surrogate pair becomes two U+FFFD.
func reverseText(s string) string {
	units := utf16.Encode([]rune(s))
	for i, j := 0, len(units)-1; i < j; i, j = i+1, j-1 {
		units[i], units[j] = units[j], units[i]
	}
	return string(utf16.Decode(units))
}

// lower is toLowerCase() of JavaScript, which keeps the dot of İ.
func lower(s string) string {
	if strings.Contains(s, "İ") {
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.ToLower(s)
}
