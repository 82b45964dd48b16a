package formula

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/frontmatter"
)

// maxText bounds a text in bytes.
const maxText = 16 << 20

var tooLong = failure("A text has at most 16 MiB.")

// bounded returns a text, or an error if it is longer than maxText.
func bounded(text string) Value {
	if len(text) > maxText {
		return tooLong
	}
	return OfText(text)
}

// Text returns the result of toString(), which a cell shows.
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
		return t.String()
	}
	switch ref := v.ref.(type) {
	case Moment:
		return ref.String()
	case Span:
		return ref.humanize()
	case []Value, *unmade:
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

// String returns the link as a wikilink.
func (t Target) String() string {
	if t.Display == "" {
		return "[[" + t.Text + "]]"
	}
	return "[[" + t.Text + "|" + t.Display + "]]"
}

// join returns the texts of items with separator between them; that of null is
// empty. It stops after the element that makes the result longer than maxText.
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

// JSON returns v as compact JSON: numbers, booleans, lists and objects in their own types,
// null also for numbers that JSON does not have, and the text of everything else.
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

// appendAll appends elements between brackets, each after its key, if there are keys.
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

// Truthy reports whether v is true as a condition.
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

// Empty reports the result of isEmpty(). Numbers, booleans, dates and files are never empty.
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

// Size estimates the bytes of memory of v and all it contains, without v itself.
func (v Value) Size() int {
	if v.kind == List || v.kind == Object {
		return v.extent().elements * valueSize
	}
	return len(v.text)
}

// valueSize is how many bytes of memory a value takes in a list.
const valueSize = 48

// shallow returns the bytes of memory of v without its elements.
func (v Value) shallow() int {
	switch v.kind {
	case List:
		return valueSize * (1 + v.Len())
	case Object:
		return valueSize * (1 + 2*len(v.Fields().Keys))
	}
	return len(v.text)
}

// deep returns the bytes of memory of v with its elements. A shared element counts each time.
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

// ParseNumber converts a text to a number as JavaScript does: surrounding blanks are ignored,
// the whole rest has to be a number, and an empty text is 0.
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
		if base := map[byte]int{'x': 16, 'o': 8, 'b': 2}[text[1]|0x20]; base != 0 {
			n, ok := new(big.Int).SetString(text[2:], base)
			if !ok || strings.Trim(text[2:], "0123456789abcdefABCDEF") != "" {
				return 0, false
			}
			number, _ := new(big.Float).SetInt(n).Float64()
			return number, true
		}
	}
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // strconv knows more than JavaScript
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil || math.IsInf(number, 0)
}

// round rounds half towards positive infinity to a number of decimals.
func round(number float64, decimals int) float64 {
	if decimals == 0 {
		return roundHalfUp(number)
	}
	scale := math.Pow(10, float64(decimals))
	if rounded := roundHalfUp(number*scale) / scale; !math.IsNaN(rounded) {
		return rounded
	}
	return number
}

// roundHalfUp is Math.round: adding a half would round 0.49999999999999994 to 1.
func roundHalfUp(number float64) float64 {
	floor := math.Floor(number)
	if number-floor >= 0.5 {
		return floor + 1
	}
	return floor
}

// fixed is toFixed(): the exact value rounded to 0 to 100 decimals, halves away from zero.
// Numbers from 1e21 on are written in exponential form.
func fixed(number float64, decimals int) string {
	if math.IsNaN(number) || math.IsInf(number, 0) || math.Abs(number) >= 1e21 {
		return OfNumber(number).Text()
	}
	exact := new(big.Rat).SetFloat64(number)
	return exact.FloatString(decimals)
}

// IsSpace reports whether trim() of JavaScript removes r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' }
