package markdown

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// inline is what the scanner remembers while it reads the text of a paragraph.
//
// What hides other marks (code, formulas, comments) counts only if it is
// closed, so reading it means looking ahead. The fields with names in no
// remember that a search found nothing up to the end of the paragraph; without
// them a text of opening marks would be searched once for each.
type inline struct {
	seg       int // index of the line at hand in para
	literal   int // end of the last escape: the character before it is no mark
	noMath    bool
	noDisplay bool
	noComment bool
	ticks     ticks
	brackets  brackets

	// looked counts the bytes looked at beside the one pass, for the test that
	// this is never more than a multiple of the text.
	looked int
}

// place is an offset, and the index of its line in the paragraph.
type place struct{ at, seg int }

// special holds the bytes that may begin or end a mark in a text.
var special = [256]bool{'\\': true, '`': true, '#': true, '$': true, '<': true, '[': true, ']': true}

// scanText reads the text of para.
func (s *scanner) scanText() {
	s.forget()
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

// forget begins another paragraph.
func (i *inline) forget() {
	i.seg, i.literal, i.brackets.size = 0, 0, 0
	i.noMath, i.noDisplay, i.noComment, i.ticks.known = false, false, false, false
}

// nextSpecial returns where the first special byte is, or end. It looks at a word at a time
// for bytes that may be one.
func nextSpecial(text []byte, at, end int) int {
	for ; end-at >= wordSize; at += wordSize {
		found := maybeSpecial(binary.LittleEndian.Uint64(text[at:]))
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

// maybeSpecial returns a word with the high bit of every special byte set, and that of a few
// others: a byte of a difference has it set where that of the word is what is looked for, and
// perhaps above.
func maybeSpecial(word uint64) uint64 {
	const brackets = '_' // what [, \ and ] are with their low bits set
	return ((((word | 7*everyByte) ^ brackets*everyByte) - everyByte) |
		((word ^ '`'*everyByte) - everyByte) |
		((word ^ '#'*everyByte) - everyByte) |
		((word ^ '$'*everyByte) - everyByte) |
		((word ^ '<'*everyByte) - everyByte)) &^ word & highBits
}

// mark reads what begins at at and returns where to go on.
func (s *scanner) mark(at int, line segment) int {
	switch s.text[at] {
	case '\\':
		return s.escape(at, line)
	case '`':
		return s.code(at, line)
	case '#':
		return s.tag(at, line)
	case '$':
		return s.formula(at, line)
	case '<':
		return s.angle(at, line)
	case '[':
		return s.openBracket(at, line)
	}
	return s.closeBracket(at, line)
}

// escape passes a backslash and the punctuation it protects. Behind a bracket
// the app begins a new piece of text, in which a tag may stand first.
func (s *scanner) escape(at int, line segment) int {
	next := at + 1
	if next == line.end || !isPunctuation(s.text[next]) {
		return next
	}
	s.literal = next + 1
	if s.text[next] == '[' && next+1 < line.end && s.text[next+1] == '#' {
		return s.addTag(next+1, line)
	}
	return next + 1
}

// find returns where pattern begins in the paragraph, behind or at a place.
func (s *scanner) find(pattern string, from place) (found place, ok bool) {
	for n := from.seg; n < len(s.para); n++ {
		line := s.para[n]
		start := max(from.at, line.start)
		if start >= line.end {
			s.looked++
			continue
		}
		at := bytes.Index(s.text[start:line.end], []byte(pattern))
		if at >= 0 {
			s.looked += at + 1
			return place{start + at, n}, true
		}
		s.looked += line.end - start
	}
	return place{}, false
}

// joined returns the text of the paragraph from a place to an offset on the
// line at hand, its lines joined by a blank.
func (s *scanner) joined(from place, to int) string {
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
	s.looked += to - from.at
	return string(out)
}

// isPunctuation reports whether b is an ASCII mark that a backslash protects.
func isPunctuation(b byte) bool {
	return '!' <= b && b <= '/' || ':' <= b && b <= '@' || '[' <= b && b <= '`' || '{' <= b && b <= '~'
}

// isSpaceAt reports whether text begins with white space.
func isSpaceAt(text []byte) bool {
	if len(text) > 0 && text[0] < utf8.RuneSelf {
		return isSpace(rune(text[0]))
	}
	r, _ := utf8.DecodeRune(text)
	return isSpace(r)
}

// isSpace reports whether r is white space for the app, which is JavaScript's
// notion of it.
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
