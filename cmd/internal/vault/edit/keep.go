package edit

import (
	"bytes"
	"slices"

	"vaultwicket/cmd/internal/vault/markdown"
)

// keepsFront reports whether an edited note has the same properties.
func (d *doc) keepsFront(edited []byte) bool {
	found := markdown.Scan(edited)
	if found.Frontmatter != d.found.Frontmatter || (found.Body > 0) != (d.found.Body > 0) {
		return false
	}
	// The line that ends the block may have got a break.
	return bytes.Equal(edited[:found.Frontmatter.End], d.text[:found.Frontmatter.End])
}

// keeps reports whether all that the index knows of the note beside a span is
// the same when the span is size bytes long.
func (d *doc) keeps(edited []byte, at markdown.Span, size int) bool {
	found := markdown.Scan(edited)
	now := markdown.Span{Start: at.Start, End: at.Start + size}
	return slices.Equal(facts(d.text, d.found, at), facts(edited, found, now))
}

// fact is one thing that the index knows: what it is, and where it stands,
// counted from the start of the note or, behind the edit, from its end.
type fact struct {
	what, text string
	behind     bool
	at         int
}

// facts lists what stands beside a span. Of what reaches into it the name counts
// alone, for an edit changes the rest.
func facts(text []byte, n markdown.Note, edit markdown.Span) (all []fact) {
	add := func(what, name, said string, start, end int) {
		switch {
		case end <= edit.Start:
			all = append(all, fact{what, name + " " + said, false, start})
		case start >= edit.End:
			all = append(all, fact{what, name + " " + said, true, len(text) - start})
		case start < edit.Start || end > edit.End:
			all = append(all, fact{what + " across", name, false, start})
		}
	}
	for _, h := range n.Headings {
		add("heading", "", string(rune('0'+h.Level))+h.Text, h.At, h.At+1)
	}
	for _, l := range n.Links {
		add("link", l.Target, "", l.Span.Start, l.Span.End)
	}
	for _, t := range n.Tags {
		add("tag", t.Text, "", t.At, t.At+len(t.Text))
	}
	for _, t := range n.Tasks {
		add("task", "", t.Text, t.MarkAt.Start, t.MarkAt.End)
	}
	for _, b := range n.Blocks {
		add("block", b.ID, string(text[b.Span.Start:b.Span.End]), b.Span.Start, b.Span.End)
	}
	return all
}
