package formula

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/frontmatter"
)

// MaxText bounds a text in bytes.
const MaxText = 16 << 20

// errTooLong is what is said of a longer one.
const errTooLong = "A text has at most 16 MiB."

// Bounded returns a text, or an error if it is too long.
func Bounded(text string) Value {
	if len(text) > MaxText {
		return Failure(errTooLong)
	}
	return OfText(text)
}

// Text returns what toString() makes of v, which is also what a cell shows.
func (v Value) Text() string {
	switch v.kind {
	case String, HTML, Icon, URL, Tag:
		return v.text
	case Number:
		return frontmatter.FormatNumber(v.number)
	case Boolean:
		return truthWord(v.number != 0)
	case Error:
		return "Error: " + v.text
	case Image:
		return "![](" + v.text + ")"
	}
	return v.composedText()
}

// composedText is the text of what is more than one.
func (v Value) composedText() string {
	if t, ok := v.Target(); ok {
		return t.String()
	}
	switch ref := v.ref.(type) {
	case Moment:
		return ref.String()
	case Span:
		return ref.Humanize()
	case []Value, *unmade:
		return Join(v.Items(), ", ")
	case *Fields:
		return string(v.appendJSON(nil))
	case Entry:
		return ref.Path()
	case *Pattern:
		return "/" + ref.Body + "/" + ref.Flags
	}
	return ""
}

func truthWord(truth bool) string {
	if truth {
		return "true"
	}
	return "false"
}

// String returns the link as it is written.
func (t Target) String() string {
	if t.Display == "" {
		return "[[" + t.Text + "]]"
	}
	return "[[" + t.Text + "|" + t.Display + "]]"
}

// Join returns the texts of items with separator between them; that of null is
// empty. What would be longer than a text may be ends with the element that is.
func Join(items []Value, separator string) string {
	var out strings.Builder
	for i, item := range items {
		if i > 0 {
			out.WriteString(separator)
		}
		out.WriteString(item.Text())
		if out.Len() > MaxText {
			break
		}
	}
	return out.String()
}

// JSON returns v as JSON without blanks: numbers, booleans, lists and objects as
// such, null for null and for numbers that JSON does not have, and the text of
// everything else.
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

// appendAll appends elements between brackets, each behind its key, if there are
// keys.
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
		if len(out) > MaxText {
			break
		}
	}
	return append(out, closing)
}

// Truthy reports whether a filter takes v for true.
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

// Empty reports what isEmpty() does: there is nothing in v. A number, a boolean,
// a date and a file never are empty.
func (v Value) Empty() bool {
	switch v.kind {
	case Null:
		return true
	case List:
		return v.Len() == 0
	case Object:
		return len(v.Fields().Keys) == 0
	}
	return v.kind.IsText() && v.kind != Link && v.text == ""
}

// Size returns about how many bytes v takes besides itself, with all that is in it.
func (v Value) Size() int {
	if v.kind == List || v.kind == Object {
		return v.extent().elements * valueSize
	}
	return len(v.text)
}

// valueSize is how many bytes of memory a value takes in a list.
const valueSize = 48

// Shallow returns how many bytes of memory v takes, without those of its elements.
func (v Value) Shallow() int {
	switch v.kind {
	case List:
		return valueSize * (1 + v.Len())
	case Object:
		return valueSize * (1 + 2*len(v.Fields().Keys))
	}
	return len(v.text)
}

// Deep returns how many bytes of memory v takes, with its elements. One that is there twice
// counts twice.
func (v Value) Deep() int {
	n := v.Shallow()
	switch v.kind {
	case List:
		for _, item := range v.Items() {
			n += item.Deep()
		}
	case Object:
		for _, item := range v.Fields().Values {
			n += item.Deep()
		}
	}
	return n
}

// ParseNumber reads a number as JavaScript converts a text to one: blanks at
// the ends do not count, the whole rest has to be a number, and nothing is 0.
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
			return parseInteger(text[2:], base)
		}
	}
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // strconv knows more than JavaScript
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil || math.IsInf(number, 0)
}

func parseInteger(digits string, base int) (float64, bool) {
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return 0, false
	}
	number, _ := new(big.Float).SetInt(n).Float64()
	return number, true
}

// Round rounds half towards positive infinity, to a number of decimals.
func Round(number float64, decimals int) float64 {
	if decimals == 0 {
		return roundHalfUp(number)
	}
	scale := math.Pow(10, float64(decimals))
	if rounded := roundHalfUp(number*scale) / scale; !math.IsNaN(rounded) {
		return rounded
	}
	return number
}

// roundHalfUp is Math.round: 0.49999999999999994 is nearer to 0, although adding
// a half to it gives 1.
func roundHalfUp(number float64) float64 {
	floor := math.Floor(number)
	if number-floor >= 0.5 {
		return floor + 1
	}
	return floor
}

// Fixed writes a number with so many decimals, at most 100: the exact value is
// rounded, halves away from zero. Numbers from 1e21 on are written in short.
func Fixed(number float64, decimals int) string {
	if math.IsNaN(number) || math.IsInf(number, 0) || math.Abs(number) >= 1e21 {
		return OfNumber(number).Text()
	}
	exact := new(big.Rat).SetFloat64(number)
	return exact.FloatString(decimals)
}

// IsSpace reports whether JavaScript's trim() removes r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' }
