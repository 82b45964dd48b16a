package formula

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
)

func textMethods() map[string]function {
	any := func(name string) []param { return []param{{name, Null}} }
	return map[string]function{
		"contains":    {params: any("value"), required: 1, run: textTest(strings.Contains)},
		"startsWith":  {params: any("query"), required: 1, run: textTest(strings.HasPrefix)},
		"endsWith":    {params: any("query"), required: 1, run: textTest(strings.HasSuffix)},
		"containsAll": {required: 1, isVariadic: true, run: func(c *call) Value { return c.textContains(allOf) }},
		"containsAny": {required: 1, isVariadic: true, run: func(c *call) Value { return c.textContains(anyOf) }},
		"lower":       {run: func(c *call) Value { return bounded(lower(c.on.Text())) }},
		"title":       {run: func(c *call) Value { return bounded(title(c.on.Text())) }},
		"trim":        {run: func(c *call) Value { return OfText(strings.TrimFunc(c.on.Text(), IsSpace)) }},
		"reverse": {run: func(c *call) Value {
			units := utf16.Encode([]rune(c.on.Text())) // a surrogate pair becomes two U+FFFD
			slices.Reverse(units)
			return bounded(string(utf16.Decode(units)))
		}},
		"repeat": {params: []param{{"count", Number}}, required: 1, run: (*call).repeat},
		"slice": {params: []param{{"start", Number}, {"end", Number}}, required: 1, run: func(c *call) Value {
			return OfText(sliceText(c.on.Text(), c.arg(0).Num(), c.endOfSlice()))
		}},
		"split":   {params: []param{{"separator", Null}, {"n", Number}}, required: 1, run: (*call).split},
		"replace": {params: []param{{"pattern", Null}, {"replacement", Null}}, required: 2, run: (*call).replace},
	}
}

// textTest returns a method that compares two texts with test, ignoring case. For null it returns false.
func textTest(test func(text, wanted string) bool) func(*call) Value {
	return func(c *call) Value {
		if c.arg(0).IsNull() {
			return OfBool(false)
		}
		return OfBool(test(lower(c.on.Text()), lower(c.arg(0).Text())))
	}
}

// textContains reports whether the text contains all or any of the arguments. Arguments that are lists stand for
// their elements.
func (c *call) textContains(which quantifier) Value {
	text := lower(c.on.Text())
	for _, wanted := range flattened(c.args) {
		if !c.row.spend(1 + len(text)/bytesRead) {
			return c.row.ended()
		}
		found := !wanted.IsNull() && strings.Contains(text, lower(wanted.Text()))
		if found != bool(which) { // later values cannot change the result
			return OfBool(found)
		}
	}
	return OfBool(bool(which))
}

// flattened returns the arguments with lists replaced by their elements.
func flattened(args []Value) []Value {
	var values []Value
	for _, v := range args {
		if v.Kind() == List {
			values = append(values, v.Items()...)
			continue
		}
		values = append(values, v)
	}
	return values
}

// title returns a text with the first letter of each word in upper case, and the others in lower case. Words are
// separated by blanks.
func title(s string) string {
	var out strings.Builder
	beginsWord := true
	for _, r := range lower(s) {
		if beginsWord {
			r = unicode.ToUpper(r)
		}
		beginsWord = IsSpace(r)
		out.WriteRune(r)
	}
	return out.String()
}

func (c *call) repeat() Value {
	text := c.on.Text()
	n := c.arg(0).Num()
	if !(n >= 1) || text == "" {
		return OfText("")
	}
	if math.Floor(n)*float64(len(text)) > maxText {
		return tooLong
	}
	return OfText(strings.Repeat(text, int(n)))
}

func (c *call) split() Value {
	text := c.on.Text()
	separator := c.arg(0)
	var items []Value
	switch {
	case separator.Kind() == RegExp:
		// As in JavaScript, groups become parts, and empty matches at the ends do not split.
		end := 0
		failed := c.row.eachMatch(separator, text, func(m *Match) bool {
			start, length := m.ByteRange()
			isAtEnds := start == 0 && end == 0 || start >= len(text)
			if length == 0 && isAtEnds {
				return true
			}
			items = append(items, OfText(text[end:start]))
			for _, g := range m.Groups()[1:] {
				if len(g.Captures) == 0 {
					items = append(items, Value{})
					continue
				}
				items = append(items, OfText(g.String()))
			}
			end = start + length
			return len(items) < maxElements
		})
		if failed.IsError() {
			return failed
		}
		items = append(items, OfText(text[end:]))
	case separator.IsNull():
		items = []Value{OfText(text)}
	default:
		delimiter := separator.Text()
		count := strings.Count(text, delimiter) + 1
		if delimiter == "" {
			count = utf8.RuneCountInString(text)
		}
		if count > maxElements {
			return tooMany
		}
		items = make([]Value, 0, count)
		for part := range strings.SplitSeq(text, delimiter) {
			items = append(items, OfText(part))
		}
	}
	parts := OfList(items)
	if n := c.arg(1); n.Kind() == Number && !parts.IsError() {
		_, end := bounds(len(parts.Items()), 0, max(n.Num(), 0))
		return OfList(parts.Items()[:end])
	}
	return parts
}

func (c *call) replace() Value {
	text := c.on.Text()
	wanted := c.arg(0)
	replacement := c.arg(1).Text()
	if wanted.Kind() == RegExp {
		// The replacement is a template for the first match or, with the flag g, for all matches.
		var out strings.Builder
		end := 0
		fits := true
		re := wanted.ref.(*pattern)
		template := newAroundTemplate(re.compiled, replacement)
		replacesAll := strings.Contains(re.flags, "g")
		failed := c.row.eachMatch(wanted, text, func(m *Match) bool {
			start, length := m.ByteRange()
			out.WriteString(text[end:start])
			end = start + length
			fits = template.WriteTo(&out, text, m, maxText)
			return fits && replacesAll
		})
		switch {
		case failed.IsError():
			return failed
		case !fits:
			return tooLong
		}
		out.WriteString(text[end:])
		return bounded(out.String())
	}
	if wanted.IsNull() {
		return checkKind(c.name, param{"pattern", String}, wanted)
	}
	old := wanted.Text()
	if grown := strings.Count(text, old) * (len(replacement) - len(old)); len(text)+grown > maxText {
		return tooLong
	}
	return OfText(strings.ReplaceAll(text, old, replacement))
}

// endOfSlice returns the second argument of slice(), by default the end of the value.
func (c *call) endOfSlice() float64 {
	if len(c.args) < 2 {
		return math.Inf(1)
	}
	return c.arg(1).Num()
}

// sliceText implements slice() for a text. Offsets are in UTF-16 code units, as in JavaScript. Half of a
// surrogate pair becomes U+FFFD.
func sliceText(s string, from, to float64) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		start, end := bounds(len(s), from, to)
		return s[start:end]
	}
	units := utf16.Encode([]rune(s))
	start, end := bounds(len(units), from, to)
	return string(utf16.Decode(units[start:end]))
}

// bounds converts the arguments of slice() to a range, as in JavaScript. Negative arguments are relative to the
// end.
func bounds(length int, from, to float64) (start, end int) {
	start = bound(length, from)
	end = bound(length, to)
	return start, max(start, end)
}

// bound converts an argument of slice() to an offset.
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

// lower implements toLowerCase() of JavaScript, which keeps the dot of İ.
func lower(s string) string {
	if strings.Contains(s, "İ") {
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.ToLower(s)
}

// maxText is the maximum length of a text in bytes.
const maxText = 16 << 20

var tooLong = failure("A text has at most 16 MiB.")

// bounded returns a text, or an error if it is longer than maxText.
func bounded(text string) Value {
	if len(text) > maxText {
		return tooLong
	}
	return OfText(text)
}

// Text returns the result of toString(), which is the text in a cell.
func (v Value) Text() string {
	switch v.kind {
	case String, HTML, Icon, URL, Tag:
		return v.text
	case Number:
		return frontmatter.FormatNumber(v.number)
	case Boolean:
		return strconv.FormatBool(v.number != 0)
	case Error:
		return "Error: " + v.text
	case Image:
		return "![](" + v.text + ")"
	}
	if t, ok := v.Target(); ok {
		if t.Display == "" {
			return "[[" + t.Text + "]]"
		}
		return "[[" + t.Text + "|" + t.Display + "]]"
	}
	switch ref := v.ref.(type) {
	case Moment:
		if ref.HasTime {
			return ref.Time.Format(momentLayout) // local, without a zone
		}
		return ref.Time.Format(dayLayout)
	case Span:
		return ref.humanize()
	case []Value, *lazyList:
		return join(v.Items(), ", ")
	case *Fields:
		return string(v.appendJSON(nil))
	case Entry:
		return ref.Path()
	case *pattern:
		return "/" + ref.body + "/" + ref.flags
	}
	return ""
}

// join returns the texts of items with a separator between them. The text of null is empty. join stops after the
// item that makes the result longer than maxText.
func join(items []Value, separator string) string {
	var out strings.Builder
	for i, item := range items {
		if i > 0 {
			out.WriteString(separator)
		}
		out.WriteString(item.Text())
		if out.Len() > maxText {
			break
		}
	}
	return out.String()
}

// JSON returns v as compact JSON. Numbers, booleans, lists and objects have their own types, numbers that JSON
// does not have are null, and all other values are texts.
func (v Value) JSON() []byte { return v.appendJSON(nil) }

func (v Value) appendJSON(out []byte) []byte {
	switch v.kind {
	case Null:
		return append(out, "null"...)
	case Number:
		if v.number-v.number != 0 {
			return append(out, "null"...)
		}
		return append(out, v.Text()...)
	case Boolean:
		return append(out, v.Text()...)
	case List:
		return appendAll(out, '[', ']', v.Items(), nil)
	case Object:
		f := v.Fields()
		return appendAll(out, '{', '}', f.Values, f.Keys)
	}
	return frontmatter.AppendQuoted(out, v.Text())
}

// appendAll appends items between brackets. If keys is not nil, each item follows its key.
func appendAll(out []byte, opening, closing byte, items []Value, keys []string) []byte {
	out = append(out, opening)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		if keys != nil {
			out = append(frontmatter.AppendQuoted(out, keys[i]), ':')
		}
		out = item.appendJSON(out)
		if len(out) > maxText {
			break
		}
	}
	return append(out, closing)
}

// Truthy reports whether v counts as true in a condition.
func (v Value) Truthy() bool {
	switch v.kind {
	case Null, Error:
		return false
	case Number, Boolean:
		return v.number != 0 && v.number == v.number
	case String, HTML, Icon, Image, URL, Tag:
		return v.text != ""
	case List:
		return v.Len() > 0
	case Object:
		return len(v.Fields().Keys) > 0
	case Duration:
		s, _ := v.Span()
		return s != Span{}
	}
	return true
}

// Empty returns the result of isEmpty(). Numbers, booleans, dates and files are never empty.
func (v Value) Empty() bool {
	switch v.kind {
	case Null:
		return true
	case List:
		return v.Len() == 0
	case Object:
		return len(v.Fields().Keys) == 0
	}
	return v.kind.isText() && v.kind != Link && v.text == ""
}

// Size estimates the memory in bytes of everything that v contains, without v itself.
func (v Value) Size() int {
	if v.kind == List || v.kind == Object {
		return v.extent().elements * valueSize
	}
	return len(v.text)
}

// valueSize is the memory in bytes of a value in a list.
const valueSize = 48

// shallow returns the memory of v in bytes without its elements.
func (v Value) shallow() int {
	switch v.kind {
	case List:
		return valueSize * (1 + v.Len())
	case Object:
		return valueSize * (1 + 2*len(v.Fields().Keys))
	}
	return len(v.text)
}

// deep returns the memory of v in bytes with its elements. A shared element counts each time.
func (v Value) deep() int {
	n := v.shallow()
	switch v.kind {
	case List:
		for _, item := range v.Items() {
			n += item.deep()
		}
	case Object:
		for _, item := range v.Fields().Values {
			n += item.deep()
		}
	}
	return n
}

// bases are the bases of numbers, by the letter after the zero.
var bases = map[byte]int{'x': 16, 'o': 8, 'b': 2}

// ParseNumber converts a text to a number as JavaScript does: surrounding blanks are ignored, everything else has
// to be a number, and an empty text is 0.
func ParseNumber(text string) (float64, bool) {
	text = strings.TrimFunc(text, IsSpace)
	switch text {
	case "":
		return 0, true
	case "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if len(text) > 2 && text[0] == '0' {
		if base := bases[text[1]|0x20]; base != 0 {
			n, ok := new(big.Int).SetString(text[2:], base)
			if !ok || strings.Trim(text[2:], "0123456789abcdefABCDEF") != "" {
				return 0, false
			}
			number, _ := new(big.Float).SetInt(n).Float64()
			return number, true
		}
	}
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // strconv accepts more than JavaScript
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil || math.IsInf(number, 0)
}

// roundHalfUp implements Math.round(). Adding a half would round 0.49999999999999994 to 1.
func roundHalfUp(number float64) float64 {
	floor := math.Floor(number)
	if number-floor >= 0.5 {
		return floor + 1
	}
	return floor
}

// IsSpace reports whether trim() of JavaScript removes r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' }

// pattern is a compiled regular expression literal.
type pattern struct {
	body, flags string
	compiled    *Regexp
}

// eachMatch calls visit for the matches of a regular expression until visit returns false. It returns null, or the
// error of the budget, which ends the session.
func (r *Row) eachMatch(re Value, text string, visit func(*Match) bool) Value {
	alive := r.alive
	defer func() { r.setAlive(alive) }()
	r.alive += 5 * int64(len(text)) // the engine converts the text to runes
	if r.hold(Value{}) {
		visitAndSpend := func(m *Match) bool { return visit(m) && r.spend(4) }
		r.err = r.budget.Match(re.Text(), func(left time.Duration) error {
			return EachMatch(re.ref.(*pattern).compiled, text, 0, left, visitAndSpend)
		})
	}
	if r.err != nil {
		return r.ended()
	}
	return Value{}
}
