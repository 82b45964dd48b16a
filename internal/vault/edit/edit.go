// Package edit changes the text of a note: its end or start, a section, a block, some lines, a text that occurs
// once, or the mark of a task.
//
// It works on bytes, never modifies its arguments, and preserves every byte outside the edited part: line ends,
// a byte order mark, invalid UTF-8, and the presence or absence of a final line break. New text is inserted
// unchanged, including its line ends ([KeepLineEnds] converts them); only the separators around it get the line
// ends of the note. An edit that would change how the rest of the note is parsed is refused with the line and
// the reason, and so is one whose target is ambiguous.
//
// A [Move] rewrites the links of notes, canvases and bases so that they lead where they led
// before files or their parts were moved, or a heading was renamed. It opens no file: it works
// on the text of one file and on the paths of the vault before and after. Only targets change,
// and the display texts that repeat the name of a moved file. A link that still leads to the
// right file is left alone, and so is one that led nowhere. Links in code and HTML comments
// are not links, as in the app.
package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// maxCandidates limits the lines that an error lists; the reader chooses one.
const maxCandidates = 10

// NotFound is the error for a part that a note does not have.
type NotFound struct {
	What, Wanted string
	Near         []int // lines that contain a part of it
}

func (n *NotFound) Error() string { return fmt.Sprintf("%s %q not found", n.What, n.Wanted) }

// Ambiguous is the error for a target that matches several parts of a note.
type Ambiguous struct {
	What, Wanted string
	Count        int
	Lines        []int // of the first matches
}

func (a *Ambiguous) Error() string {
	return fmt.Sprintf("%s %q is there %d times: %s", a.What, a.Wanted, a.Count, OnLines(a.Lines, a.Count))
}

// add counts one more match, and records its line if there is room.
func (a *Ambiguous) add(line int) {
	a.Count++
	if len(a.Lines) < maxCandidates {
		a.Lines = append(a.Lines, line)
	}
}

// Refusal is the error for an edit that was not made.
type Refusal struct {
	Line    int
	Reason  string
	Instead []int // lines at which the edit is possible
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("line %d: %s", r.Line, r.Reason)
	if len(r.Instead) > 0 {
		text += "; possible: " + OnLines(r.Instead, len(r.Instead))
	}
	return text
}

// OnLines lists the lines some, which are the first of count lines: "line 4", "lines 4, 9", "lines 4, 9 and 3
// more".
func OnLines(some []int, count int) string {
	text := "lines " + strings.ReplaceAll(strings.Trim(fmt.Sprint(some), "[]"), " ", ", ")
	if len(some) == 1 {
		text = fmt.Sprintf("line %d", some[0])
	}
	if more := count - len(some); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// doc is a note being edited.
type doc struct {
	text []byte
	note markdown.Note
}

func read(text []byte) *doc { return &doc{text, markdown.Scan(text)} }

// splice returns the text with a span replaced by content.
func (d *doc) splice(at markdown.Span, content string) []byte {
	edited := make([]byte, 0, len(d.text)+len(content)-(at.End-at.Start))
	edited = append(edited, d.text[:at.Start]...)
	edited = append(edited, content...)
	return append(edited, d.text[at.End:]...)
}

// line returns the number of the line with the offset at.
func (d *doc) line(at int) int { return 1 + bytes.Count(d.text[:at], newline) }

// lineAt returns the line that begins at the offset at, without its line break.
func (d *doc) lineAt(at int) string {
	line, _, _ := bytes.Cut(d.text[at:], newline)
	return string(bytes.TrimSuffix(line, []byte("\r")))
}

// lineBefore returns the line before the one that begins at the offset at, and its own offset. ok is false for
// the first line of the body.
func (d *doc) lineBefore(at int) (line string, start int, ok bool) {
	if at <= d.note.Body {
		return "", at, false
	}
	end := at
	if d.text[end-1] == '\n' {
		end--
	}
	start = max(bytes.LastIndexByte(d.text[:end], '\n')+1, d.note.Body)
	return d.lineAt(start), start, true
}

// next returns the offset of the line after the one with the offset at.
func (d *doc) next(at int) int {
	n := bytes.IndexByte(d.text[at:], '\n')
	if n < 0 {
		return len(d.text)
	}
	return at + n + 1
}

// startOf returns the offset of a line by its number; -1 if the text has fewer lines.
func (d *doc) startOf(line int) int {
	at := 0
	for n := 1; n < line; n++ {
		next := d.next(at)
		if next == len(d.text) && !endsLine(d.text) || next == at {
			return -1
		}
		at = next
	}
	return at
}

// lineEnd returns the line break that is used near the offset at: that of the line above, otherwise that of the
// line below.
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

// withEnds returns a text with the same break after every line. The result is not for writing, but for
// searching a note that has other line ends.
func withEnds(text, end string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", end)
}

// linesOf returns the lines of content without their breaks. A final break does not start another line.
func linesOf(content string) []string {
	return strings.Split(strings.TrimSuffix(withEnds(content, "\n"), "\n"), "\n")
}

// keepsFront reports whether an edited note has the same properties.
func (d *doc) keepsFront(edited *doc) bool {
	front := edited.note.Frontmatter
	if front != d.note.Frontmatter || (edited.note.Body > 0) != (d.note.Body > 0) {
		return false
	}
	// The line that ends the block may have got a break.
	return bytes.Equal(edited.text[:front.End], d.text[:front.End])
}

// keeps reports whether an edit that replaces a span by size bytes leaves everything that the index has about
// the rest of the note unchanged.
func (d *doc) keeps(edited *doc, at markdown.Span, size int) bool {
	now := markdown.Span{Start: at.Start, End: at.Start + size}
	return slices.Equal(d.facts(at), edited.facts(now))
}

// fact is one thing that the index has about a note. Its position counts from the start of the note or, if
// after is set, from its end.
type fact struct {
	what, text string
	after      bool
	at         int
}

// facts lists what is outside the edited span. Of something that overlaps the span, only the name counts,
// because the edit changes the rest.
func (d *doc) facts(edit markdown.Span) (list []fact) {
	add := func(what, name, detail string, start, end int) {
		switch {
		case end <= edit.Start:
			list = append(list, fact{what, name + " " + detail, false, start})
		case start >= edit.End:
			list = append(list, fact{what, name + " " + detail, true, len(d.text) - start})
		case start < edit.Start || end > edit.End:
			list = append(list, fact{what + " across", name, false, start})
		}
	}
	for _, h := range d.note.Headings {
		add("heading", "", string(rune('0'+h.Level))+h.Text, h.At, h.At+1)
	}
	for _, l := range d.note.Links {
		add("link", l.Target, "", l.Span.Start, l.Span.End)
	}
	for _, t := range d.note.Tags {
		add("tag", t.Text, "", t.At, t.At+len(t.Text))
	}
	for _, t := range d.note.Tasks {
		add("task", "", t.Text, t.MarkAt.Start, t.MarkAt.End)
	}
	for _, b := range d.note.Blocks {
		add("block", b.ID, string(d.text[b.Span.Start:b.Span.End]), b.Span.Start, b.Span.End)
	}
	return list
}

var newline = []byte("\n")

// Body returns the text of a note after its frontmatter, if it has any. A note that begins with a byte order
// mark has none.
func Body(text []byte) []byte {
	first, rest, _ := bytes.Cut(text, newline)
	if !isFence(first) {
		return text
	}
	for len(rest) > 0 {
		var line []byte
		if line, rest, _ = bytes.Cut(rest, newline); isFence(line) {
			return rest
		}
	}
	return text
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }
