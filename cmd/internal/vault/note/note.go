// Package note knows where text belongs in a Markdown note. It works on bytes
// alone: whatever it does not add is kept exactly, whether that is a byte order
// mark, line ends of another system or broken UTF-8.
package note

import "bytes"

// bom is the UTF-8 byte order mark, which some editors put in front.
const bom = "\ufeff"

// Append returns text with content at its end.
//
// Unless inline is set, exactly one line break separates the two: it is added
// when text does not end in one, and not added when it does. Adding one always
// would leave a blank line behind every entry of a well-kept list; and whether
// the app does so is not known. An empty text needs no separator.
func Append(text []byte, content string, inline bool) []byte {
	out := make([]byte, 0, len(text)+len("\r\n")+len(content))
	out = append(out, text...)
	if needsBreak(text, inline) {
		out = append(out, lineBreak(text)...)
	}
	return append(out, content...)
}

// needsBreak reports whether content at the end of text needs a line break in
// front. Even inline text must not grow into the fence that ends the
// properties: the note would lose them all.
func needsBreak(text []byte, inline bool) bool {
	if len(bytes.TrimPrefix(text, []byte(bom))) == 0 || endsLine(text) {
		return false
	}
	return !inline || endsInFrontmatter(text)
}

// Prepend returns text with content before its body: behind the properties if
// there are any, else at the start.
//
// Unless inline is set, a line break follows content, always: the app adds one
// to content that ends in a line break, too.
func Prepend(text []byte, content string, inline bool) []byte {
	body := BodyStart(text)
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

// lineBreak returns the line break of most lines of text, LF if it has none.
func lineBreak(text []byte) string {
	if endsInCRLF(text) {
		return "\r\n"
	}
	return "\n"
}

func endsLine(text []byte) bool { return len(text) > 0 && text[len(text)-1] == '\n' }
