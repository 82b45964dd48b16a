package markdown

import (
	"bytes"
	"unicode/utf8"
)

// raw is an open block whose lines are no Markdown: it ends at its own mark,
// or with the containers it stands in, or with the note.
type raw struct {
	kind  rawKind
	mark  byte // of a fence
	size  int  // of a fence
	depth int  // how many containers it stands in
}

type rawKind uint8

const (
	notRaw rawKind = iota
	fenced
	html
	math
	// comment is the app's own %% block. It hides headings, tasks and blocks, but
	// neither links nor tags.
	comment
)

// rawStart returns the block that line opens and does not close. A comment or
// formula that ends on its own line is left to the text of a paragraph.
func rawStart(line []byte) raw {
	if r := fenceStart(line); r.kind != notRaw {
		return r
	}
	for _, k := range []rawKind{html, math, comment} {
		open := k.opening()
		if !bytes.HasPrefix(line, []byte(open)) {
			continue
		}
		// "<!-->" is a whole comment.
		if bytes.Contains(line[2:], []byte(k.closing())) {
			return raw{}
		}
		return raw{kind: k}
	}
	return raw{}
}

func (k rawKind) opening() string {
	switch k {
	case html:
		return "<!--"
	case math:
		return "$$"
	}
	return "%%"
}

func (k rawKind) closing() string {
	if k == html {
		return "-->"
	}
	return k.opening()
}

// fenceStart returns the fenced code block that line opens.
func fenceStart(line []byte) raw {
	mark := line[0]
	if mark != '`' && mark != '~' {
		return raw{}
	}
	n := run(line, mark)
	if n < 3 || mark == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
		return raw{}
	}
	return raw{kind: fenced, mark: mark, size: n}
}

// run returns how often mark stands at the start of line.
func run(line []byte, mark byte) int {
	n := 0
	for n < len(line) && line[n] == mark {
		n++
	}
	return n
}

func (s *scanner) openRaw(r raw, at, end int) {
	r.depth = s.depth
	s.raw = r
	s.touch(other, at, end)
	if r.kind == comment {
		s.commentLine(at+2, end)
	}
}

func (s *scanner) closeRaw() {
	s.flush()
	s.raw = raw{}
}

// rawLine reads a line of the raw block at hand.
func (s *scanner) rawLine(c *cursor) {
	width, at := c.indent()
	s.top.End = max(s.top.End, c.end)
	if s.raw.kind == fenced {
		if n := run(s.text[at:c.end], s.raw.mark); n >= s.raw.size && (width < codeIndent || s.raw.depth > 0) &&
			len(bytes.TrimLeft(s.text[at+n:c.end], " \t")) == 0 {
			s.closeRaw()
		}
		return
	}
	closing := s.raw.kind.closing()
	n := bytes.Index(s.text[at:c.end], []byte(closing))
	if n < 0 {
		if s.raw.kind == comment {
			s.commentLine(at, c.end)
		}
		return
	}
	if s.raw.kind == comment {
		s.commentLine(at, at+n)
	}
	s.closeRaw()
	s.behind(at+n+len(closing), c.end)
}

// commentLine adds a line of a %% block to its text.
func (s *scanner) commentLine(at, end int) {
	text := segment{at, end, s.line}
	text.trim(s.text)
	if text.start == text.end {
		s.flush()
		return
	}
	s.para = append(s.para, text)
}

// behind reads what stands on a line behind the end of a raw block.
func (s *scanner) behind(at, end int) {
	text := segment{at, end, s.line}
	text.trim(s.text)
	if text.start < text.end {
		s.beginParagraph(text.start, text.start, text.end)
	}
}

// boxed reads the box of a task: one character in brackets, and behind it white
// space or the end of the line. It returns the character and where the bracket
// behind it stands.
func boxed(line []byte) (inner rune, closing int, ok bool) {
	if len(line) < 3 || line[0] != '[' {
		return 0, 0, false
	}
	inner, size := utf8.DecodeRune(line[1:])
	closing = 1 + size
	if closing >= len(line) || line[closing] != ']' {
		return 0, 0, false
	}
	return inner, closing, closing+1 == len(line) || isSpaceAt(line[closing+1:])
}
