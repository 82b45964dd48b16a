package markdown

import (
	"bytes"
)

// bom is the byte order mark, which does not belong to the text. It is the only thing that may
// precede the frontmatter.
const bom = "\ufeff"

const noItem = -1

// scanner is one pass over a note. Lines are assigned to blocks one by one. The
// text of a paragraph is read once its last line is known, because code spans
// and comments may extend over several lines.
type scanner struct {
	text               []byte
	source             string // text as a string, made when a part of it is needed; not used with copies
	copies             *Arena // where parts of the text are copied to; may be nil
	unescaped, decoded []byte // buffers for the target of a link
	note               Note
	line               int // the number of the current line

	stack [maxDepth]container
	depth int       // number of open containers in stack
	raw   raw       // the open raw block
	para  []segment // the lines of the open paragraph
	start int       // offset of the open paragraph, including the mark of its list item
	lazy  bool      // whether its last line lacks the marks of its containers
	item  int       // offset of the list mark on the current line, or noItem

	top          section // the current outermost block
	before       section // the outermost block before it
	sawBlankLine bool    // whether a blank line came after top

	references  *References // collects references; nil if they are not needed
	isUnordered bool        // a link was added that begins before the last one

	inline
}

// segment is one line of a paragraph without the marks of its containers: its offsets and its line number.
type segment struct{ start, end, line int }

// Scan finds the parts of a note. It takes linear time for any text, and keeps no reference
// to it.
func Scan(text []byte) Note {
	s := scanner{text: text}
	s.scan()
	return s.note
}

// Scanner scans one note after another and reuses its memory. The zero Scanner is ready for
// use, by one goroutine at a time.
type Scanner struct {
	scanner
	lists  Note // the last note, whose lists are reused
	copies Arena
}

// Scan is like the function [Scan], but the lists of the note are only valid until the next call.
func (c *Scanner) Scan(text []byte) Note {
	last := &c.lists
	c.scanner = scanner{
		text:      text,
		copies:    &c.copies,
		unescaped: c.unescaped,
		decoded:   c.decoded,
		para:      c.para[:0],
		note: Note{
			Headings: last.Headings[:0],
			Links:    last.Links[:0],
			Tags:     last.Tags[:0],
			Tasks:    last.Tasks[:0],
			Blocks:   last.Blocks[:0],
			Bases:    last.Bases[:0],
		},
	}
	c.scan()
	*last = c.note
	n := c.note
	n.Headings = nilIfEmpty(n.Headings)
	n.Links = nilIfEmpty(n.Links)
	n.Tags = nilIfEmpty(n.Tags)
	n.Tasks = nilIfEmpty(n.Tasks)
	n.Blocks = nilIfEmpty(n.Blocks)
	n.Bases = nilIfEmpty(n.Bases)
	return n
}

// nilIfEmpty returns nil for an empty list, as the function Scan does.
func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// string returns a part of the text. In a scanner for many texts every part is copied to the
// arena, because the parts are a fraction of each text; otherwise they share one copy of it.
func (s *scanner) string(start, end int) string {
	if s.copies != nil {
		return s.copies.Copy(s.text[start:end])
	}
	if s.source == "" {
		s.source = string(s.text)
	}
	return s.source[start:end]
}

func (s *scanner) scan() {
	block, from, line := Frontmatter(s.text)
	if block != (Span{}) {
		s.note.Body = from
	}
	s.note.Frontmatter = block
	s.note.BodyLine = line
	s.note.Size = len(s.text)
	s.line = line
	for at, next := from, 0; at < len(s.text); at, s.line = next, s.line+1 {
		var end int
		end, next = lineEnd(s.text, at)
		isOpen := s.depth > 0 || s.raw.kind != notRaw
		if !isOpen && at < end && beginsText(s.text[at]) {
			// No container is open, and this line opens none: it can only belong to a paragraph.
			s.reread += end - at
			if len(s.para) > 0 {
				s.continueParagraph(at, end, true)
			} else {
				s.beginParagraph(at, at, end)
			}
			continue
		}
		c := cursor{text: s.text, at: at, end: end}
		matched := s.matchContainers(&c)
		if s.raw.kind != notRaw {
			if matched >= s.raw.depth {
				s.readRawLine(&c)
				continue
			}
			s.closeRaw()
		}
		if !c.isBlankRest() {
			s.readLine(&c, matched)
			continue
		}
		// A blank line ends the paragraph, and the quotes whose marks are missing.
		s.closeBlocks(matched)
		if s.depth == 0 || !s.stack[0].isQuote() {
			s.sawBlankLine = true
		}
	}
	if s.raw.kind != notRaw {
		if s.references != nil && s.raw.depth == 0 { // in containers, raw blocks end with them
			s.references.Open = s.raw.closing()
		}
		s.closeRaw()
	}
	s.closeParagraph()
}

// lineEnd returns where the line that contains the offset at ends, without its line break, and where the next one
// begins.
func lineEnd(text []byte, at int) (end, next int) {
	n := bytes.IndexByte(text[at:], '\n')
	if n < 0 {
		return len(text), len(text)
	}
	end = at + n
	next = at + n + 1
	if n > 0 && text[end-1] == '\r' {
		end--
	}
	return end, next
}

// BodyStart returns the offset of the body of a note: after the block of properties, or after
// a byte order mark, or 0. The block need not be valid YAML: text that is inserted before a
// broken block would turn the block into body text.
func BodyStart(text []byte) int {
	_, body, _ := Frontmatter(text)
	return body
}

// Frontmatter returns the text between the fences of the block of properties at the start of a
// note, the zero Span if there is none, and the offset and the line of the body. Blanks after
// the dashes of a fence are allowed.
func Frontmatter(text []byte) (block Span, body, line int) {
	open := len(text) - len(bytes.TrimPrefix(text, []byte(bom)))
	end, start := lineEnd(text, open)
	if !isFence(text[open:end]) {
		return Span{}, open, 1
	}
	line = 2
	for at := start; at < len(text); line++ {
		end, next := lineEnd(text, at)
		if next == end { // the last line has no line break, but may end with a CR
			end -= bytes.Count(text[end-1:], []byte("\r"))
		}
		if isFence(text[at:end]) {
			if text[next-1] == '\n' {
				line++
			}
			return Span{start, at}, next, line
		}
		at = next
	}
	return Span{}, open, 1
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t")) == "---" }

// readLine reads a line that is not blank and not in a raw block: first the containers that it
// opens, then their content. matched is the number of containers that it continues.
func (s *scanner) readLine(c *cursor, matched int) {
	continues := matched == s.depth
	s.item = noItem
	for {
		width, at := c.indent()
		s.reread += c.end - c.at
		code := width >= codeIndent && !s.inItem(matched)
		switch {
		case code && len(s.para) > 0:
			s.continueParagraph(at, c.end, continues)
			return
		case code:
			s.depth = matched
			s.extendBlock(indented, c.at, c.end)
			return
		case continues && len(s.para) > 0 && isUnderline(s.text[at:c.end]):
			// The line underlines the open paragraph, which becomes a setext heading.
			level := 2
			if s.text[at] == '=' {
				level = 1
			}
			s.seg = len(s.para) - 1
			first := s.para[0]
			text := s.joinedText(place{at: first.start}, s.para[s.seg].end)
			s.addHeading(Heading{Level: level, Text: text, Line: first.line, At: s.start})
			s.closeParagraph()
			s.top.End = c.end
			if s.depth == 0 {
				s.top.kind = other
			}
			return
		case isRule(s.text[at:c.end]):
			s.closeBlocks(matched)
			s.extendBlock(other, at, c.end)
			return
		}
		if !s.openContainer(c, width, at, matched) {
			s.readLeaf(at, c.end, matched, continues)
			return
		}
		matched = s.depth
		continues = false
		if c.at == c.end {
			return
		}
	}
}

// closeBlocks prepares for a new block in the first matched containers: it closes the paragraph and the other containers.
func (s *scanner) closeBlocks(matched int) {
	s.closeParagraph()
	s.depth = matched
}

// readLeaf begins or continues the block of a line from the offset at to end, after its containers were read. continues
// says whether the line continues all open containers.
func (s *scanner) readLeaf(at, end, matched int, continues bool) {
	line := s.text[at:end]
	switch line[0] {
	case '#':
		if level := run(line, '#'); level <= 6 && (level == len(line) || isBlank(line[level])) {
			// An ATX heading. The app renders headings in quotes and list items, but does not index
			// them.
			s.closeBlocks(matched)
			s.extendBlock(other, at, end)
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
			s.start = at
			s.lazy = false
			s.closeParagraph()
			return
		}
	case '`', '~', '<', '%', '$':
		if r := rawStart(line); r.kind != notRaw {
			s.closeBlocks(matched)
			r.depth = s.depth
			s.raw = r
			s.extendBlock(other, at, end)
			if r.base {
				s.note.Bases = append(s.note.Bases, Span{end, end})
			}
			if r.kind == comment {
				s.addCommentLine(at+2, end)
			}
			return
		}
	case '|':
		s.closeBlocks(matched)
		s.extendBlock(table, at, end)
		s.para = append(s.para, segment{at, end, s.line}) // each row is read separately
		s.flush()
		return
	}
	if len(s.para) > 0 {
		s.continueParagraph(at, end, continues)
		return
	}
	s.depth = matched
	if s.item != noItem {
		s.beginParagraph(s.item, at, end)
		return
	}
	s.beginParagraph(at, at, end)
}

// beginParagraph begins a paragraph with the text from at to end. start is where the block
// begins: at the mark of its list item if it is the first block of the item.
func (s *scanner) beginParagraph(start, at, end int) {
	s.extendBlock(paragraph, start, end)
	s.start = start
	s.lazy = false
	s.para = append(s.para, segment{at, end, s.line})
}

// continueParagraph adds a line to the paragraph. If marked is false, the line lacks
// marks of the containers: it is lazy, and belongs to them nevertheless.
func (s *scanner) continueParagraph(at, end int, marked bool) {
	s.extendBlock(paragraph, at, end)
	s.lazy = !marked
	s.para = append(s.para, segment{at, end, s.line})
}

// closeParagraph reads the text of the current paragraph.
func (s *scanner) closeParagraph() {
	if len(s.para) == 0 {
		return
	}
	links := len(s.note.Links)
	s.scanText()
	first := s.para[0].start
	isHeading := first != s.start && s.text[s.start] == '#'
	if first < len(s.text) && s.text[first] == '[' && !isHeading {
		s.addReferences()
	}
	s.orderLinks(links)
	if s.references != nil {
		s.addDefinitions()
	}
	s.addBlockID()
	s.para = s.para[:0]
}

// flush reads the current text without closing a paragraph.
func (s *scanner) flush() {
	if len(s.para) > 0 {
		links := len(s.note.Links)
		s.scanText()
		s.orderLinks(links)
		s.para = s.para[:0]
	}
}
