package markdown

import "bytes"

// maxTicks bounds how many backquotes may open a code span.
const maxTicks = 64

// ticks knows where the last run of backquotes of each length stands in the
// paragraph at hand, so that an opening run without a closing one is known as
// such without a search.
type ticks struct {
	known bool
	last  [maxTicks]int
}

// code passes a code span, or the backquotes alone if nothing closes it.
func (s *scanner) code(at int, line segment) int {
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

// eachRun visits the runs of backquotes from at to the end of the paragraph,
// until visit returns false.
func (s *scanner) eachRun(at int, visit func(at, n int) bool) {
	for _, line := range s.para[s.seg:] {
		for at = max(at, line.start); at < line.end; {
			n := bytes.IndexByte(s.text[at:line.end], '`')
			if n < 0 {
				s.looked += line.end - at
				break
			}
			at += n
			size := run(s.text[at:line.end], '`')
			s.looked += n + size
			if !visit(at, size) {
				return
			}
			at += size
		}
	}
}

// formula passes a formula between single or double dollar signs.
func (s *scanner) formula(at int, line segment) int {
	next := at + 1
	if next < line.end && s.text[next] == '$' {
		return s.hidden("$$", at+2, at+2, &s.noDisplay)
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
		if s.closesFormula(closing.at) {
			return closing.at + 1
		}
		from = closing
	}
}

// hidden passes what is hidden up to and with closing, which may begin at from;
// if it never does, it notes that in none, and reading goes on at next.
func (s *scanner) hidden(closing string, from, next int, none *bool) int {
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

// closesFormula reports whether the dollar sign at at may end a formula: not
// behind a blank, not escaped, and not before a digit, which makes it a price.
func (s *scanner) closesFormula(at int) bool {
	if isSpace(rune(s.text[at-1])) {
		return false
	}
	slashes := 0
	for s.text[at-1-slashes] == '\\' {
		slashes++
	}
	s.looked += slashes
	return slashes%2 == 0 && (at+1 == len(s.text) || !isDigit(s.text[at+1]))
}

// angle passes an HTML comment, an HTML tag or an address in angle brackets.
// They hide what is in them, not what is between two tags.
func (s *scanner) angle(at int, line segment) int {
	if bytes.HasPrefix(s.text[at:line.end], []byte("<!--")) {
		// "<!-->" is a whole comment.
		return s.hidden("-->", at+2, at+1, &s.noComment)
	}
	size := bytes.IndexByte(s.text[at+1:line.end], '<')
	if size < 0 {
		size = line.end - at - 1
	}
	s.looked += size
	return at + max(1, tagSize(s.text[at:at+1+size]))
}

// tagSize returns the length of the HTML tag or address at the start of text,
// or 0. There is one opening bracket in text, which is its first byte.
func tagSize(text []byte) int {
	n := 1
	if n < len(text) && text[n] == '/' {
		n++
	}
	name := n
	for n < len(text) && (isLetter(text[n]) || n > name && isNameByte(text[n])) {
		n++
	}
	switch {
	case n == name || n == len(text):
		return 0
	case text[n] == ':':
		return addressSize(text)
	}
	return attributesSize(text, n)
}

// addressSize returns the length of the address at the start of text, or 0.
func addressSize(text []byte) int {
	for n, b := range text {
		switch {
		case b == '>':
			return n + 1
		case b <= ' ':
			return 0
		}
	}
	return 0
}

// attributesSize returns the length of the tag whose name ends at n, or 0. A
// value without quotes may hold a number sign, but no attribute begins with
// one.
func attributesSize(text []byte, n int) int {
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

func isNameByte(b byte) bool { return isLetter(b) || isDigit(b) || b == '-' || b == '+' || b == '.' }
