package frontmatter

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Most blocks consist of a few lines with a word, a number, a date or a short list in each,
// sometimes with a comment or a text of several lines. The code in this file reads them in
// a tenth of the time that the library needs, with the same result, which a test checks.
// Everything else, valid or not, is left to the library.

const (
	maxSimple    = 8 << 10 // bytes; well below the limits of the library
	maxSimpleKey = 100     // bytes

	usualProperties = 12 // initial capacity for properties
)

// simple reads a block in which every key begins a line and has one word, text or number,
// or a list or a map of them. It reports false for every other block.
func (p *Parser) simple(block []byte) (Properties, bool) {
	if len(block) > maxSimple || !isSimpleText(block) {
		return nil, false
	}
	if p.properties == nil {
		p.properties = make(Properties, 0, min(bytes.Count(block, []byte("\n")), usualProperties))
	}
	r := simpleReader{rest: string(block), properties: p.properties[:0]}
	open := false     // the last key has no value yet
	var items []Value // the list that is its value
	indent := 0       // the indent of these items
	for r.rest != "" {
		line := r.next()
		text := strings.TrimLeft(line, " ")
		switch {
		case line == "" || line[0] == '#':
		case text == "":
			return nil, false
		case open && strings.HasPrefix(text, "- "): // an item of the list
			v, ok := simpleScalar(strings.Trim(text[len("- "):], " "))
			lineIndent := len(line) - len(text)
			if !ok || len(items) > 0 && lineIndent != indent {
				return nil, false
			}
			items = append(items, v)
			indent = lineIndent
			r.properties[len(r.properties)-1].Value = Value{kind: List, more: items}
		default:
			key, rest, ok := strings.Cut(line, ":")
			isKey := ok && text == line && r.isNew(key)
			isApart := rest == "" || rest[0] == ' '
			if !isKey || !isApart {
				return nil, false
			}
			place := r.line
			rest = strings.Trim(rest, " ")
			v, ok := r.value(rest)
			if !ok {
				return nil, false
			}
			r.properties = append(r.properties, Property{key, v, place})
			open = rest == ""
			items = nil
		}
	}
	if len(r.properties) == 0 {
		return nil, true
	}
	p.properties = r.properties
	return r.properties, true
}

// isSimpleText reports whether every character of a block reaches the library unchanged:
// printable, and not a tab.
func isSimpleText(block []byte) bool {
	for at := 0; at < len(block); {
		b := block[at]
		switch {
		case ' ' <= b && b < 0x7f || b == '\n':
			at++
			continue
		case b == '\r' && at+1 < len(block) && block[at+1] == '\n':
			at += 2
			continue
		case b < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeRune(block[at:])
		isOdd := r == utf8.RuneError || r == '\ufeff'
		if isOdd || r >= shieldBase || isShielded(r) {
			return false
		}
		at += size
	}
	return true
}

// simpleReader reads line by line.
type simpleReader struct {
	rest       string
	line       int // the number of the current line
	properties Properties
}

// next returns the next line without its end.
func (r *simpleReader) next() string {
	line, rest, _ := strings.Cut(r.rest, "\n")
	r.rest = rest
	r.line++
	return strings.TrimSuffix(line, "\r")
}

// value reads a value: text is the rest of the line of its key. For a literal text it also reads the next lines.
func (r *simpleReader) value(text string) (Value, bool) {
	switch {
	case text == "":
		return Value{}, true
	case text == "|":
		// A literal text, whose value ends with one line end.
		var text strings.Builder
		indent := 0
		blank := 0
		for r.rest != "" && strings.IndexByte(" \n\r", r.rest[0]) >= 0 {
			line := r.next()
			if line == "" && indent > 0 {
				blank++
				continue
			}
			lineIndent := len(line) - len(strings.TrimLeft(line, " "))
			if indent == 0 {
				indent = lineIndent
			}
			if lineIndent < indent || lineIndent == len(line) {
				return Value{}, false
			}
			for ; blank > 0; blank-- {
				text.WriteByte('\n')
			}
			text.WriteString(line[indent:])
			text.WriteByte('\n')
		}
		return Value{kind: String, text: text.String()}, indent > 0
	case text[0] == '[':
		rest, ok := cutBrackets(text, "[]")
		list := []Value{}
		for more := rest != ""; more && ok; {
			var element string
			var v Value
			element, rest, more = strings.Cut(rest, ",")
			element = strings.Trim(element, " ")
			if inner, nested := cutBrackets(element, "[]"); nested {
				if v, ok = simpleElement(inner); ok {
					v = Value{kind: List, more: []Value{v}}
				}
			} else {
				v, ok = simpleElement(element)
			}
			list = append(list, v)
		}
		return Value{kind: List, more: list}, ok
	case text[0] == '{':
		line := r.line
		rest, ok := cutBrackets(text, "{}")
		if rest == "" {
			return Value{}, false
		}
		r := simpleReader{line: line}
		for more := true; more && ok; {
			var element string
			element, rest, more = strings.Cut(rest, ",")
			key, value, _ := strings.Cut(strings.Trim(element, " "), ": ")
			var v Value
			v, ok = simpleElement(strings.Trim(value, " "))
			ok = ok && r.isNew(key) && !strings.ContainsAny(key, "[]{}:#?")
			r.properties = append(r.properties, Property{key, v, line})
		}
		return Value{kind: Map, more: r.properties}, ok
	}
	return simpleScalar(text)
}

// isNew reports whether key, the text before a colon, is a string without quotes and not a
// duplicate.
func (r *simpleReader) isNew(key string) bool {
	if key == "" || len(key) > maxSimpleKey || strings.HasSuffix(key, " ") {
		return false
	}
	if !isSimpleStart(key) || isDigit(key[0]) {
		return false
	}
	return resolve(key).kind == String && !strings.Contains(key, " #") &&
		!slices.ContainsFunc(r.properties, func(p Property) bool { return p.Key == key })
}

// isSimpleStart reports whether a text begins with a character that has no special meaning in YAML.
func isSimpleStart(text string) bool {
	b := text[0]
	isLetter := 'a' <= b|0x20 && b|0x20 <= 'z'
	if isLetter || isDigit(b) {
		return true
	}
	return b >= utf8.RuneSelf || strings.IndexByte("_(/.+", b) >= 0
}

// simpleScalar reads a value with or without quotes. It reports false if text is empty or not simple.
func simpleScalar(text string) (Value, bool) {
	if text == "" {
		return Value{}, false
	}
	if mark := text[0]; mark == '"' || mark == '\'' {
		inner, isClosed := strings.CutSuffix(text[1:], string(mark))
		if !isClosed || strings.IndexByte(inner, mark) >= 0 || strings.Contains(inner, `\`) {
			return Value{}, false
		}
		return Value{kind: String, text: inner}, true
	}
	if comment := strings.Index(text, " #"); comment > 0 {
		text = strings.TrimRight(text[:comment], " ")
	}
	negative := text[0] == '-' && len(text) > 1 && isDigit(text[1])
	if !negative && !isSimpleStart(text) {
		return Value{}, false
	}
	if strings.Contains(text, ": ") || strings.HasSuffix(text, ":") {
		return Value{}, false
	}
	return resolve(text), true
}

// simpleElement reads a value within brackets, where even a colon without a blank after it
// may separate a key from a value.
func simpleElement(text string) (Value, bool) {
	isQuoted := strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'")
	if !isQuoted && strings.ContainsAny(text, "[]{}:#?") {
		return Value{}, false
	}
	return simpleScalar(text)
}

// cutBrackets returns the text between brackets, which are an opening and a closing one.
func cutBrackets(text, brackets string) (inner string, ok bool) {
	inner, begins := strings.CutPrefix(text, brackets[:1])
	inner, ends := strings.CutSuffix(inner, brackets[1:])
	return strings.Trim(inner, " "), begins && ends
}
