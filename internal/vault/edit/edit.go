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
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// maxCandidates bounds the lines that an error lists: the reader picks one.
const maxCandidates = 10

// NotFound says that a note has no such part.
type NotFound struct {
	What, Wanted string
	Near         []int // lines that contain a piece of it
}

func (n *NotFound) Error() string { return fmt.Sprintf("%s %q not found", n.What, n.Wanted) }

// Ambiguous says that several parts of a note match.
type Ambiguous struct {
	What, Wanted string
	Count        int
	Lines        []int // of the first of them
}

func (a *Ambiguous) Error() string {
	return fmt.Sprintf("%s %q is there %d times: %s", a.What, a.Wanted, a.Count, OnLines(a.Lines, a.Count))
}

// add notes one more candidate, as long as there is room.
func (a *Ambiguous) add(line int) {
	a.Count++
	if len(a.Lines) < maxCandidates {
		a.Lines = append(a.Lines, line)
	}
}

// Refusal says why an edit was not made, and where it could be.
type Refusal struct {
	Line    int
	Reason  string
	Instead []int // lines
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("line %d: %s", r.Line, r.Reason)
	if len(r.Instead) > 0 {
		text += "; possible: " + OnLines(r.Instead, len(r.Instead))
	}
	return text
}

// OnLines writes some lines of a number of them out: "line 4", "lines 4, 9", "lines 4, 9 and 3 more".
func OnLines(some []int, count int) string {
	text := "lines " + strings.ReplaceAll(strings.Trim(fmt.Sprint(some), "[]"), " ", ", ")
	if len(some) == 1 {
		text = fmt.Sprintf("line %d", some[0])
	}
	if left := count - len(some); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// doc is a note that is edited.
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

// line returns the line number of the offset at.
func (d *doc) line(at int) int { return 1 + bytes.Count(d.text[:at], newline) }

// lineAt returns the line that begins at at, without its break.
func (d *doc) lineAt(at int) string {
	line, _, _ := bytes.Cut(d.text[at:], newline)
	return string(bytes.TrimSuffix(line, []byte("\r")))
}

// lineBefore returns the line that ends before at, where a line begins, and where it
// begins itself; ok is false for the first line of the body.
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

// next returns where the line after that of at begins.
func (d *doc) next(at int) int {
	n := bytes.IndexByte(d.text[at:], '\n')
	if n < 0 {
		return len(d.text)
	}
	return at + n + 1
}

// startOf returns where a line begins, -1 if the text has fewer.
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

// lineEnd returns the break of the lines around at: of the one above, otherwise of the one
// below.
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

// withEnds returns a text with the same break after every line: not to be written, but to
// search a note that has other line ends.
func withEnds(text, end string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", end)
}

// linesOf returns the lines of content without their breaks. A break at the end begins no
// line.
func linesOf(content string) []string {
	return strings.Split(strings.TrimSuffix(withEnds(content, "\n"), "\n"), "\n")
}

// keepsFront reports whether an edited note has the same properties.
func (d *doc) keepsFront(edited *doc) bool {
	front := edited.found.Frontmatter
	if front != d.found.Frontmatter || (edited.found.Body > 0) != (d.found.Body > 0) {
		return false
	}
	// The line that ends the block may have got a break.
	return bytes.Equal(edited.text[:front.End], d.text[:front.End])
}

// keeps reports whether everything that the index has of the note outside a span is the
// same when the span is size bytes long.
func (d *doc) keeps(edited *doc, at markdown.Span, size int) bool {
	now := markdown.Span{Start: at.Start, End: at.Start + size}
	return slices.Equal(d.facts(at), edited.facts(now))
}

// fact is one thing that the index has, and its place, counted from the start of the
// note or, after the edit, from its end.
type fact struct {
	what, text string
	after      bool
	at         int
}

// facts lists what is outside a span. Of what overlaps it only the name counts, for an edit
// changes the rest.
func (d *doc) facts(edit markdown.Span) (all []fact) {
	add := func(what, name, said string, start, end int) {
		switch {
		case end <= edit.Start:
			all = append(all, fact{what, name + " " + said, false, start})
		case start >= edit.End:
			all = append(all, fact{what, name + " " + said, true, len(d.text) - start})
		case start < edit.Start || end > edit.End:
			all = append(all, fact{what + " across", name, false, start})
		}
	}
	for _, h := range d.found.Headings {
		add("heading", "", string(rune('0'+h.Level))+h.Text, h.At, h.At+1)
	}
	for _, l := range d.found.Links {
		add("link", l.Target, "", l.Span.Start, l.Span.End)
	}
	for _, t := range d.found.Tags {
		add("tag", t.Text, "", t.At, t.At+len(t.Text))
	}
	for _, t := range d.found.Tasks {
		add("task", "", t.Text, t.MarkAt.Start, t.MarkAt.End)
	}
	for _, b := range d.found.Blocks {
		add("block", b.ID, string(d.text[b.Span.Start:b.Span.End]), b.Span.Start, b.Span.End)
	}
	return all
}

var newline = []byte("\n")

// Body returns the text of a note after its frontmatter, if it has one. Text after a byte
// order mark has none.
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
