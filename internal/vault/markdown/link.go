package markdown

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBrackets is how many open brackets are remembered. Prose does not nest more; in other text,
// only links around so many brackets are missed.
const maxBrackets = 64

// bracket is an open square bracket that may begin an inline link.
type bracket struct {
	place
	embed bool
}

// brackets is a stack of open brackets.
type brackets struct {
	open [maxBrackets]bracket
	size int
}

// ParseLink parses a text that consists of exactly one link, as in a property. An
// embed is not accepted. Line and Span of the link refer to text.
func ParseLink(text string) (Link, bool) {
	if len(text) < len("[](x)") || text[0] != '[' || strings.ContainsAny(text, "\r\n") {
		return Link{}, false
	}
	s := scanner{text: []byte(text), source: text, line: 1}
	s.para = []segment{{0, len(text), 1}}
	s.scanText()
	s.orderLinks(0)
	if len(s.note.Links) == 0 {
		return Link{}, false
	}
	link := s.note.Links[0]
	return link, link.Span == Span{0, len(text)}
}

// isEmbed reports whether an unescaped exclamation mark precedes the bracket at the offset at.
func (s *scanner) isEmbed(at int, line segment) bool {
	return at > line.start && s.text[at-1] == '!' && s.literal != at
}

// wikilink reads the wikilink at the offset at and returns where it ends, or 0 if
// there is none. Opening brackets inside mean that another link begins there.
func (s *scanner) wikilink(at int, line segment) (end int) {
	start := at + len("[[")
	closing := start
	for {
		if closing+1 >= line.end {
			s.reread += closing - at
			return 0
		}
		if s.text[closing] == ']' && s.text[closing+1] == ']' {
			break
		}
		if s.text[closing] == '[' && (closing == start || s.text[closing+1] == '[') {
			s.reread += closing - at
			return 0
		}
		closing++
	}
	end = closing + len("]]")
	target := s.string(start, closing)
	display := ""
	if target != "" {
		// The first bar begins the display text; in a table it is escaped by a backslash. A
		// bar at the beginning is part of the target.
		if bar := strings.IndexByte(target[1:], '|'); bar >= 0 {
			display = target[1+bar+1:]
			target = strings.TrimSuffix(target[:1+bar], `\`)
		}
	}
	target = strings.TrimSpace(target)
	display = strings.TrimSpace(display)
	if target == "" {
		return end
	}
	link := Link{
		Display: display,
		Style:   Wikilink,
		Embed:   s.isEmbed(at, line),
		Line:    line.line,
		Span:    Span{at, end},
	}
	s.addLink(link, target)
	return end
}

// addLink adds a link with this target to the note. An embed begins at the exclamation mark before its brackets. The
// caller of [scanner.scanText] must call [scanner.orderLinks] for the links of a paragraph.
func (s *scanner) addLink(link Link, target string) {
	link.Target = target
	link.Path = target
	if n := strings.IndexByte(target, '#'); n >= 0 {
		link.Path = target[:n]
		link.Subpath = target[n:]
	}
	if link.Embed {
		link.Span.Start--
	}
	last := len(s.note.Links) - 1
	if last >= 0 && s.note.Links[last].Span.Start > link.Span.Start {
		s.isUnordered = true
	}
	s.note.Links = append(s.note.Links, link)
}

// orderLinks orders the links from an index on by where they begin. A link that contains another one is added after
// it, and definitions are added after the links of their paragraph.
func (s *scanner) orderLinks(from int) {
	if !s.isUnordered {
		return
	}
	s.isUnordered = false
	links := s.note.Links[from:]
	s.reread += len(links)
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
}

// closeBracket handles the closing bracket at the offset at and returns where to continue. If
// it closes the text of an inline link, the target is read and the link is added.
func (s *scanner) closeBracket(at int, line segment) int {
	if s.brackets.size == 0 {
		return at + 1
	}
	s.brackets.size--
	open := s.brackets.open[s.brackets.size]
	if at+1 >= line.end || s.text[at+1] != '(' {
		if s.references != nil {
			s.addUse(open.at, at, s.para[open.seg])
		}
		return at + 1
	}
	r := reader{text: s.text[at+2 : line.end]}
	target, ok := r.destination()
	s.reread += min(r.at, len(r.text))
	if !ok {
		return at + 1
	}
	end := at + 2 + r.at
	if !open.embed {
		embeds := 0 // links do not contain links, but embeds may contain and be contained
		for _, open := range s.brackets.open[:s.brackets.size] {
			if open.embed {
				s.brackets.open[embeds] = open
				embeds++
			}
		}
		s.brackets.size = embeds
	}
	if len(target) == 0 || hasScheme(target) {
		return end
	}
	link := Link{
		Display: s.joinedText(place{open.at + 1, open.seg}, at),
		Style:   Inline,
		Embed:   open.embed,
		Line:    s.para[open.seg].line,
		Span:    Span{open.at, end},
	}
	s.addLink(link, s.decode(target))
	return end
}

// hasScheme reports whether a target is a URL, which leads out of the vault.
func hasScheme(target []byte) bool {
	colon := bytes.IndexByte(target, ':')
	return colon >= 1 && isLetter(target[0]) &&
		!slices.ContainsFunc(target[:colon], func(b byte) bool { return !isNameByte(b) })
}

// reader reads the target of an inline link. It reads every byte once at most; at is how far
// it has read, whether it found a target or not.
type reader struct {
	text []byte
	at   int
}

// destination reads the text after the opening parenthesis: a target, an optional title, and the
// closing parenthesis.
func (r *reader) destination() (target []byte, ok bool) {
	r.blanks()
	if r.next() == '<' {
		r.at++
		start := r.at
		if ok = r.until('>', '<'); ok {
			target = r.text[start : r.at-1]
		}
	} else {
		target, ok = r.plain()
	}
	if !ok {
		return nil, false
	}
	if r.blanks() > 0 {
		switch mark := r.next(); mark { // a title must be closed
		case '"', '\'':
			r.at++
			ok = r.until(mark, 0)
		case '(':
			r.at++
			ok = r.until(')', '(')
		}
		if ok {
			r.blanks()
		}
	}
	if !ok || r.next() != ')' {
		return nil, false
	}
	r.at++
	return target, true
}

// next returns the current byte, 0 at the end.
func (r *reader) next() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// blanks skips blanks and returns their number.
func (r *reader) blanks() int {
	start := r.at
	for isBlank(r.next()) {
		r.at++
	}
	return r.at - start
}

// until skips text up to and including closing. It reports false if stop or the end comes first.
func (r *reader) until(closing, stop byte) bool {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case closing:
			r.at++
			return true
		case stop:
			return false
		}
	}
	return false
}

// maxNesting is the maximum nesting of parentheses in a target. It limits how often a text full
// of parentheses is read again.
const maxNesting = 32

// plain reads a target without angle brackets. It ends at a blank, or at a closing parenthesis
// without an opening one.
func (r *reader) plain() (target []byte, ok bool) {
	start := r.at
	nested := 0
	for ; r.at < len(r.text); r.at++ {
		switch b := r.text[r.at]; {
		case b == '\\' && r.at+1 < len(r.text) && isPunctuation(r.text[r.at+1]):
			r.at++
		case b == '(':
			nested++
			if nested > maxNesting {
				return nil, false
			}
		case b == ')' && nested > 0:
			nested--
		case b == ')' || b <= ' ':
			return r.text[start:r.at], nested == 0
		}
	}
	return nil, false
}

// decode returns the target of an inline link without its backslashes and percent escapes.
func (s *scanner) decode(target []byte) string {
	if bytes.IndexByte(target, '\\') >= 0 {
		b := s.unescaped[:0]
		for n := 0; n < len(target); n++ {
			if target[n] == '\\' && n+1 < len(target) && isPunctuation(target[n+1]) {
				n++
			}
			b = append(b, target[n])
		}
		s.unescaped = b
		target = b
	}
	if bytes.IndexByte(target, '%') >= 0 {
		decoded, ok := appendDecoded(s.decoded[:0], target)
		s.decoded = decoded
		if ok {
			target = decoded
		}
	}
	if s.copies != nil {
		return s.copies.Copy(target)
	}
	return string(target)
}

// appendDecoded appends text with percent escapes decoded as by JavaScript's decodeURI: those
// of characters with a meaning in a URL stay. If an escape is malformed, ok is false, and no
// escape of the text should be decoded.
func appendDecoded(b, text []byte) (decoded []byte, ok bool) {
	for len(text) > 0 {
		if text[0] != '%' {
			b = append(b, text[0])
			text = text[1:]
			continue
		}
		start := len(b)
		first := text
		for !utf8.FullRune(b[start:]) {
			if len(text) < 3 || text[0] != '%' {
				return b, false
			}
			var err error
			if b, err = hex.AppendDecode(b, text[1:3]); err != nil {
				return b, false
			}
			text = text[3:]
		}
		r, size := utf8.DecodeRune(b[start:])
		switch {
		case r == utf8.RuneError && size == 1:
			return b, false
		case strings.ContainsRune(reserved, r):
			b = append(b[:start], first[:3]...)
		}
	}
	return b, true
}

// reserved are the characters that decodeURI leaves escaped.
const reserved = ";/?:@&=+$,#"
