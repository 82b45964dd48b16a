package edit

import (
	"bytes"

	"vaultwicket/cmd/internal/vault/markdown"
)

// bom is the UTF-8 byte order mark, which some editors put in front.
const bom = "\ufeff"

// Append returns text with content at its end.
//
// Unless inline is set, exactly one line break separates the two: it is added when text
// does not end in one. Adding one always would leave a blank line after every entry of a
// well-kept list. An empty text needs no separator.
func Append(text []byte, content string, inline bool) []byte {
	out := make([]byte, 0, len(text)+len("\r\n")+len(content))
	out = append(out, text...)
	// Even inline text must not be joined to the closing fence of the properties: the note
	// would lose them all.
	empty := len(bytes.TrimPrefix(text, []byte(bom))) == 0
	if !empty && !endsLine(text) && (!inline || endsInFrontmatter(text)) {
		out = append(out, lineBreak(text)...)
	}
	return append(out, content...)
}

// Prepend returns text with content before its body: after the properties if there are
// any, otherwise at the start.
//
// Unless inline is set, a line break always follows content: the app adds one to content
// that ends in a line break, too.
func Prepend(text []byte, content string, inline bool) []byte {
	body := markdown.BodyStart(text)
	out := make([]byte, 0, len(text)+2*len("\r\n")+len(content))
	out = append(out, text[:body]...)
	if body == len(text) && endsInFrontmatter(text) && !endsLine(text) {
		out = append(out, lineBreak(text)...)
	}
	out = append(out, content...)
	if !inline {
		out = append(out, lineBreak(text)...)
	}
	return append(out, text[body:]...)
}

// endsInFrontmatter reports whether text is a block of properties and nothing else.
func endsInFrontmatter(text []byte) bool {
	start := markdown.BodyStart(text)
	return start == len(text) && start > len(bom)
}

// KeepLineEnds returns the text of a note after a change in which the inserted part has
// the line ends that the note had before, and whether that made a difference. It is for a
// note most of whose lines end in CRLF; others are returned unchanged.
func KeepLineEnds(before, after []byte) (kept []byte, converted bool) {
	if !endsInCRLF(before) {
		return after, false
	}
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	end := len(after)
	for rest := len(before); rest > start && end > start && before[rest-1] == after[end-1]; {
		rest, end = rest-1, end-1
	}
	kept = append(make([]byte, 0, len(after)+bytes.Count(after[start:end], newline)), after[:start]...)
	for i, b := range after[start:end] {
		if at := start + i; b == '\n' && (at == 0 || after[at-1] != '\r') {
			kept = append(kept, '\r')
		}
		kept = append(kept, b)
	}
	if len(kept) == end {
		return after, false
	}
	return append(kept, after[end:]...), true
}

// endsInCRLF reports whether most lines of a text end in CRLF.
func endsInCRLF(text []byte) bool {
	return 2*bytes.Count(text, []byte("\r\n")) > bytes.Count(text, newline)
}

// lineBreak returns the line break of most lines of text, LF if it has none.
func lineBreak(text []byte) string {
	if endsInCRLF(text) {
		return "\r\n"
	}
	return "\n"
}

func endsLine(text []byte) bool { return bytes.HasSuffix(text, newline) }
