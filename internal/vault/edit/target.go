package edit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Target names a part of a note: [Heading], [Block] or [Lines]. The zero Target names
// nothing and is refused.
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

// Heading is the section of a heading, sub-headings included; "A#B" is B below A. Case and
// punctuation do not count. Headings in code are none.
func Heading(text string) Target { return Target{kind: heading, name: text} }

// Block is the block with an id, with or without its mark.
func Block(id string) Target { return Target{kind: block, name: strings.TrimPrefix(id, "^")} }

// Lines are the lines from the one to the other, counted from 1. The last may be beyond
// the end.
func Lines(from, to int) Target { return Target{kind: someLines, from: from, to: to} }

// span returns the bytes of a part: whole lines of a section and of lines, the block alone
// of a block.
func (d *doc) span(t Target) (markdown.Span, error) {
	switch t.kind {
	case heading:
		i, err := FindHeading(d.found, t.name)
		if err != nil {
			return markdown.Span{}, err
		}
		return d.found.Section(i), nil
	case block:
		all := &Ambiguous{What: "block", Wanted: t.name}
		for _, b := range d.found.Blocks {
			if strings.EqualFold(b.ID, t.name) {
				all.add(b.Line)
			}
		}
		switch all.Count {
		case 0:
			// The app has none within a table.
			isID := func(word string) bool {
				name, ok := strings.CutPrefix(word, "^")
				return ok && strings.EqualFold(name, t.name)
			}
			for at := d.found.Body; at < len(d.text); at = d.next(at) {
				row := d.lineAt(at)
				if kindOf(row) == tableRow &&
					slices.ContainsFunc(strings.Fields(strings.ReplaceAll(row, "|", " ")), isID) &&
					!d.isRaw(at) {
					return markdown.Span{}, &Refusal{
						Line: d.line(
							at,
						), Reason: fmt.Sprintf("block id %q is in the row of a table, where it names nothing", t.name),
						Instead: d.around(at, tableRow),
					}
				}
			}
			return markdown.Span{}, &NotFound{What: "block", Wanted: t.name}
		case 1:
			b, _ := d.found.Block(t.name)
			return b.Span, nil
		}
		return markdown.Span{}, all
	case someLines:
		// Find whole lines, which must be some of the body.
		start := d.startOf(t.from)
		isOfEmptyNote := len(d.text) == 0 && t.from == 1
		switch {
		case t.from < 1 || t.to < t.from:
			return markdown.Span{}, &NotFound{What: "line", Wanted: fmt.Sprintf("%d-%d", t.from, t.to)}
		case start < 0, start == len(d.text) && !isOfEmptyNote:
			return markdown.Span{}, &NotFound{What: "line", Wanted: strconv.Itoa(t.from)}
		case start < d.found.Body:
			return markdown.Span{}, &Refusal{Line: t.from, Reason: "the line is one of the properties"}
		}
		end := d.startOf(t.to + 1)
		if end < 0 {
			end = len(d.text)
		}
		return markdown.Span{Start: start, End: end}, nil
	}
	return markdown.Span{}, &Refusal{Line: 1, Reason: "no part of the note is named"}
}

// FindHeading returns the index of the one heading of a note that is meant; "A#B" is B
// below A. Case and punctuation do not count. The errors are *[NotFound] and *[Ambiguous].
func FindHeading(found markdown.Note, wanted string) (int, error) {
	return NewOutline(found).Find(wanted)
}

// plain is a heading as links compare it: case, punctuation and the width of blanks do not
// count.
func plain(s string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(letters), " ")
}

// SameHeading reports whether a link takes two headings for one: case and punctuation do
// not count.
func SameHeading(a, b string) bool { return plain(a) == plain(b) }

// RenameHeading returns the note with another text for the heading at an index. Its marks,
// the breaks around it and a block id after it stay. A text with which there would be
// another heading is a *[Refusal].
func RenameHeading(text []byte, place int, to string) ([]byte, error) {
	d := read(text)
	h := d.found.Headings[place]
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
	if at := strings.LastIndex(h.Text, " ^"); at >= 0 && at+2 < len(h.Text) &&
		strings.Trim(strings.ToLower(h.Text[at+2:]), idBytes) == "" {
		wanted += h.Text[at:]
	}
	edited := read(d.splice(markdown.Span{Start: h.At + start, End: h.At + start + len(h.Text)}, wanted))
	now := edited.found
	if len(now.Headings) != len(d.found.Headings) || len(now.Blocks) != len(d.found.Blocks) || !d.keepsFront(edited) {
		return nil, refusal
	}
	for i, other := range now.Headings {
		old := d.found.Headings[i]
		if i == place {
			old.Text = wanted
		}
		if other.Text != old.Text || other.Level != old.Level || other.Line != old.Line {
			return nil, refusal
		}
	}
	return edited.text, nil
}

// belowHeading returns where the text below a heading begins. A setext heading has several
// lines.
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

// checkBelow refuses content that would end the section of a heading.
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

// SetTask returns the note with another mark in the box of the task on a line: one
// character, a blank for an open task. The error is a *[Refusal].
func SetTask(text []byte, line int, mark rune) ([]byte, error) {
	d := read(text)
	onLine := func(task markdown.Task) bool { return task.Line == line }
	n := slices.IndexFunc(d.found.Tasks, onLine)
	if n < 0 {
		return nil, &Refusal{Line: line, Reason: "there is no task"}
	}
	at := d.found.Tasks[n].MarkAt
	size := len(string(mark))
	if d.found.Tasks[n].Mark == mark && at.End-at.Start == size {
		return text, nil
	}
	if mark >= ' ' && mark != 0x7f && mark != 0xfffd {
		edited := read(d.splice(at, string(mark)))
		now := slices.IndexFunc(edited.found.Tasks, onLine)
		if now >= 0 && edited.found.Tasks[now].Mark == mark && d.keeps(edited, at, size) {
			return edited.text, nil
		}
	}
	return nil, &Refusal{Line: line, Reason: "this character cannot be the mark of a task"}
}
