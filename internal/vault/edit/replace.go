package edit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// maxNear limits the listed lines that contain the first line of a missing text.
const maxNear = 4

// Replace returns the note with old, which must occur exactly once, replaced by new. The line ends of old must
// match, and overlapping occurrences count separately. The error is *[NotFound], *[Ambiguous] or, if old is
// empty or only its line ends differ, *[Refusal].
func Replace(text []byte, old, new string) ([]byte, error) {
	return ReplaceWithin(text, markdown.Span{End: len(text)}, old, new)
}

// ReplaceWithin is [Replace] for a part of a note, in which old must occur exactly once. Occurrences elsewhere
// do not count.
func ReplaceWithin(text []byte, part markdown.Span, old, new string) ([]byte, error) {
	if old == "" {
		return nil, &Refusal{Line: 1, Reason: "there is no text to look for"}
	}
	d := read(text)
	within := text[:part.End]
	index := func(text string) int {
		at := bytes.Index(within[part.Start:], []byte(text))
		if at < 0 {
			return at
		}
		return part.Start + at
	}
	at := index(old)
	if at < 0 { // its line ends may differ, or the note may only have its first line
		for _, end := range [...]string{"\r\n", "\n"} {
			if at := index(withEnds(old, end)); at >= 0 {
				return nil, &Refusal{
					Line: d.line(at),
					Reason: "the text is there with other line ends: " + strings.NewReplacer("\r\n", "CRLF", "\n", "LF").
						Replace(end),
				}
			}
		}
		missing := &NotFound{What: "text", Wanted: old}
		first, _, _ := strings.Cut(strings.TrimSpace(old), "\n")
		for at := part.Start; at < len(within) && len(missing.Near) < maxNear; at = d.next(at) {
			if strings.Contains(d.lineAt(at), strings.TrimSpace(first)) {
				missing.Near = append(missing.Near, d.line(at))
			}
		}
		return nil, missing
	}
	splitsBreak := func(at int) bool {
		return bytes.HasSuffix(text[:at], []byte("\r")) && bytes.HasPrefix(text[at:], []byte("\n"))
	}
	switch {
	case splitsBreak(at) || splitsBreak(at+len(old)):
		return nil, &Refusal{
			Line:   d.line(at),
			Reason: "the text begins or ends within a line break, which is CRLF there",
		}
	case bytes.Contains(within[at+1:], []byte(old)):
		matches := &Ambiguous{What: "text", Wanted: old}
		count := bytes.Count(within[part.Start:], []byte(old))
		for n := 0; n >= 0 && len(matches.Lines) < maxCandidates; n = bytes.Index(within[at:], []byte(old)) {
			at += n
			matches.add(d.line(at))
			at++
		}
		matches.Count = max(matches.Count, count)
		return nil, matches
	}
	return d.splice(markdown.Span{Start: at, End: at + len(old)}, new), nil
}

// SetSection returns the note with a part replaced by content.
//
// The heading of a section stays; content may repeat it as its first line, so that a section can be written
// back as it was read. The blank lines below the heading and at the end of the section also stay, instead of
// those at the ends of content. A block keeps its id, whether content has it or not, and the line break after
// it; content must include the marks of a list or quote like the block itself. Content without text empties a
// section; "" deletes lines.
//
// The error is *[NotFound], *[Ambiguous] or *[Refusal].
func SetSection(text []byte, t Target, content string) ([]byte, error) {
	d := read(text)
	span, err := d.span(t)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case heading:
		return d.setSection(t.name, span, content)
	case block:
		return d.setBlock(t.name, span, content)
	}
	return d.setLines(span, content)
}

// setSection replaces the text below a heading, whose section is at span.
func (d *doc) setSection(name string, span markdown.Span, content string) ([]byte, error) {
	index, _ := FindHeading(d.note, name)
	h := d.note.Headings[index]
	given := read([]byte(content))
	if len(given.note.Headings) > 0 && strings.TrimSpace(content[:given.note.Headings[0].At]) == "" {
		if first := given.note.Headings[0]; first.Level == h.Level && first.Text == h.Text {
			content = content[given.belowHeading(first):]
		}
	}
	below := markdown.Span{Start: d.belowHeading(h), End: span.End}
	lead, old, trail := apart(string(d.text[below.Start:below.End]))
	end := d.lineEnd(below.Start)
	_, body, _ := apart(content)
	if body == old {
		return d.text, nil
	}
	if err := checkBelow(h, body); err != nil {
		return nil, err
	}
	if old == "" {
		trail = lead + trail
		lead = ""
	}
	if below.Start == len(d.text) && !endsLine(d.text) {
		lead = end
	}
	if body == "" {
		lead = ""
	} else if span.End < len(d.text) || endsLine(d.text) {
		body += end
	}
	for _, extra := range []string{"", end} {
		replacement := lead + body + extra + trail
		edited := read(d.splice(below, replacement))
		whole := markdown.Span{Start: span.Start, End: below.Start + len(replacement)}
		isKept := d.keepsFront(edited) && d.keeps(edited, below, len(replacement))
		isThere := len(edited.note.Headings) > index && edited.note.Section(index) == whole
		if isKept && isThere {
			return edited.text, nil
		}
	}
	return nil, &Refusal{Line: h.Line, Reason: "with this text other parts of the note would be read differently"}
}

// setBlock replaces the block with an id, which is at span.
func (d *doc) setBlock(id string, span markdown.Span, content string) ([]byte, error) {
	content = strings.TrimRight(content, "\r\n")
	line := d.line(span.Start)
	if strings.TrimSpace(content) == "" {
		return nil, &Refusal{Line: line, Reason: "a block cannot be empty"}
	}
	b, _ := d.note.Block(id)
	mark := "^" + b.ID
	if endsInMark(string(d.text[span.Start:span.End]), mark) && !endsInMark(content, mark) {
		content = strings.TrimRight(content, " \t") + " " + mark
	}
	edited := read(d.splice(span, content))
	now, _ := edited.note.Block(id)
	whole := markdown.Span{Start: span.Start, End: span.Start + len(content)}
	if now.Span != whole || !d.keepsFront(edited) || !d.keeps(edited, span, len(content)) {
		return nil, &Refusal{
			Line: line,
			Reason: fmt.Sprintf(
				"with this text block %q would not be it alone, or other parts of the note would be read differently",
				id,
			),
		}
	}
	return edited.text, nil
}

// setLines replaces whole lines.
func (d *doc) setLines(span markdown.Span, content string) ([]byte, error) {
	hasBreak := span.End < len(d.text) || endsLine(d.text)
	if hasBreak && content != "" && !strings.HasSuffix(content, "\n") {
		content += d.lineEnd(span.Start)
	}
	edited := d.splice(span, content)
	if !d.keepsFront(read(edited)) {
		return nil, &Refusal{Line: d.line(span.Start), Reason: "with this text the note would have other properties"}
	}
	return edited, nil
}

// apart splits a text into its blank lines at the start, the text between them without its last line break, and
// the blank lines at the end. That last line break is in none of them.
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
		body = strings.TrimSuffix(text[:line], "\r")
		trail = text[line+1:]
		return lead, body, trail
	}
	return lead, text, ""
}

// endsInMark reports whether a block ends with an id.
func endsInMark(text, mark string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	return len(text) >= len(mark) && strings.EqualFold(text[len(text)-len(mark):], mark)
}
