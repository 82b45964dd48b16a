package edit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Target identifies a part of a note: [Heading], [Block] or [Lines]. The zero Target identifies nothing and is
// refused.
type Target struct {
	kind     targetKind
	name     string
	from, to int
}

type targetKind uint8

const (
	noTarget targetKind = iota
	heading
	block
	someLines
)

// Heading returns the target for the section of a heading, including subheadings; "A#B" is B below A. Case and
// punctuation do not matter. Headings in code do not count.
func Heading(text string) Target { return Target{kind: heading, name: text} }

// Block returns the target for the block with an id, which may have its mark "^".
func Block(id string) Target { return Target{kind: block, name: strings.TrimPrefix(id, "^")} }

// Lines returns the target for the lines from the first to the last, counted from 1. The last may be after the
// end of the note.
func Lines(from, to int) Target { return Target{kind: someLines, from: from, to: to} }

// span returns the bytes of a part. For a section and for lines, these are whole lines; for a block, only the
// block.
func (d *doc) span(t Target) (markdown.Span, error) {
	switch t.kind {
	case heading:
		i, err := FindHeading(d.note, t.name)
		if err != nil {
			return markdown.Span{}, err
		}
		return d.note.Section(i), nil
	case block:
		return d.blockSpan(t.name)
	case someLines:
		return d.lineSpan(t.from, t.to)
	}
	return markdown.Span{}, &Refusal{Line: 1, Reason: "no part of the note is named"}
}

// blockSpan returns the span of the block with an id.
func (d *doc) blockSpan(id string) (markdown.Span, error) {
	matches := &Ambiguous{What: "block", Wanted: id}
	for _, b := range d.note.Blocks {
		if strings.EqualFold(b.ID, id) {
			matches.add(b.Line)
		}
	}
	switch matches.Count {
	case 0:
		// The app does not recognize block ids within a table.
		isID := func(word string) bool {
			name, ok := strings.CutPrefix(word, "^")
			return ok && strings.EqualFold(name, id)
		}
		for at := d.note.Body; at < len(d.text); at = d.next(at) {
			row := d.lineAt(at)
			if kindOf(row) != tableRow {
				continue
			}
			words := strings.Fields(strings.ReplaceAll(row, "|", " "))
			if slices.ContainsFunc(words, isID) && !d.isRaw(at) {
				return markdown.Span{}, &Refusal{
					Line:    d.line(at),
					Reason:  fmt.Sprintf("block id %q is in the row of a table, where it names nothing", id),
					Instead: d.around(at, tableRow),
				}
			}
		}
		return markdown.Span{}, &NotFound{What: "block", Wanted: id}
	case 1:
		b, _ := d.note.Block(id)
		return b.Span, nil
	}
	return markdown.Span{}, matches
}

// lineSpan returns the span of whole lines, which must be in the body.
func (d *doc) lineSpan(from, to int) (markdown.Span, error) {
	start := d.startOf(from)
	isOfEmptyNote := len(d.text) == 0 && from == 1
	switch {
	case from < 1 || to < from:
		return markdown.Span{}, &NotFound{What: "line", Wanted: fmt.Sprintf("%d-%d", from, to)}
	case start < 0, start == len(d.text) && !isOfEmptyNote:
		return markdown.Span{}, &NotFound{What: "line", Wanted: strconv.Itoa(from)}
	case start < d.note.Body:
		return markdown.Span{}, &Refusal{Line: from, Reason: "the line is one of the properties"}
	}
	end := d.startOf(to + 1)
	if end < 0 {
		end = len(d.text)
	}
	return markdown.Span{Start: start, End: end}, nil
}

// FindHeading returns the index of the only heading that matches; "A#B" is B below A. Case and punctuation do
// not matter. The error is *[NotFound] or *[Ambiguous].
func FindHeading(found markdown.Note, wanted string) (int, error) {
	return NewOutline(found).Find(wanted)
}

// plain returns a heading in the form in which links compare it: without case, punctuation and the width of
// blanks.
func plain(s string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(letters), " ")
}

// SameHeading reports whether links treat two headings as equal: case and punctuation do not matter.
func SameHeading(a, b string) bool { return plain(a) == plain(b) }

// RenameHeading returns the note with another text for the heading with an index. Its marks, the line breaks
// around it and a block id after it stay. The error is a *[Refusal] if the text would not result in exactly
// that heading.
func RenameHeading(text []byte, index int, to string) ([]byte, error) {
	d := read(text)
	h := d.note.Headings[index]
	refusal := &Refusal{Line: h.Line, Reason: fmt.Sprintf("the heading cannot be %q", to)}
	to = strings.TrimSpace(to)
	start := strings.Index(d.lineAt(h.At), h.Text)
	isName := to != "" && !strings.ContainsAny(to, "\r\n")
	isFound := h.Text != "" && start >= 0
	if !isName || !isFound {
		return nil, refusal
	}
	const idBytes = "abcdefghijklmnopqrstuvwxyz0123456789-"
	wanted := to
	if at := strings.LastIndex(h.Text, " ^"); at >= 0 {
		id := strings.ToLower(h.Text[at+len(" ^"):])
		if id != "" && strings.Trim(id, idBytes) == "" {
			wanted += h.Text[at:]
		}
	}
	edited := read(d.splice(markdown.Span{Start: h.At + start, End: h.At + start + len(h.Text)}, wanted))
	after := edited.note
	if len(after.Headings) != len(d.note.Headings) || len(after.Blocks) != len(d.note.Blocks) || !d.keepsFront(edited) {
		return nil, refusal
	}
	for i, other := range after.Headings {
		old := d.note.Headings[i]
		if i == index {
			old.Text = wanted
		}
		if other.Text != old.Text || other.Level != old.Level || other.Line != old.Line {
			return nil, refusal
		}
	}
	return edited.text, nil
}

// belowHeading returns the offset of the text below a heading. A setext heading has several lines.
func (d *doc) belowHeading(h markdown.Heading) int {
	at := d.next(h.At)
	if d.text[h.At] == '#' {
		return at
	}
	for at < len(d.text) {
		line := strings.TrimSpace(d.lineAt(at))
		at = d.next(at)
		if line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "") {
			break
		}
	}
	return at
}

// checkBelow returns an error if content would end the section of a heading.
func checkBelow(h markdown.Heading, content string) error {
	for _, inner := range markdown.Scan([]byte(content)).Headings {
		if inner.Level <= h.Level {
			return &Refusal{
				Line:   h.Line,
				Reason: fmt.Sprintf("heading %q of the text would end the section of %q", inner.Text, h.Text),
			}
		}
	}
	return nil
}

// SetTask returns the note with another mark in the box of the task on a line. The mark is one character, a
// blank for an open task. The error is a *[Refusal].
func SetTask(text []byte, line int, mark rune) ([]byte, error) {
	d := read(text)
	isOnLine := func(task markdown.Task) bool { return task.Line == line }
	n := slices.IndexFunc(d.note.Tasks, isOnLine)
	if n < 0 {
		return nil, &Refusal{Line: line, Reason: "there is no task"}
	}
	at := d.note.Tasks[n].MarkAt
	size := len(string(mark))
	if d.note.Tasks[n].Mark == mark && at.End-at.Start == size {
		return text, nil
	}
	if mark >= ' ' && mark != 0x7f && mark != 0xfffd {
		edited := read(d.splice(at, string(mark)))
		now := slices.IndexFunc(edited.note.Tasks, isOnLine)
		if now >= 0 && edited.note.Tasks[now].Mark == mark && d.keeps(edited, at, size) {
			return edited.text, nil
		}
	}
	return nil, &Refusal{Line: line, Reason: "this character cannot be the mark of a task"}
}
