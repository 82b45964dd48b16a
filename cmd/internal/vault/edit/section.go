package edit

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// SetSection returns the note with content in place of a part.
//
// The heading of a section stays; content may repeat it as its first line, so
// that a section can be written back as it was read. The blank lines below the
// heading and at the end of the section stay, too, in place of those at the ends
// of content. A block keeps its id, whether content has it or not, and the break
// behind it; content has the marks of a list or quote as the block has them.
// Content without text empties a section; "" deletes lines.
//
// The errors are *[NotFound], *[Ambiguous] and *[Refusal].
func SetSection(text []byte, t Target, content string) ([]byte, error) {
	d := read(text)
	span, err := d.span(t)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case heading:
		return d.setSection(span, content)
	case block:
		return d.setBlock(t.name, span, content)
	}
	return d.setLines(span, content)
}

// setSection replaces what stands below the heading at the start of a span.
func (d *doc) setSection(section markdown.Span, content string) ([]byte, error) {
	place := d.headingAt(section.Start)
	h := d.found.Headings[place]
	below := markdown.Span{Start: d.behind(h), End: section.End}
	lead, old, trail := apart(string(d.text[below.Start:below.End]))
	end := d.lineEnd(below.Start)
	_, body, _ := apart(withoutHeading(content, h))
	if body == old {
		return d.text, nil
	}
	if err := d.below(h, body); err != nil {
		return nil, err
	}
	if old == "" {
		lead, trail = "", lead+trail
	}
	if below.Start == len(d.text) && !d.endsLine() {
		lead = end
	}
	if body == "" {
		lead = ""
	} else if section.End < len(d.text) || d.endsLine() {
		body += end
	}
	for _, extra := range []string{"", end} {
		put := lead + body + extra + trail
		edited := d.splice(below, put)
		now := read(edited)
		whole := markdown.Span{Start: section.Start, End: below.Start + len(put)}
		if d.keepsFront(edited) && d.keeps(edited, below, len(put)) && len(now.found.Headings) > place && now.found.Section(place) == whole {
			return edited, nil
		}
	}
	return nil, &Refusal{Line: h.Line, Reason: "with this text other parts of the note would be read differently"}
}

// headingAt returns the place of the heading that begins at at.
func (d *doc) headingAt(at int) int {
	for i, h := range d.found.Headings {
		if h.At == at {
			return i
		}
	}
	return -1
}

// apart parts a text into its blank lines at the start, what is between, without
// the last line break, and that and the blank lines at the end. A break that
// ends the last line is in neither.
func apart(text string) (lead, body, trail string) {
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if strings.TrimSpace(line) != "" || !ok {
			break
		}
		lead += line + "\n"
		text = rest
	}
	body = strings.TrimRight(text, " \t\r\n")
	if body == "" {
		return lead, "", text
	}
	if n := strings.IndexByte(text[len(body):], '\n'); n >= 0 {
		line := len(body) + n
		body, trail = strings.TrimSuffix(text[:line], "\r"), text[line+1:]
		return lead, body, trail
	}
	return lead, text, ""
}

// withoutHeading takes the heading off the start of content, if it is h.
func withoutHeading(content string, h markdown.Heading) string {
	c := read([]byte(content))
	if len(c.found.Headings) == 0 || strings.TrimSpace(content[:c.found.Headings[0].At]) != "" {
		return content
	}
	if first := c.found.Headings[0]; first.Level == h.Level && first.Text == h.Text {
		return content[c.behind(first):]
	}
	return content
}

// below refuses content that does not fit below a heading: it would end the
// section.
func (d *doc) below(h markdown.Heading, content string) error {
	for _, inner := range markdown.Scan([]byte(content)).Headings {
		if inner.Level <= h.Level {
			return &Refusal{Line: h.Line, Reason: fmt.Sprintf("heading %q of the text would end the section of %q", inner.Text, h.Text)}
		}
	}
	return nil
}

// setBlock replaces a block and keeps its id.
func (d *doc) setBlock(id string, span markdown.Span, content string) ([]byte, error) {
	content = strings.TrimRight(content, "\r\n")
	line := d.line(span.Start)
	if strings.TrimSpace(content) == "" {
		return nil, &Refusal{Line: line, Reason: "a block cannot be empty"}
	}
	b, _ := d.found.Block(id)
	mark := "^" + b.ID
	if hasMark(string(d.text[span.Start:span.End]), mark) && !hasMark(content, mark) {
		content = strings.TrimRight(content, " \t") + " " + mark
	}
	edited := d.splice(span, content)
	now, _ := markdown.Scan(edited).Block(id)
	whole := markdown.Span{Start: span.Start, End: span.Start + len(content)}
	if now.Span != whole || !d.keepsFront(edited) || !d.keeps(edited, span, len(content)) {
		return nil, &Refusal{Line: line, Reason: fmt.Sprintf("with this text block %q would not be it alone, or other parts of the note would be read differently", id)}
	}
	return edited, nil
}

// hasMark reports whether a block ends in an id.
func hasMark(text, mark string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	return len(text) >= len(mark) && strings.EqualFold(text[len(text)-len(mark):], mark)
}

// setLines replaces whole lines.
func (d *doc) setLines(span markdown.Span, content string) ([]byte, error) {
	ended := span.End < len(d.text) || d.endsLine()
	if ended && content != "" && !strings.HasSuffix(content, "\n") {
		content += d.lineEnd(span.Start)
	}
	edited := d.splice(span, content)
	if !d.keepsFront(edited) {
		return nil, &Refusal{Line: d.line(span.Start), Reason: "with this text the note would have other properties"}
	}
	return edited, nil
}
