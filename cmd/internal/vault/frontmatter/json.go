package frontmatter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON returns the properties as the app prints them: indented by two blanks, in their own
// types, with numbers as JavaScript writes them. Values that JSON lacks (infinity) are
// null.
func (p Properties) JSON() string {
	return string(Value{kind: Map, more: p}.appendJSON(nil, "\n", true))
}

// JSON returns v as it is in the JSON of its properties.
func (v Value) JSON() string { return string(v.appendJSON(nil, "\n", true)) }

// appendJSON appends v, each part on lines of its own if indented is set; indent is the
// line break and the indent of the line on which v begins.
func (v Value) appendJSON(out []byte, indent string, indented bool) []byte {
	inner := indent
	if indented {
		inner += "  "
	}
	switch v.kind {
	case Bool:
		return append(out, strconv.FormatBool(v.truth)...)
	case Number:
		if !isFinite(v.number) {
			return append(out, "null"...)
		}
		return append(out, FormatNumber(v.number)...)
	case String:
		return AppendQuoted(out, v.text)
	case List:
		if len(v.List()) == 0 {
			return append(out, "[]"...)
		}
		open := byte('[')
		for _, element := range v.List() {
			out = append(append(out, open), inner...)
			open = ','
			out = element.appendJSON(out, inner, indented)
		}
		return append(append(out, indent...), ']')
	case Map:
		if len(v.Fields()) == 0 {
			return append(out, "{}"...)
		}
		open := byte('{')
		for _, field := range v.Fields() {
			out = append(append(out, open), inner...)
			open = ','
			out = append(AppendQuoted(out, field.Key), ':')
			if indented {
				out = append(out, ' ')
			}
			out = field.Value.appendJSON(out, inner, indented)
		}
		return append(append(out, indent...), '}')
	}
	return append(out, "null"...)
}

// AppendQuoted appends text as a JSON string, escaping no more than it must: encoding/json
// would escape characters with a meaning in HTML as well.
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
