package frontmatter

import (
	"strings"
	"unicode/utf8"
)

// Most blocks are a few lines with a word, a number, a date or a short list in each. They
// are read here, in a tenth of the time that the library takes. What is read here means
// the same there, which a test checks; everything else, right or wrong, is left to it.

const (
	maxSimple    = 8 << 10 // bytes: the library limits how much a block may have
	maxSimpleKey = 100     // bytes
)

// simple reads a block of keys at the start of their lines, each with one word, text or
// number, or with a list of them. It reports false for every other block.
func simple(block []byte) (Properties, bool) {
	if len(block) > maxSimple || !isSimpleText(block) {
		return nil, false
	}
	r := simpleReader{rest: string(block)}
	for r.rest != "" {
		if !r.readLine() {
			return nil, false
		}
	}
	return r.properties, true
}

// isSimpleText reports whether every character of a block is one that the library sees as
// it is: printable, and no tab.
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
		if r == utf8.RuneError || r == '\ufeff' || r >= shieldBase || isShielded(r) {
			return false
		}
		at += size
	}
	return true
}

// simpleReader reads line by line.
type simpleReader struct {
	rest       string
	line       int // the number of the line at hand
	properties Properties

	open   bool    // the last key has no value yet
	items  []Value // of its list
	indent int     // of the items
}

func (r *simpleReader) readLine() bool {
	line, rest, _ := strings.Cut(r.rest, "\n")
	r.rest = rest
	r.line++
	line = strings.TrimSuffix(line, "\r")
	text := strings.TrimLeft(line, " ")
	switch {
	case text == "":
		return line == ""
	case strings.HasPrefix(text, "- ") && r.open:
		return r.item(text[len("- "):], len(line)-len(text))
	}
	return text == line && r.property(line)
}

// item reads an element of a list with a line of its own.
func (r *simpleReader) item(text string, indent int) bool {
	if len(r.items) > 0 && indent != r.indent {
		return false
	}
	v, ok := simpleScalar(strings.Trim(text, " "))
	if !ok {
		return false
	}
	r.items, r.indent = append(r.items, v), indent
	r.properties[len(r.properties)-1].Value = Value{kind: List, more: r.items}
	return true
}

// property reads a key and what is on its line.
func (r *simpleReader) property(line string) bool {
	key, text, ok := strings.Cut(line, ":")
	if !ok || !isSimpleKey(key) || text != "" && text[0] != ' ' {
		return false
	}
	for _, before := range r.properties {
		if before.Key == key {
			return false
		}
	}
	text = strings.Trim(text, " ")
	var v Value
	switch {
	case text == "":
	case text[0] == '[':
		v, ok = simpleList(text)
	default:
		v, ok = simpleScalar(text)
	}
	r.open, r.items = text == "", nil
	r.properties = append(r.properties, Property{key, v, r.line})
	return ok
}

// isSimpleKey reports whether text in front of a colon is a key that is not in quotes and
// is a string.
func isSimpleKey(key string) bool {
	if key == "" || len(key) > maxSimpleKey || key[len(key)-1] == ' ' || !isSimpleStart(key) || isDigit(key[0]) {
		return false
	}
	return resolve(key).kind == String && !strings.Contains(key, " #")
}

// isSimpleStart reports whether a text begins with what has no meaning of its own.
func isSimpleStart(text string) bool {
	b := text[0]
	return 'a' <= b|0x20 && b|0x20 <= 'z' || isDigit(b) || b >= utf8.RuneSelf || b == '_' || b == '(' || b == '/' || b == '.' || b == '+'
}

// simpleScalar reads a value that is not empty, in quotes or without.
func simpleScalar(text string) (Value, bool) {
	if text == "" {
		return Value{}, false
	}
	if mark := text[0]; mark == '"' || mark == '\'' {
		end := len(text) - 1
		if end == 0 || text[end] != mark || strings.IndexByte(text[1:end], mark) >= 0 || strings.IndexByte(text, '\\') >= 0 {
			return Value{}, false
		}
		return Value{kind: String, text: text[1:end]}, true
	}
	negative := text[0] == '-' && len(text) > 1 && isDigit(text[1])
	if !negative && !isSimpleStart(text) || strings.Contains(text, ": ") || strings.Contains(text, " #") || text[len(text)-1] == ':' {
		return Value{}, false
	}
	return resolve(text), true
}

// simpleList reads a list in square brackets.
func simpleList(text string) (Value, bool) {
	if text[len(text)-1] != ']' || len(text) < len("[]") {
		return Value{}, false
	}
	list := []Value{}
	rest := strings.Trim(text[1:len(text)-1], " ")
	for more := rest != ""; more; {
		var element string
		element, rest, more = strings.Cut(rest, ",")
		element = strings.Trim(element, " ")
		// A colon without a blank behind it may part a key from a value here.
		if strings.ContainsAny(element, "[]{}:#?") {
			return Value{}, false
		}
		v, ok := simpleScalar(element)
		if !ok {
			return Value{}, false
		}
		list = append(list, v)
	}
	return Value{kind: List, more: list}, true
}
