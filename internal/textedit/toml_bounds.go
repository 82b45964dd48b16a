package textedit

import (
	"bytes"
	"fmt"
)

// The parser compares each key of a table with those before it, and each part of a key is a table. Without limits, a file
// of a megabyte would keep it busy for minutes.
const (
	maxTOML      = 4 << 20 // bytes
	maxTOMLKeys  = 20_000
	maxTOMLParts = 64 // parts of one key
	maxTOMLDepth = 64 // nesting of lists and inline tables
)

// TOMLBody returns text without its byte order mark, if a parser can handle it in a short time. Otherwise the error is a
// [*Malformed] or an [*Unsupported]. It does not check whether the text is valid TOML.
func TOMLBody(text []byte) (body []byte, err error) {
	if len(text) > maxTOML {
		return nil, &Unsupported{fmt.Sprintf("the file is larger than %d MiB", maxTOML>>20)}
	}
	if err := CheckText(text); err != nil {
		return nil, err
	}
	body = bytes.TrimPrefix(text, []byte(BOM))
	s := tomlBounds{text: body}
	return body, s.check()
}

// tomlBounds counts what makes a TOML parser slow.
type tomlBounds struct {
	text               []byte
	at                 int
	keys, parts, depth int
}

// check reads the text once and returns an error if it exceeds a limit.
func (s *tomlBounds) check() error {
	for s.parts = 1; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '#':
			s.skipTo("\n")
			s.parts = 1
		case '"':
			s.quoted('"')
		case '\'':
			s.quoted('\'')
		case '\n', ',':
			s.parts = 1
		case '=':
			s.keys++
			s.parts = 1
		case '.':
			s.parts++
		case '[', '{':
			s.keys++ // the key of a table, or an element
			s.depth++
			s.parts = 1
		case ']', '}':
			s.depth--
		}
		reason := ""
		switch {
		case s.parts > maxTOMLParts:
			reason = fmt.Sprintf("key with more than %d parts", maxTOMLParts)
		case s.depth > maxTOMLDepth:
			reason = fmt.Sprintf("more than %d lists and tables within each other", maxTOMLDepth)
		case s.keys > maxTOMLKeys:
			reason = fmt.Sprintf("more than %d keys", maxTOMLKeys)
		}
		if reason != "" {
			return MalformedAt(s.text, s.at, reason)
		}
	}
	return nil
}

// quoted moves to the last quotation mark of a string, which may have several lines. If the string is not closed, it stops
// at the end of the line or of the text; the parser will refuse such a text early.
func (s *tomlBounds) quoted(mark byte) {
	end := string(mark)
	if three := string([]byte{mark, mark, mark}); bytes.HasPrefix(s.text[s.at:], []byte(three)) {
		end = three
	}
	for s.at += len(end); s.at < len(s.text) && !bytes.HasPrefix(s.text[s.at:], []byte(end)); s.at++ {
		if mark == '"' && s.text[s.at] == '\\' {
			s.at++
		}
		if len(end) == 1 && s.at < len(s.text) && s.text[s.at] == '\n' {
			return // the string is not closed on its line
		}
	}
	s.at += len(end) - 1
}

// skipTo moves to the next occurrence of end, or to the end of the text.
func (s *tomlBounds) skipTo(end string) {
	n := bytes.Index(s.text[s.at:], []byte(end))
	if n < 0 {
		n = len(s.text) - s.at
	}
	s.at += n
}
