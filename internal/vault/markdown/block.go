package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// kind is the kind of an outermost block.
type kind uint8

const (
	other kind = iota // never continued by the next block
	paragraph
	table
	indented
	quote
	list
)

// section is an outermost block. A block id on a line of its own names the section above it.
type section struct {
	kind kind
	Span
}

// extendBlock records that a block of kind k extends from start to end. If a container is open, the
// outermost container is extended instead.
func (s *scanner) extendBlock(k kind, start, end int) {
	if s.depth > 0 {
		k = list
		if s.stack[0].isQuote() {
			k = quote
		}
	}
	spansBlanks := k == list || k == indented
	isSameBlock := s.top.kind == k && k != other
	if isSameBlock && (spansBlanks || !s.sawBlankLine) {
		s.top.End = end
		return
	}
	s.before = s.top
	s.top = section{k, Span{start, end}}
	s.sawBlankLine = false
}

func (s *scanner) addHeading(h Heading) {
	if s.depth == 0 {
		s.note.Headings = append(s.note.Headings, h)
	}
}

// trim removes the blanks at both ends.
func (g *segment) trim(text []byte) {
	for g.start < g.end && isBlank(text[g.start]) {
		g.start++
	}
	for g.start < g.end && isBlank(text[g.end-1]) {
		g.end--
	}
}

// isUnderline reports whether line, which is not empty, underlines a heading.
func isUnderline(line []byte) bool {
	b := line[0]
	return (b == '=' || b == '-') && len(bytes.TrimLeft(line[run(line, b):], " \t")) == 0
}

// isRule reports whether line, which is not empty, is a horizontal rule: three or
// more of the same mark, with blanks anywhere.
func isRule(line []byte) bool {
	mark := line[:1]
	return strings.IndexByte("-*_", line[0]) >= 0 && bytes.Count(line, mark) >= 3 &&
		len(bytes.TrimLeft(line, string(mark)+" \t")) == 0
}

// addTask adds the task whose list mark is at the offset mark, and begins a paragraph with the rest of the
// line. It reports false if there is no box at the offset box: one character in brackets, followed by
// white space or the end of the line.
func (s *scanner) addTask(mark, box, end int) bool {
	line := s.text[box:end]
	if len(line) < 3 || line[0] != '[' {
		return false
	}
	inner, size := utf8.DecodeRune(line[1:])
	closing := 1 + size
	if closing >= len(line) || line[closing] != ']' {
		return false
	}
	if next, _ := utf8.DecodeRune(line[closing+1:]); closing+1 < len(line) && !isSpace(next) {
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

// raw is an open block whose lines are not Markdown. It ends at its closing mark, with the
// containers around it, or with the note.
type raw struct {
	kind  rawKind
	mark  byte // character of a fence
	size  int  // length of a fence
	base  bool // whether the language of a fence is base
	depth int  // number of containers around it
}

type rawKind uint8

const (
	notRaw rawKind = iota
	fenced
	html
	math
	// comment is a %% block of the app. It hides headings, tasks and blocks, but not
	// links and tags.
	comment
)

// rawMarks are the opening and closing marks of raw blocks other than fences.
var rawMarks = [...]struct{ opening, closing string }{html: {"<!--", "-->"}, math: {"$$", "$$"}, comment: {"%%", "%%"}}

// rawStart returns the block that line, which is not empty, opens and does not
// close. A comment or formula that ends on its first line is part of a paragraph.
func rawStart(line []byte) raw {
	if mark := line[0]; mark == '`' || mark == '~' {
		n := run(line, mark)
		if n < 3 || mark == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
			return raw{}
		}
		return raw{kind: fenced, mark: mark, size: n, base: string(bytes.TrimSpace(line[n:])) == "base"}
	}
	for _, k := range []rawKind{html, math, comment} {
		if !bytes.HasPrefix(line, []byte(rawMarks[k].opening)) {
			continue
		}
		if bytes.Contains(line[2:], []byte(rawMarks[k].closing)) {
			return raw{} // "<!-->" is a whole comment
		}
		return raw{kind: k}
	}
	return raw{}
}

// run returns the length of the run of mark at the start of line.
func run(line []byte, mark byte) int {
	n := 0
	for n < len(line) && line[n] == mark {
		n++
	}
	return n
}

// closing returns a line that closes the block.
func (r raw) closing() string {
	if r.kind == fenced {
		return strings.Repeat(string(r.mark), r.size)
	}
	return rawMarks[r.kind].closing
}

func (s *scanner) closeRaw() {
	s.flush()
	s.raw = raw{}
}

// readRawLine reads a line of the open raw block.
func (s *scanner) readRawLine(c *cursor) {
	width, at := c.indent()
	s.top.End = max(s.top.End, c.end)
	if s.raw.kind == fenced {
		n := run(s.text[at:c.end], s.raw.mark)
		isFence := n >= s.raw.size && len(bytes.TrimLeft(s.text[at+n:c.end], " \t")) == 0
		mayClose := width < codeIndent || s.raw.depth > 0
		switch {
		case isFence && mayClose:
			s.closeRaw()
		case s.raw.base:
			s.note.Bases[len(s.note.Bases)-1].End = c.end
		}
		return
	}
	closing := rawMarks[s.raw.kind].closing
	n := bytes.Index(s.text[at:c.end], []byte(closing))
	if n < 0 {
		if s.raw.kind == comment {
			s.addCommentLine(at, c.end)
		}
		return
	}
	if s.raw.kind == comment {
		s.addCommentLine(at, at+n)
	}
	s.closeRaw()
	rest := segment{at + n + len(closing), c.end, s.line}
	rest.trim(s.text)
	if rest.start < rest.end {
		s.beginParagraph(rest.start, rest.start, rest.end)
	}
}

// addCommentLine adds a line of a %% block to the current text; an empty line ends it.
func (s *scanner) addCommentLine(at, end int) {
	text := segment{at, end, s.line}
	text.trim(s.text)
	if text.start == text.end {
		s.flush()
		return
	}
	s.para = append(s.para, text)
}

// maxDepth is the maximum nesting of quotes and list items; deeper marks are text. Every
// line of a note is matched against every open container.
const maxDepth = 32

// codeIndent is the indent in columns that makes a line code if no list is open.
const codeIndent = 4

// container is an open quote or list item. item is the width of the mark of a list item in columns.
type container struct{ item int }

// isQuote reports whether c is a quote, which is the zero container.
func (c container) isQuote() bool { return c.item == 0 }

// cursor moves over the marks at the start of a line. It counts columns, because a tab may
// belong partly to the indent of a container and partly to its content.
type cursor struct {
	text    []byte
	at, end int
	column  int
	owed    int // columns of the tab before at that were not skipped yet
}

// indent returns the columns of white space at the cursor and the offset where it ends.
func (c *cursor) indent() (width, at int) {
	width = c.owed
	for at = c.at; at < c.end; at++ {
		switch c.text[at] {
		case ' ':
			width++
		case '\t':
			width += 4 - (c.column+width-c.owed)%4
		default:
			return width, at
		}
	}
	return width, at
}

// skip moves the cursor over up to columns columns of white space.
func (c *cursor) skip(columns int) {
	for columns > 0 {
		if c.owed > 0 {
			n := min(c.owed, columns)
			c.owed -= n
			columns -= n
			continue
		}
		if c.at == c.end || !isBlank(c.text[c.at]) {
			return
		}
		width := 1
		if c.text[c.at] == '\t' {
			width = 4 - c.column%4
		}
		c.at++
		c.column += width
		c.owed = width
	}
}

// jump moves the cursor over width columns of white space and mark columns of a mark, which ends at
// the offset at.
func (c *cursor) jump(width, mark, at int) {
	c.column += width - c.owed + mark
	c.at = at
	c.owed = 0
}

// isBlankRest reports whether the rest of the line is blank.
func (c *cursor) isBlankRest() bool {
	_, at := c.indent()
	return at == c.end
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// matchContainers moves the cursor over the marks of the open containers that the line
// continues, and returns their number.
func (s *scanner) matchContainers(c *cursor) int {
	for n := range s.depth {
		width, at := c.indent()
		s.reread += at - c.at
		switch {
		case s.stack[n].isQuote():
			isMarked := at < c.end && c.text[at] == '>'
			isCode := width >= codeIndent && !s.inItem(n)
			if !isMarked || isCode {
				return n
			}
			c.jump(width, 1, at+1)
			c.skip(1)
		case at < c.end:
			if width < s.stack[n].item {
				return n
			}
			c.skip(s.stack[n].item)
		}
	}
	return s.depth
}

// inItem reports whether one of the first n containers is a list item.
func (s *scanner) inItem(n int) bool {
	for _, c := range s.stack[:n] {
		if !c.isQuote() {
			return true
		}
	}
	return false
}

// openContainer opens the container whose mark is at the offset at, after width columns of white
// space, and moves the cursor after it. For a task, it reads the rest of the line, too. It
// reports false if there is no container.
func (s *scanner) openContainer(c *cursor, width, at, matched int) bool {
	if matched == maxDepth {
		return false
	}
	if c.text[at] == '>' {
		s.closeBlocks(matched)
		s.push(container{}, at, c.end)
		c.jump(width, 1, at+1)
		c.skip(1)
	} else if !s.openItem(c, width, at, matched) {
		return false
	}
	if c.isBlankRest() {
		c.at = c.end
	}
	return true
}

// openItem is openContainer for a list item.
func (s *scanner) openItem(c *cursor, width, at, matched int) bool {
	mark := markerSize(c.text[at:c.end])
	if mark == 0 {
		return false
	}
	s.closeBlocks(matched)
	c.jump(width, mark, at+mark)
	inner, text := c.indent()
	pad := inner
	if inner > codeIndent || text == c.end {
		pad = 1
	}
	s.push(container{width + mark + pad}, at, c.end)
	c.skip(pad)
	if s.addTask(at, text, c.end) {
		c.at = c.end
		return true
	}
	s.item = at
	return true
}

func (s *scanner) push(c container, at, end int) {
	s.stack[s.depth] = c
	s.depth++
	s.extendBlock(paragraph, at, end)
}

// markerSize returns the length of the list mark at the start of line, 0 if there is none: a
// dash, star or plus, or up to nine digits with a dot or parenthesis. White space or the end
// of the line must follow.
func markerSize(line []byte) int {
	n := 0
	for n < len(line) && n < 9 && isDigit(line[n]) {
		n++
	}
	if n == len(line) {
		return 0
	}
	marks := "-*+"
	if n > 0 {
		marks = ".)"
	}
	if strings.IndexByte(marks, line[n]) < 0 {
		return 0
	}
	n++
	if n < len(line) && !isBlank(line[n]) {
		return 0
	}
	return n
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
