package markdown

import "unicode/utf8"

// tag reads a tag, which stands first on its line or behind white space.
func (s *scanner) tag(at int, line segment) int {
	if at > line.start && !isSpaceBefore(s.text[line.start:at]) {
		return at + 1
	}
	return s.addTag(at, line)
}

// addTag notes the tag at at, if one is there, and returns where to go on.
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

// TagName returns the name of the tag that text is, with or without its "#",
// and whether it is one: the rules for tags in properties are those for the
// text of a note.
func TagName(text string) (name string, ok bool) {
	if len(text) > 0 && text[0] == '#' {
		text = text[1:]
	}
	size := nameSize([]byte(text))
	if size != len(text) {
		return "", false
	}
	for size > 0 && text[size-1] == '/' {
		size--
	}
	return text[:size], isName([]byte(text[:size]))
}

// isName reports whether name, made of the right characters, is not empty and
// not a mere number.
func isName(name []byte) bool {
	for _, b := range name {
		if !isDigit(b) {
			return true
		}
	}
	return false
}

// nameSize returns how much of text may be the name of a tag.
func nameSize(text []byte) int {
	n := 0
	for n < len(text) {
		if text[n] < utf8.RuneSelf {
			if !inName(text[n]) {
				return n
			}
			n++
			continue
		}
		r, size := utf8.DecodeRune(text[n:])
		if isSpace(r) || 0x2000 <= r && r <= 0x206f || 0x2e00 <= r && r <= 0x2e7f {
			return n
		}
		n += size
	}
	return n
}

// inName reports whether a tag may hold the ASCII character b: anything but
// white space and punctuation, save three marks.
func inName(b byte) bool {
	return b == '_' || b == '-' || b == '/' || !isPunctuation(b) && !isSpace(rune(b))
}

func isSpaceBefore(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return isSpace(r)
}

// blockID notes the block id at the end of the paragraph at hand.
func (s *scanner) blockID() {
	last := s.para[len(s.para)-1]
	end := last.end
	for end > last.start && isBlank(s.text[end-1]) {
		end--
	}
	start := end
	for start > last.start && isIDByte(s.text[start-1]) {
		start--
	}
	mark := start - 1
	if start == end || mark < last.start || s.text[mark] != '^' || mark > last.start && !isBlank(s.text[mark-1]) {
		return
	}
	s.note.Blocks = append(s.note.Blocks, Block{ID: s.string(start, end), Line: last.line, Span: s.named(last, mark)})
}

// named returns the block that an id at mark, on the last line of the paragraph
// at hand, names.
func (s *scanner) named(last segment, mark int) Span {
	alone := mark == last.start
	switch {
	case alone && len(s.para) == 1 && s.depth == 0 && s.before.End > 0:
		return s.before.Span
	case alone && s.lazy && s.top.kind == quote:
		return Span{s.top.Start, s.para[len(s.para)-2].end}
	}
	return Span{s.start, last.end}
}

func isIDByte(b byte) bool { return isLetter(b) || isDigit(b) || b == '-' }
