package frontmatter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON returns the properties as the app prints them: indented by two blanks,
// in their own types, with numbers as JavaScript writes them. What JSON cannot
// say (infinity) is null there.
func (p Properties) JSON() string {
	return string(Value{kind: Map, more: p}.appendJSON(nil, "\n", true))
}

// JSON returns v as it stands in the JSON of its properties.
func (v Value) JSON() string { return string(v.appendJSON(nil, "\n", true)) }

// appendJSON appends v, on lines of its own for each part if indented is set;
// indent is the line end and the indent of the line that v begins on.
func (v Value) appendJSON(out []byte, indent string, indented bool) []byte {
	inner := indent
	if indented {
		inner += "  "
	}
	switch v.kind {
	case Bool:
		return append(out, word(v.truth)...)
	case Number:
		if !isFinite(v.number) {
			return append(out, "null"...)
		}
		return append(out, FormatNumber(v.number)...)
	case String:
		return AppendQuoted(out, v.text)
	case List:
		return v.appendList(out, indent, inner)
	case Map:
		return v.appendMap(out, indent, inner)
	}
	return append(out, "null"...)
}

func (v Value) appendList(out []byte, indent, inner string) []byte {
	if len(v.List()) == 0 {
		return append(out, "[]"...)
	}
	for i, element := range v.List() {
		out = append(out, opener(i, '[')...)
		out = append(out, inner...)
		out = element.appendJSON(out, inner, inner != indent)
	}
	return append(append(out, indent...), ']')
}

func (v Value) appendMap(out []byte, indent, inner string) []byte {
	if len(v.Fields()) == 0 {
		return append(out, "{}"...)
	}
	for i, field := range v.Fields() {
		out = append(out, opener(i, '{')...)
		out = append(out, inner...)
		out = AppendQuoted(out, field.Key)
		out = append(out, ':')
		if inner != indent {
			out = append(out, ' ')
		}
		out = field.Value.appendJSON(out, inner, inner != indent)
	}
	return append(append(out, indent...), '}')
}

// opener returns what stands before an element: the bracket before the first.
func opener(i int, bracket byte) string {
	if i == 0 {
		return string(rune(bracket))
	}
	return ","
}

// AppendQuoted appends text as a JSON string, escaping no more than it must:
// encoding/json would escape what is dangerous in HTML as well.
func AppendQuoted(out []byte, text string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch n := strings.IndexByte("\"\\\b\f\n\r\t", text[0]); {
		case n >= 0:
			out = append(out, '\\', "\"\\bfnrt"[n])
		case r < ' ':
			out = append(out, `\u00`...)
			out = append(out, digits[r>>4], digits[r&0xf])
		default:
			out = utf8.AppendRune(out, r)
		}
		text = text[size:]
	}
	return append(out, '"')
}

// yamlEscape returns how a control character is written in double quotes.
func yamlEscape(r rune) string {
	const named, letters = "\x00\a\b\t\n\v\f\r\x1b", "0abtnvfre"
	if n := strings.IndexRune(named, r); n >= 0 {
		return `\` + letters[n:n+1]
	}
	return `\x` + strconv.FormatInt(0x100|int64(r), 16)[1:]
}
