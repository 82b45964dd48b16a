// Package edit changes the text of a note: its end or start, a section, a block, some
// lines, a text that occurs once, or the mark of a task.
//
// It works on bytes, never modifies its arguments, and keeps every byte outside the edited
// part: line ends, a byte order mark, broken UTF-8, the break at the end or its absence.
// New text arrives byte for byte, too, its line ends included ([KeepLineEnds] converts
// them); only the separators around it get the line ends of the note. An edit that would
// change how the rest of the note is read is refused with the line and the reason, and so
// is one whose target is ambiguous.
package edit

import (
	"bytes"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// doc is a note about to be edited.
type doc struct {
	text  []byte
	found markdown.Note
}

func read(text []byte) *doc { return &doc{text, markdown.Scan(text)} }

// splice returns the text with other bytes in place of a span.
func (d *doc) splice(at markdown.Span, content string) []byte {
	out := make([]byte, 0, len(d.text)+len(content)-(at.End-at.Start))
	out = append(out, d.text[:at.Start]...)
	out = append(out, content...)
	return append(out, d.text[at.End:]...)
}

// line returns the number of the line on which at lies.
func (d *doc) line(at int) int { return 1 + bytes.Count(d.text[:at], []byte("\n")) }

// lineAt returns the line at at, without its break.
func (d *doc) lineAt(at int) string {
	line, _, _ := bytes.Cut(d.text[at:], []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}

// lineBefore returns the line that ends before at, where a line begins, and
// where it begins itself; ok is false for the first line of the body.
func (d *doc) lineBefore(at int) (line string, start int, ok bool) {
	if at <= d.found.Body {
		return "", at, false
	}
	end := at
	if d.text[end-1] == '\n' {
		end--
	}
	start = max(bytes.LastIndexByte(d.text[:end], '\n')+1, d.found.Body)
	return d.lineAt(start), start, true
}

// next returns where the line behind the one at at begins.
func (d *doc) next(at int) int {
	n := bytes.IndexByte(d.text[at:], '\n')
	if n < 0 {
		return len(d.text)
	}
	return at + n + 1
}

// lineEnd returns the break of the lines around at: of the one above, or else
// of the one below.
func (d *doc) lineEnd(at int) string {
	n := bytes.LastIndexByte(d.text[:at], '\n')
	if n < 0 {
		n = bytes.IndexByte(d.text, '\n')
	}
	if n > 0 && d.text[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// endsLine reports whether the text ends in a line break.
func (d *doc) endsLine() bool { return bytes.HasSuffix(d.text, []byte("\n")) }

// withEnds returns a text with the same end on every line: not to be written,
// but to look for what a note may hold with other line ends.
func withEnds(text, end string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", end)
}

// linesOf returns the lines of content without their breaks. A break at the end
// begins no line.
func linesOf(content string) []string {
	return strings.Split(strings.TrimSuffix(withEnds(content, "\n"), "\n"), "\n")
}
