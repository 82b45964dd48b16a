package markdown

import "bytes"

// kind is what an outermost block is.
type kind uint8

const (
	other kind = iota // never continued by a block of its kind
	paragraph
	table
	indented
	quote
	list
)

// section is an outermost block: what a block id that stands alone names.
type section struct {
	kind kind
	Span
}

// touch notes that a block of a kind reaches from start to end, if no container
// is open; else it is the container that does.
func (s *scanner) touch(k kind, start, end int) {
	if s.depth > 0 {
		k = list
		if s.stack[0].isQuote() {
			k = quote
		}
	}
	if s.top.kind == k && k != other && (!s.blanked || k == list || k == indented) {
		s.top.End = end
		return
	}
	s.before, s.top, s.blanked = s.top, section{k, Span{start, end}}, false
}

// headingLevel returns the number of marks that make line a heading, or 0.
func headingLevel(line []byte) int {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n > 6 || n < len(line) && !isBlank(line[n]) {
		return 0
	}
	return n
}

// heading reads a heading with marks in front. One in a quote or a list item
// is shown as a heading by the app, yet missing in its index.
func (s *scanner) heading(at, end, level int) {
	s.touch(other, at, end)
	inner := segment{at + level, end, s.line}
	inner.trim(s.text)
	closing := inner.end
	for closing > inner.start && s.text[closing-1] == '#' {
		closing--
	}
	if closing == inner.start || isBlank(s.text[closing-1]) {
		inner.end = closing
		inner.trim(s.text)
	}
	s.addHeading(Heading{Level: level, Text: s.string(inner.start, inner.end), Line: s.line, At: at})
	s.para = append(s.para, inner)
	s.start, s.lazy = at, false
	s.closeParagraph()
}

func (s *scanner) addHeading(h Heading) {
	if s.depth == 0 {
		s.note.Headings = append(s.note.Headings, h)
	}
}

// trim takes the blanks off both ends.
func (g *segment) trim(text []byte) {
	for g.start < g.end && isBlank(text[g.start]) {
		g.start++
	}
	for g.start < g.end && isBlank(text[g.end-1]) {
		g.end--
	}
}

// setext makes the paragraph at hand a heading, for the line from at to end
// underlines it.
func (s *scanner) setext(at, end int) {
	level := 2
	if s.text[at] == '=' {
		level = 1
	}
	s.seg = len(s.para) - 1
	first := s.para[0]
	text := s.joined(place{at: first.start}, s.para[s.seg].end)
	s.addHeading(Heading{Level: level, Text: text, Line: first.line, At: s.start})
	s.closeParagraph()
	s.top.End = end
	if s.depth == 0 {
		s.top.kind = other
	}
}

// isUnderline reports whether line underlines a heading.
func isUnderline(line []byte) bool {
	b := line[0]
	if b != '=' && b != '-' {
		return false
	}
	n := 1
	for n < len(line) && line[n] == b {
		n++
	}
	return len(bytes.TrimLeft(line[n:], " \t")) == 0
}

// isRule reports whether line is a horizontal rule: three or more of one mark,
// with blanks anywhere.
func isRule(line []byte) bool {
	b := line[0]
	if b != '-' && b != '*' && b != '_' {
		return false
	}
	marks := 0
	for _, c := range line {
		switch {
		case c == b:
			marks++
		case !isBlank(c):
			return false
		}
	}
	return marks >= 3
}

// task notes the task whose list mark stands at mark and whose box would stand
// at box, and reads the rest of the line; it reports false if there is none.
func (s *scanner) task(mark, box, end int) bool {
	inner, closing, ok := boxed(s.text[box:end])
	if !ok {
		return false
	}
	at := Span{box + 1, box + closing}
	s.note.Tasks = append(s.note.Tasks, Task{
		Mark: inner, Text: s.string(mark, end), Line: s.line, MarkAt: at,
	})
	text := segment{at.End + 1, end, s.line}
	text.trim(s.text)
	s.beginParagraph(mark, text.start, end)
	return true
}
