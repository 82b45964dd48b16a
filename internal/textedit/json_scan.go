package textedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const maxJSONDepth = 500 // maximum nesting of values; settings have about ten levels

// jsonNode is a value in the text, from start up to end.
type jsonNode struct {
	kind       byte // its first byte: { [ " t f n, and 0 for every number
	start, end int
	*jsonParts
}

// jsonParts are the parts of a value.
type jsonParts struct {
	members []jsonMember // members of an object
	items   []*jsonNode  // elements of an array
	text    string       // decoded text of a string
}

// notKept stands for the parts of a value of which only the place is kept, see [jsonNode.whole].
var notKept jsonParts

type jsonMember struct {
	key      string
	keyStart int
	gap      int // start of the white space before the key
	value    *jsonNode
	comma    int // offset of the comma after the value, -1 for none
}

func (n *jsonNode) find(key string) int {
	return slices.IndexFunc(n.members, func(m jsonMember) bool { return m.key == key })
}

// jsonScanner parses a text in one pass. Its methods panic with a [*Malformed].
type jsonScanner struct {
	text         []byte
	at           int
	last         int // end of the last token or comment
	options      JSON
	names        []string          // names of the members of all open objects, the outermost first
	decodedNames map[string]string // cache of decoded names by quoted name: most of them occur in many objects
	values       int               // number of values so far
}

// How many levels below the root are kept as nodes. The rest is parsed, too, so that malformed text is refused.
const (
	everything = maxJSONDepth + 1
	listsOnly  = 2 // the members of the root, and the elements of its lists without their parts
)

func (s *jsonScanner) fail(offset int, format string, args ...any) {
	panic(MalformedAt(s.text, offset, fmt.Sprintf(format, args...)))
}

// parseJSON returns the root of a text with the given number of levels below it. It returns nil for a text that has only
// white space and comments.
func parseJSON(text []byte, options JSON, levels int) (root *jsonNode, err error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *Malformed:
			root = nil
			err = failed
		default:
			panic(failed)
		}
	}()
	s := &jsonScanner{text: text, options: options}
	if bytes.HasPrefix(text, []byte(BOM)) {
		s.at = len(BOM)
	}
	s.last = s.at
	s.skipSpace()
	if s.at == len(text) {
		return nil, nil
	}
	root = s.value(0, levels)
	s.skipSpace()
	if s.at < len(text) {
		s.fail(s.at, "text after the end of the document")
	}
	return root, nil
}

// whole returns the node with all its parts; text is the text from which it was parsed.
func (n *jsonNode) whole(text []byte, options JSON) *jsonNode {
	s := &jsonScanner{text: text, options: options, at: n.start, last: n.start}
	return s.value(0, everything)
}

func (s *jsonScanner) skipSpace() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		case '/':
			end := commentEnd(s.text, s.at)
			switch {
			case end == 0:
				s.fail(s.at, `unexpected "/"`)
			case end < 0:
				s.fail(s.at, "comment without an end")
			case !s.options.Comments:
				s.fail(s.at, "comment in a file that the client reads without comments")
			}
			s.at = end
			s.last = end
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

// value parses a value. It returns a node with the given number of levels below it, nil if levels is negative.
func (s *jsonScanner) value(depth, levels int) *jsonNode {
	if depth > maxJSONDepth {
		s.fail(s.at, "more than %d nested values", maxJSONDepth)
	}
	if s.at == len(s.text) {
		s.fail(s.at, "value expected, found the end of the file")
	}
	s.values++
	if s.options.MaxValues > 0 && s.values > s.options.MaxValues {
		s.fail(s.at, "more than %d values", s.options.MaxValues)
	}
	var n *jsonNode
	start := s.at
	kind := s.text[s.at]
	if levels >= 0 {
		n = &jsonNode{kind: kind, start: start, jsonParts: &notKept}
	}
	if levels > 0 {
		n.jsonParts = &jsonParts{}
	}
	switch c := kind; {
	case c == '{':
		members := s.object(depth, levels)
		if levels > 0 {
			n.members = members
		}
	case c == '[':
		s.skipByte()
		for s.skipSpace(); !s.closedBy(']', start); s.skipSpace() {
			item := s.value(depth+1, levels-1)
			if levels > 0 {
				n.items = append(n.items, item)
			}
			s.comma(']')
		}
	case c == '"':
		quoted := s.quotedString()
		if levels > 0 {
			n.text = s.decode(quoted)
		} else if bytes.IndexByte(quoted, '\\') >= 0 {
			s.decode(quoted)
		}
	case c == '-' || c >= '0' && c <= '9':
		for s.at < len(s.text) && strings.IndexByte("+-.0123456789eE", s.text[s.at]) >= 0 {
			s.at++
		}
		if !json.Valid(s.text[start:s.at]) {
			s.fail(start, "invalid number %q", s.text[start:min(s.at, start+40)])
		}
		if n != nil {
			n.kind = '0'
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
	s.last = s.at
	if n != nil {
		n.end = s.at
	}
	return n
}

// object parses an object. It returns its members if levels is positive.
func (s *jsonScanner) object(depth, levels int) (members []jsonMember) {
	opened := s.at
	outer := len(s.names)
	var nameSet map[string]bool // the names of the object, once there are more than fewNames
	s.skipByte()
	for s.skipSpace(); !s.closedBy('}', opened); s.skipSpace() {
		m := jsonMember{keyStart: s.at, gap: s.last, comma: -1}
		if s.text[s.at] != '"' {
			s.fail(s.at, "name in double quotes expected")
		}
		m.key = s.name()
		if nameSet[m.key] || nameSet == nil && slices.Contains(s.names[outer:], m.key) {
			s.fail(m.keyStart, "%q is given twice", m.key)
		}
		s.names = append(s.names, m.key)
		if nameSet == nil && len(s.names)-outer > fewNames {
			nameSet = map[string]bool{}
			for _, name := range s.names[outer:] {
				nameSet[name] = true
			}
		}
		if nameSet != nil {
			nameSet[m.key] = true
		}
		s.last = s.at
		s.skipSpace()
		if s.at == len(s.text) || s.text[s.at] != ':' {
			s.fail(s.at, "colon expected after %q", m.key)
		}
		s.skipByte()
		s.skipSpace()
		m.value = s.value(depth+1, levels-1)
		m.comma = s.comma('}')
		if levels > 0 {
			members = append(members, m)
		}
	}
	s.names = s.names[:outer]
	return members
}

// name parses the name of a member.
func (s *jsonScanner) name() string {
	quoted := s.quotedString()
	if name, ok := s.decodedNames[string(quoted)]; ok {
		return name
	}
	name := s.decode(quoted)
	if s.decodedNames == nil {
		s.decodedNames = map[string]string{}
	}
	if len(s.decodedNames) < maxDecodedNames {
		s.decodedNames[string(quoted)] = name
	}
	return name
}

// maxDecodedNames is the maximum number of cached names. The objects of a list share a few names.
const maxDecodedNames = 100

// fewNames is up to how many names of an object are compared one by one.
const fewNames = 16

// skipByte moves over a token of one byte.
func (s *jsonScanner) skipByte() {
	s.at++
	s.last = s.at
}

// closedBy moves over bracket if it is next, and reports whether it was. opened is the offset of the opening bracket.
func (s *jsonScanner) closedBy(bracket byte, opened int) bool {
	if s.at == len(s.text) {
		m := MalformedAt(s.text, opened, "")
		s.fail(
			s.at,
			"%q expected: the bracket opened at line %d, column %d is not closed",
			string(bracket),
			m.Line,
			m.Column,
		)
	}
	if s.text[s.at] != bracket {
		return false
	}
	s.skipByte()
	return true
}

// comma parses the comma after a value and returns its offset, -1 if the closing bracket follows instead.
func (s *jsonScanner) comma(bracket byte) int {
	s.skipSpace()
	if s.at == len(s.text) || s.text[s.at] == bracket {
		return -1
	}
	if s.text[s.at] != ',' {
		s.fail(s.at, "comma or %q expected", string(bracket))
	}
	comma := s.at
	s.skipByte()
	if s.options.TrailingCommas {
		return comma
	}
	last := s.last
	s.skipSpace()
	if s.at < len(s.text) && s.text[s.at] == bracket {
		s.fail(comma, "comma before %q", string(bracket))
	}
	s.at = last
	s.last = last
	return comma
}

// quotedString parses a string and returns it with its quotes, not decoded.
func (s *jsonScanner) quotedString() []byte {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[start:s.at]
		case c == '\\':
			s.at++
		case c < ' ':
			s.fail(s.at, "control character or line end in a string")
		}
	}
	s.fail(start, "string without an end")
	return nil
}

// decode returns the text of the string that was just parsed.
func (s *jsonScanner) decode(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 { // valid as it is: the whole text is UTF-8
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		s.fail(s.at-len(quoted), "string with an invalid escape")
	}
	return text
}

// plain returns the value as encoding/json would decode it.
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
