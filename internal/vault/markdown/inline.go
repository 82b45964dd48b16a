package markdown

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// inline is the state of the scanner while it reads the text of a paragraph.
//
// Code, formulas and comments hide other marks, but only if they are closed, so the scanner has
// to look ahead. The fields noMath, noDisplay and noComment record that a search found nothing
// up to the end of the paragraph. Without them, a text full of opening marks would take
// quadratic time.
type inline struct {
	seg       int // index of the current line in para
	literal   int // offset after the last escaped character, which is not a mark
	noMath    bool
	noDisplay bool
	noComment bool
	ticks     ticks
	brackets  brackets
	// The offsets of the last pair of brackets that is not a link, if references are collected.
	pairStart, pairEnd int

	// reread counts the bytes that were read in addition to the one pass. A test checks that
	// their number is at most proportional to the length of the text.
	reread int
}

// place is an offset with the index of its line in the paragraph.
type place struct{ at, seg int }

// special marks the bytes that may begin or end a mark.
var special = [256]bool{'\\': true, '`': true, '#': true, '$': true, '<': true, '[': true, ']': true}

// scanText reads the text of para.
func (s *scanner) scanText() {
	s.seg = 0
	s.literal = 0
	s.brackets.size = 0
	s.noMath = false
	s.noDisplay = false
	s.noComment = false
	s.ticks.known = false
	at := s.para[0].start
	for n, line := range s.para {
		s.seg = n
		at = max(at, line.start)
		for at < line.end {
			at = nextSpecial(s.text, at, line.end)
			if at < line.end {
				at = s.mark(at, line)
			}
		}
	}
}

// nextSpecial returns the offset of the first special byte in text[at:end], or end. It tests eight
// bytes at a time for candidates.
func nextSpecial(text []byte, at, end int) int {
	for ; end-at >= wordSize; at += wordSize {
		word := binary.LittleEndian.Uint64(text[at:])
		const brackets = '_' // [, \ and ] with their three low bits set
		found := ((((word | 7*everyByte) ^ brackets*everyByte) - everyByte) |
			((word ^ '`'*everyByte) - everyByte) |
			((word ^ '#'*everyByte) - everyByte) |
			((word ^ '$'*everyByte) - everyByte) |
			((word ^ '<'*everyByte) - everyByte)) &^ word & highBits
		for ; found != 0; found &= found - 1 {
			if place := at + bits.TrailingZeros64(found)/8; special[text[place]] {
				return place
			}
		}
	}
	for at < end && !special[text[at]] {
		at++
	}
	return at
}

const (
	wordSize  = 8
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// mark reads what begins with the special byte at the offset at and returns where to continue.
func (s *scanner) mark(at int, line segment) int {
	switch s.text[at] {
	case '\\':
		next := at + 1
		if next == line.end || !isPunctuation(s.text[next]) {
			return next
		}
		s.literal = next + 1
		if s.text[next] == '[' && next+1 < line.end && s.text[next+1] == '#' {
			return s.addTag(next+1, line)
		}
		return next + 1
	case '`':
		return s.endOfCode(at, line)
	case '#':
		if at > line.start {
			if before, _ := utf8.DecodeLastRune(s.text[line.start:at]); !isSpace(before) {
				return at + 1
			}
		}
		return s.addTag(at, line)
	case '$':
		return s.endOfFormula(at, line)
	case '<':
		// An HTML comment, an HTML tag or a URL in angle brackets hides its own content, but not the text
		// between two tags.
		if bytes.HasPrefix(s.text[at:line.end], []byte("<!--")) {
			return s.endOfHidden("-->", at+2, at+1, &s.noComment) // "<!-->" is a whole comment
		}
		size := bytes.IndexByte(s.text[at+1:line.end], '<')
		if size < 0 {
			size = line.end - at - 1
		}
		s.reread += size
		return at + max(1, tagSize(s.text[at:at+1+size]))
	case '[':
		if at+1 < line.end && s.text[at+1] == '[' {
			if end := s.wikilink(at, line); end > 0 {
				return end
			}
		}
		if s.brackets.size == maxBrackets {
			s.brackets.size = 0
		}
		s.brackets.open[s.brackets.size] = bracket{place{at, s.seg}, s.isEmbed(at, line)}
		s.brackets.size++
		return at + 1
	}
	return s.closeBracket(at, line)
}

// find returns the first place at or after from where pattern begins in the paragraph.
func (s *scanner) find(pattern string, from place) (found place, ok bool) {
	for n := from.seg; n < len(s.para); n++ {
		line := s.para[n]
		start := max(from.at, line.start)
		if start >= line.end {
			s.reread++
			continue
		}
		at := bytes.Index(s.text[start:line.end], []byte(pattern))
		if at >= 0 {
			s.reread += at + 1
			return place{start + at, n}, true
		}
		s.reread += line.end - start
	}
	return place{}, false
}

// joinedText returns the text of the paragraph from a place to an offset on the
// current line. Its lines are joined by blanks.
func (s *scanner) joinedText(from place, to int) string {
	if from.seg == s.seg {
		return s.string(from.at, to)
	}
	var out []byte
	for _, line := range s.para[from.seg : s.seg+1] {
		part := segment{max(line.start, from.at), min(line.end, to), line.line}
		part.trim(s.text)
		if part.start == part.end {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, s.text[part.start:part.end]...)
	}
	s.reread += to - from.at
	return string(out)
}

// isPunctuation reports whether b is ASCII punctuation, which a backslash escapes.
func isPunctuation(b byte) bool {
	switch {
	case isLetter(b), isDigit(b):
		return false
	}
	return '!' <= b && b <= '~'
}

// isSpace reports whether r is white space in JavaScript, and therefore for the
// app.
func isSpace(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == ' ' || '\t' <= r && r <= '\r'
	case r >= 0x2000 && r <= 0x200a:
		return true
	}
	switch r {
	case 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return false
}

// maxTicks limits the number of backquotes that open a code span; it is one more than the maximum.
const maxTicks = 64

// ticks has the offset of the last run of backquotes of each length in the current
// paragraph, so that an opening run without a closing one is not searched for.
type ticks struct {
	known bool
	last  [maxTicks]int
}

// endOfCode returns the offset after the code span at the offset at, or after its backquotes if it is not closed.
func (s *scanner) endOfCode(at int, line segment) int {
	n := run(s.text[at:line.end], '`')
	if n >= maxTicks {
		return at + n
	}
	if !s.ticks.known {
		s.ticks = ticks{known: true}
		s.eachRun(at, func(at, n int) bool {
			if n < maxTicks {
				s.ticks.last[n] = at
			}
			return true
		})
	}
	if s.ticks.last[n] <= at {
		return at + n
	}
	end := at
	s.eachRun(at+n, func(at, size int) bool {
		end = at + size
		return size != n
	})
	return end
}

// eachRun calls visit with the offset and the length of each run of backquotes from at
// to the end of the paragraph, until visit returns false.
func (s *scanner) eachRun(at int, visit func(at, n int) bool) {
	for _, line := range s.para[s.seg:] {
		for at = max(at, line.start); at < line.end; {
			n := bytes.IndexByte(s.text[at:line.end], '`')
			if n < 0 {
				s.reread += line.end - at
				break
			}
			at += n
			size := run(s.text[at:line.end], '`')
			s.reread += n + size
			if !visit(at, size) {
				return
			}
			at += size
		}
	}
}

// endOfFormula returns the offset after the formula at the offset at, between single or double dollar signs.
func (s *scanner) endOfFormula(at int, line segment) int {
	next := at + 1
	if next < line.end && s.text[next] == '$' {
		return s.endOfHidden("$$", at+2, at+2, &s.noDisplay)
	}
	if s.noMath || next == line.end || isBlank(s.text[next]) {
		return next
	}
	for from := (place{next, s.seg}); ; from.at++ {
		closing, ok := s.find("$", from)
		if !ok {
			s.noMath = true
			return next
		}
		// A dollar sign does not close the formula after a blank, if it is escaped, or before a digit, as in a price.
		slashes := 0
		after := closing.at + 1
		for s.text[closing.at-1-slashes] == '\\' {
			slashes++
		}
		s.reread += slashes
		isApart := isSpace(rune(s.text[closing.at-1])) || slashes%2 == 1
		isPrice := after < len(s.text) && isDigit(s.text[after])
		if !isApart && !isPrice {
			return after
		}
		from = closing
	}
}

// endOfHidden returns the offset after the first closing at or after from. If there is none, it sets
// none, and returns next.
func (s *scanner) endOfHidden(closing string, from, next int, none *bool) int {
	if *none {
		return next
	}
	found, ok := s.find(closing, place{from, s.seg})
	if !ok {
		*none = true
		return next
	}
	return found.at + len(closing)
}

// tagSize returns the length of the HTML tag or URL in angle brackets at the start
// of text, 0 if there is none. The first byte of text is its only "<".
func tagSize(text []byte) int {
	n := 1
	if n < len(text) && text[n] == '/' {
		n++
	}
	name := n
	if n < len(text) && isLetter(text[n]) {
		for n < len(text) && isNameByte(text[n]) {
			n++
		}
	}
	switch {
	case n == name || n == len(text):
		return 0
	case text[n] == ':':
		end := bytes.IndexFunc(text, func(r rune) bool { return r == '>' || r <= ' ' }) // a URL
		if end < 0 || text[end] != '>' {
			return 0
		}
		return end + 1
	}
	for n < len(text) {
		switch b := text[n]; {
		case b == '>':
			return n + 1
		case b == '"' || b == '\'':
			size := bytes.IndexByte(text[n+1:], b)
			if size < 0 {
				return 0
			}
			n += size + 2
		case b == '#' && isBlank(text[n-1]), b == '[', b == '`':
			return 0
		default:
			n++
		}
	}
	return 0
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// beginsText reports whether a line that begins with b is text, because b is a letter or not ASCII.
func beginsText(b byte) bool { return isLetter(b) || b >= utf8.RuneSelf }

func isNameByte(b byte) bool {
	switch b {
	case '-', '+', '.':
		return true
	}
	return isLetter(b) || isDigit(b)
}

// addTag adds the tag at the offset at, if there is one, and returns where to continue.
func (s *scanner) addTag(at int, line segment) int {
	size := 1 + nameSize(s.text[at+1:line.end])
	end := at + size
	for size > 1 && s.text[at+size-1] == '/' {
		size--
	}
	if isName(s.text[at+1 : at+size]) {
		s.note.Tags = append(s.note.Tags, Tag{Text: s.string(at, at+size), Line: line.line, At: at})
	}
	return end
}

// TagName returns the name of a tag; text is the tag with or without its "#". ok
// is false if text is not a valid tag. The rules for tags are the same in
// properties and in the body.
func TagName(text string) (name string, ok bool) {
	text = strings.TrimPrefix(text, "#")
	if nameSize([]byte(text)) != len(text) {
		return "", false
	}
	name = strings.TrimRight(text, "/")
	return name, isName([]byte(name))
}

// isName reports whether name, whose characters were checked, is not empty and
// not a number.
func isName(name []byte) bool {
	return slices.ContainsFunc(name, func(b byte) bool { return !isDigit(b) })
}

// nameSize returns the length of the longest prefix of text that has only characters of tag names.
func nameSize(text []byte) int {
	n := 0
	for n < len(text) {
		if text[n] < utf8.RuneSelf {
			// Everything except white space and punctuation, and three marks.
			b := text[n]
			isMark := b == '_' || b == '-' || b == '/'
			if !isMark && (isPunctuation(b) || isSpace(rune(b))) {
				return n
			}
			n++
			continue
		}
		r, size := utf8.DecodeRune(text[n:])
		isGeneral := 0x2000 <= r && r <= 0x206f // of the block General Punctuation
		isOther := 0x2e00 <= r && r <= 0x2e7f   // of Supplemental Punctuation
		if isSpace(r) || isGeneral || isOther {
			return n
		}
		n += size
	}
	return n
}

// addBlockID adds the block id at the end of the current paragraph, if there is one.
func (s *scanner) addBlockID() {
	last := s.para[len(s.para)-1]
	end := last.end
	for end > last.start && isBlank(s.text[end-1]) {
		end--
	}
	start := end
	for ; start > last.start; start-- {
		if b := s.text[start-1]; !isLetter(b) && !isDigit(b) && b != '-' {
			break
		}
	}
	mark := start - 1
	if start == end || mark < last.start || s.text[mark] != '^' {
		return
	}
	if mark > last.start && !isBlank(s.text[mark-1]) {
		return
	}
	named := Span{s.start, last.end}
	alone := mark == last.start
	isParagraph := len(s.para) == 1 && s.depth == 0
	switch {
	case alone && isParagraph && s.before.End > 0:
		named = s.before.Span
	case alone && s.lazy && s.top.kind == quote:
		named = Span{s.top.Start, s.para[len(s.para)-2].end}
	}
	s.note.Blocks = append(s.note.Blocks, Block{ID: s.string(start, end), Line: last.line, Span: named})
}
