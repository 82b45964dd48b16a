package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// resolve returns the value of a plain scalar in the core schema of YAML 1.2. The
// library uses the schema of YAML 1.1, in which dates are times, 012 is ten and
// yes is true.
func resolve(text string) Value {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Value{}
	case "true", "True", "TRUE":
		return Value{kind: Bool, truth: true}
	case "false", "False", "FALSE":
		return Value{kind: Bool}
	}
	if f, ok := parseNumber(text); ok {
		return Value{kind: Number, number: f, text: text}
	}
	return Value{kind: String, text: text}
}

// parseNumber parses a number of the core schema.
func parseNumber(text string) (float64, bool) {
	digits := text
	signed := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
		signed = true
	}
	switch {
	case digits == "":
		return 0, false
	case digits[0] == '.' && len(digits) > 1 && !isDigit(digits[1]):
		switch text {
		case ".nan", ".NaN", ".NAN":
			return math.NaN(), true
		case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
			return math.Inf(1), true
		case "-.inf", "-.Inf", "-.INF":
			return math.Inf(-1), true
		}
		return 0, false
	case !isDigit(digits[0]) && digits[0] != '.':
		return 0, false
	case len(digits) > 2 && (digits[1] == 'x' || digits[1] == 'o'):
		if signed || digits[0] != '0' {
			return 0, false
		}
		base := 16
		if digits[1] == 'o' {
			base = 8
		}
		if digits[2] == '+' || digits[2] == '-' {
			return 0, false
		}
		n, ok := new(big.Int).SetString(digits[2:], base)
		if !ok {
			return 0, false
		}
		f, _ := new(big.Float).SetInt(n).Float64()
		return f, true
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	if strings.Trim(mantissa, "0123456789.") != "" || strings.Trim(exponent, "0123456789+-") != "" {
		return 0, false // strconv accepts more than YAML, and allocates an error for each date
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || math.IsInf(f, 0)
}

// FormatNumber writes f as JavaScript does.
func FormatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	if size := math.Abs(f); 1e-6 <= size && size < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	return mantissa + "e" + exponent[:1] + strings.TrimPrefix(exponent[1:], "0")
}

// shieldBase is the first of 256 private-use characters that replace certain characters for the
// library: it refuses control characters and treats three others as line ends, as in YAML 1.1;
// the app does neither.
const shieldBase = 0x10f000

// shield returns block as it is passed to the library: with replaced characters, and with a
// line end after the last line, without which a literal text at the end of the block would
// have none. Invalid UTF-8 is replaced, too.
func shield(block []byte) []byte {
	out := bytes.Map(func(r rune) rune {
		if isShielded(r) {
			return shieldBase | r&0xff
		}
		return r
	}, block)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return out
}

func isShielded(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\r' && r != '\t'
	case 0x7f <= r && r <= 0x9f:
		return true
	case r == '\u2028', r == '\u2029', r == 0xfffe, r == 0xffff:
		return true
	}
	return false
}

// unshield is the inverse of shield for the characters of text.
func unshield(text string) string {
	const first = "\xf4\x8f" // the first bytes of every replacement in UTF-8
	if !strings.Contains(text, first) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < shieldBase || r > shieldBase|0xff {
			return r
		}
		for _, high := range []rune{0, 0x2000, 0xff00} {
			if shielded := high | r&0xff; isShielded(shielded) {
				return shielded
			}
		}
		return r
	}, text)
}

// The names of types that parameters have in addition to those of [Type].
const (
	typeList     Type = "list"
	typeDatetime Type = "datetime"
)

// ParseValue parses the value of a property as a user types it. The type is text, list, number,
// checkbox, date or datetime; multitext is the same as list. For "", the type is inferred from
// the text. The errors are the messages of the app if they are known.
//
// A list is split at commas outside of links and of elements in quotation marks, and blanks
// around elements are dropped. It can also be a JSON array of strings: "[]" is an empty list,
// while "" is a list with one empty element. An empty date is null.
func ParseValue(typed string, as Type) (Value, error) {
	switch as {
	case "":
		// Numbers with leading zeros, or with more digits than the app can store, are usually codes. They
		// remain text, and so do lists except "[]".
		switch {
		case typed == "true" || typed == "false":
			return Value{kind: Bool, truth: typed == "true"}, nil
		case typed == "[]":
			return Value{kind: List}, nil
		case json.Valid([]byte(typed)) && strings.Trim(typed, "-0123456789.eE+") == "":
			if f, ok := parseNumber(typed); ok && isExact(f, typed) {
				return Value{kind: Number, number: f, text: typed}, nil
			}
		}
		return textValue(typed), nil
	case TypeText:
		return textValue(typed), nil
	case typeList, TypeMultitext:
		return parseList(typed), nil
	case TypeNumber:
		digits := strings.TrimSpace(typed)
		f, ok := parseNumber(digits)
		switch {
		case !ok || math.IsNaN(f) || math.IsInf(f, 0):
			return Value{}, errors.New("Invalid number: " + typed)
		case !isExact(f, digits):
			return Value{}, errors.New(
				"Invalid number: " + typed + ". It has more digits than the app can keep; use type=text",
			)
		}
		return Value{kind: Number, number: f, text: digits}, nil
	case TypeCheckbox:
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "true":
			return Value{kind: Bool, truth: true}, nil
		case "false":
			return Value{kind: Bool}, nil
		}
		return Value{}, errors.New("Invalid checkbox: " + typed + ". Use true or false")
	case TypeDate:
		return parseMoment(typed, "Invalid date format. Use YYYY-MM-DD", time.DateOnly)
	case typeDatetime:
		return parseMoment(
			typed,
			"Invalid datetime format. Use YYYY-MM-DDTHH:mm:ss",
			"2006-01-02T15:04:05",
			"2006-01-02T15:04",
		)
	}
	return Value{}, errors.New("Invalid type: " + string(as) + ". Use text, list, number, checkbox, date or datetime")
}

// InferValue parses the value of a property that has no type yet. It is like [ParseValue] without a type, except that a
// list in brackets is a list whose items have inferred types.
func InferValue(typed string) (Value, error) {
	inBrackets := strings.HasPrefix(typed, "[") && strings.HasSuffix(typed, "]") && !strings.HasPrefix(typed, "[[")
	isList := strings.Contains(typed, ",") || json.Valid([]byte(typed))
	if !inBrackets || !isList || strings.Contains(typed, "\n") {
		return ParseValue(typed, "")
	}
	p, err := Parse([]byte("x: " + typed + "\n"))
	if err != nil || len(p) != 1 || !isFlat(p[0].Value) {
		return ParseValue(typed, "")
	}
	return p[0].Value, nil
}

// isFlat reports whether a value is a list without lists and maps in it.
func isFlat(v Value) bool {
	isNested := func(element Value) bool { return element.kind == List || element.kind == Map }
	return v.kind == List && !slices.ContainsFunc(v.List(), isNested)
}

func textValue(typed string) Value { return Value{kind: String, text: typed} }

// parseList parses a list, see [ParseValue].
func parseList(typed string) Value {
	var elements []string
	if json.Unmarshal([]byte(typed), &elements) != nil || elements == nil {
		elements = nil
		begun := 0
		for at := 0; at <= len(typed); at++ {
			switch {
			case at == len(typed) || typed[at] == ',':
				elements = append(elements, withoutQuotes(strings.TrimSpace(typed[begun:at])))
				begun = at + 1
			case typed[at] == '"' && strings.TrimSpace(typed[begun:at]) == "":
				if end := strings.IndexByte(typed[at+1:], '"'); end >= 0 {
					at += 1 + end
				}
			case strings.HasPrefix(typed[at:], "[["):
				at += max(strings.Index(typed[at:], "]]"), 0)
			}
		}
	}
	v := Value{kind: List}
	for _, element := range elements {
		v.more = append(v.List(), textValue(element))
	}
	return v
}

// withoutQuotes returns a text without the double quotes around it, if it has no others.
func withoutQuotes(text string) string {
	inner, isOpened := strings.CutPrefix(text, `"`)
	if !isOpened || inner == "" || strings.IndexByte(inner, '"') != len(inner)-1 {
		return text
	}
	return inner[:len(inner)-1]
}

// ListOf returns a list of items, which it does not copy.
func ListOf(items []Value) Value { return Value{kind: List, more: items} }

// isExact reports whether the app can store the typed number exactly. It has 53 bits, so only
// whole numbers can be too large.
func isExact(f float64, typed string) bool {
	return strings.ContainsAny(typed, ".eE") || math.Abs(f) < 1<<53
}

// parseMoment parses a date, or a date and a time, in one of the given forms. It must exist in the
// calendar; reason is the error message. An empty text is null.
func parseMoment(typed, reason string, forms ...string) (Value, error) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return Value{}, nil
	}
	fits := func(form string) bool {
		_, err := time.Parse(form, typed)
		return err == nil && len(typed) == len(form)
	}
	if !slices.ContainsFunc(forms, fits) {
		return Value{}, errors.New(reason)
	}
	return textValue(typed), nil
}
