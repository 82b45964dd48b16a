package edit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
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
				all.add(b.Line, d.lineAt(d.startOf(b.Line)))
			}
		}
		switch all.Count {
		case 0:
			return markdown.Span{}, d.noBlock(t.name)
		case 1:
			b, _ := d.found.Block(t.name)
			return b.Span, nil
		}
		return markdown.Span{}, all
	case someLines:
		// Find whole lines, which must be some of the body.
		start := d.startOf(t.from)
		switch {
		case t.from < 1 || t.to < t.from:
			return markdown.Span{}, &NotFound{What: "line", Wanted: fmt.Sprintf("%d-%d", t.from, t.to)}
		case start < 0 || start == len(d.text) && (t.from > 1 || len(d.text) > 0):
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

// noBlock explains why there is no block with an id: the app has none within a table.
func (d *doc) noBlock(id string) error {
	isID := func(word string) bool {
		name, ok := strings.CutPrefix(word, "^")
		return ok && strings.EqualFold(name, id)
	}
	for at := d.found.Body; at < len(d.text); at = d.next(at) {
		row := d.lineAt(at)
		if kindOf(row) == tableRow && slices.ContainsFunc(strings.Fields(strings.ReplaceAll(row, "|", " ")), isID) && !d.isRaw(at) {
			return &Refusal{
				Line: d.line(at), Reason: fmt.Sprintf("block id %q is in the row of a table, where it names nothing", id),
				Instead: d.around(at, tableRow),
			}
		}
	}
	return &NotFound{What: "block", Wanted: id}
}
