package textedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const maxJSONDepth = 500 // of nested values; settings have ten

// jsonNode is a value in the text, from start up to end.
type jsonNode struct {
	kind       byte // one of { [ " 0 t f n
	start, end int
	members    []jsonMember // of an object
	items      []*jsonNode  // of an array
	text       string       // of a string
}

type jsonMember struct {
	key      string
	keyStart int
	gap      int // where the white space before the key begins
	value    *jsonNode
	comma    int // offset of the comma after the value, -1 for none
}

func (n *jsonNode) find(key string) int {
	return slices.IndexFunc(n.members, func(m jsonMember) bool { return m.key == key })
}

// jsonScanner reads a text once. Its methods panic with a [*Malformed].
type jsonScanner struct {
	text    []byte
	at      int
	last    int // the end of the last token or comment
	options JSON
}

func (s *jsonScanner) fail(offset int, format string, args ...any) {
	panic(MalformedAt(s.text, offset, fmt.Sprintf(format, args...)))
}

// parseJSON returns the value of a text, nil for one of white space and comments alone.
func parseJSON(text []byte, options JSON) (root *jsonNode, err error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *Malformed:
			root, err = nil, failed
		default:
			panic(failed)
		}
	}()
	s := &jsonScanner{text: text, options: options}
	if bytes.HasPrefix(text, []byte(BOM)) {
		s.at = len(BOM)
	}
	s.last = s.at
	s.skip()
	if s.at == len(text) {
		return nil, nil
	}
	root = s.value(0)
	s.skip()
	if s.at < len(text) {
		s.fail(s.at, "text after the end of the document")
	}
	return root, nil
}

func (s *jsonScanner) skip() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.at++
		case c == '/':
			end := commentEnd(s.text, s.at)
			switch {
			case end == 0:
				s.fail(s.at, `unexpected "/"`)
			case end < 0:
				s.fail(s.at, "comment without an end")
			case !s.options.Comments:
				s.fail(s.at, "comment in a file that the client reads without comments")
			}
			s.at, s.last = end, end
		default:
			return
		}
	}
}

// commentEnd returns the end of the comment at an offset, without the line end of a line
// comment; 0 if there is no comment and -1 if it is not closed.
func commentEnd(text []byte, at int) int {
	switch {
	case bytes.HasPrefix(text[at:], []byte("//")):
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if text[end-1] == '\r' {
			end--
		}
		return end
	case bytes.HasPrefix(text[at:], []byte("/*")):
		if i := bytes.Index(text[at+2:], []byte("*/")); i >= 0 {
			return at + 2 + i + 2
		}
		return -1
	}
	return 0
}

func (s *jsonScanner) value(depth int) *jsonNode {
	if depth > maxJSONDepth {
		s.fail(s.at, "more than %d nested values", maxJSONDepth)
	}
	if s.at == len(s.text) {
		s.fail(s.at, "value expected, found the end of the file")
	}
	n := &jsonNode{kind: s.text[s.at], start: s.at}
	switch c := n.kind; {
	case c == '{':
		s.token()
		seen := map[string]bool{}
		for s.skip(); !s.closes('}', n.start); s.skip() {
			m := jsonMember{keyStart: s.at, gap: s.last, comma: -1}
			if s.text[s.at] != '"' {
				s.fail(s.at, "name in double quotes expected")
			}
			m.key = s.str()
			if seen[m.key] {
				s.fail(m.keyStart, "%q is given twice", m.key)
			}
			seen[m.key] = true
			s.last = s.at
			s.skip()
			if s.at == len(s.text) || s.text[s.at] != ':' {
				s.fail(s.at, "colon expected after %q", m.key)
			}
			s.token()
			s.skip()
			m.value = s.value(depth + 1)
			m.comma = s.comma('}')
			n.members = append(n.members, m)
		}
	case c == '[':
		s.token()
		for s.skip(); !s.closes(']', n.start); s.skip() {
			n.items = append(n.items, s.value(depth+1))
			s.comma(']')
		}
	case c == '"':
		n.text = s.str()
	case c == '-' || c >= '0' && c <= '9':
		n.kind = '0'
		start := s.at
		for s.at < len(s.text) && strings.IndexByte("+-.0123456789eE", s.text[s.at]) >= 0 {
			s.at++
		}
		if !json.Valid(s.text[start:s.at]) {
			s.fail(start, "invalid number %q", s.text[start:min(s.at, start+40)])
		}
	default:
		words := []string{"true", "false", "null"}
		i := slices.IndexFunc(words, func(word string) bool { return bytes.HasPrefix(s.text[s.at:], []byte(word)) })
		if i < 0 {
			end := s.at
			for end < len(s.text) && end < s.at+20 && !strings.ContainsRune(" \t\r\n,:{}[]", rune(s.text[end])) {
				end++
			}
			s.fail(s.at, "value expected, found %s", strconv.Quote(string(s.text[s.at:max(end, s.at+1)])))
		}
		s.at += len(words[i])
	}
	n.end, s.last = s.at, s.at
	return n
}

func (s *jsonScanner) token() {
	s.at++
	s.last = s.at
}

func (s *jsonScanner) closes(bracket byte, opened int) bool {
	if s.at == len(s.text) {
		m := MalformedAt(s.text, opened, "")
		s.fail(s.at, "%q expected: the bracket opened at line %d, column %d is not closed", string(bracket), m.Line, m.Column)
	}
	if s.text[s.at] != bracket {
		return false
	}
	s.token()
	return true
}

// comma reads the comma after a value and returns its offset, -1 if the bracket follows.
func (s *jsonScanner) comma(bracket byte) int {
	s.skip()
	if s.at == len(s.text) || s.text[s.at] == bracket {
		return -1
	}
	if s.text[s.at] != ',' {
		s.fail(s.at, "comma or %q expected", string(bracket))
	}
	comma := s.at
	s.token()
	if s.options.TrailingCommas {
		return comma
	}
	last := s.last
	s.skip()
	if s.at < len(s.text) && s.text[s.at] == bracket {
		s.fail(comma, "comma before %q", string(bracket))
	}
	s.at, s.last = last, last
	return comma
}

func (s *jsonScanner) str() string {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			var text string
			if err := json.Unmarshal(s.text[start:s.at], &text); err != nil {
				s.fail(start, "string with an invalid escape")
			}
			return text
		case c == '\\':
			s.at++
		case c < ' ':
			s.fail(s.at, "control character or line end in a string")
		}
	}
	s.fail(start, "string without an end")
	return ""
}

// plain returns the value as encoding/json would.
func (n *jsonNode) plain(text []byte) any {
	if n == nil {
		return nil
	}
	switch n.kind {
	case '{':
		mapping := make(map[string]any, len(n.members))
		for _, m := range n.members {
			mapping[m.key] = m.value.plain(text)
		}
		return mapping
	case '[':
		list := make([]any, 0, len(n.items))
		for _, item := range n.items {
			list = append(list, item.plain(text))
		}
		return list
	case '"':
		return n.text
	case '0':
		return json.Number(text[n.start:n.end])
	case 't':
		return true
	case 'f':
		return false
	}
	return nil
}
