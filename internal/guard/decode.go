package guard

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text as a decoder makes it from another one: a string of JSON, a scalar of YAML, a target of a link.
// It knows where its bytes come from.
type view struct {
	text  []byte
	parts []part // in order; the first begins at 0
	// nuls says where the bytes come from if only NUL bytes were left out. There are no parts then: every second byte of
	// a file may be one.
	nuls *leftOut
}

// leftOut is a text of which the NUL bytes were left out.
type leftOut struct {
	text  []byte
	every []int // the place in text of the kept byte with the number 0, everyKept, twice that, and so on
}

// everyKept is how many bytes that are kept one place is noted for.
const everyKept = 4096

// placeOf returns where the kept byte with a number is in the text.
func (l *leftOut) placeOf(number int) int {
	at := l.every[number/everyKept]
	for left := number % everyKept; ; at++ {
		if l.text[at] == 0 {
			continue
		}
		if left == 0 {
			return at
		}
		left--
	}
}

// part is a piece of a view, up to the next one. With size 0 it is a copy of the bytes at from, else all of it was
// made from the size bytes at from.
type part struct{ at, from, size int }

// partAt returns the part that has the byte at a place.
func (v *view) partAt(at int) part {
	n, found := slices.BinarySearchFunc(v.parts, at, func(p part, at int) int { return p.at - at })
	if !found {
		n--
	}
	return v.parts[n]
}

// origin returns where the bytes from start up to end come from. They are not none.
func (v *view) origin(start, end int) (from, to int) {
	if v.nuls != nil {
		return v.nuls.placeOf(start), v.nuls.placeOf(end-1) + 1
	}
	first := v.partAt(start)
	last := v.partAt(end - 1)
	from = first.from
	to = last.from + last.size
	if first.size == 0 {
		from += start - first.at
	}
	if last.size == 0 {
		to += end - last.at
	}
	return from, to
}

// keep appends a copy of bytes that begin at from.
func (v *view) keep(text []byte, from int) {
	if len(text) > 0 {
		v.parts = append(v.parts, part{at: len(v.text), from: from})
		v.text = append(v.text, text...)
	}
}

// put appends what size bytes at from were decoded to.
func (v *view) put(decoded []byte, from, size int) {
	if len(decoded) > 0 {
		v.parts = append(v.parts, part{len(v.text), from, size})
		v.text = append(v.text, decoded...)
	}
}

// decode returns a text with what begins with a byte decoded; the function returns what is in place of the bytes
// that begin at the start of rest, and how many they are, 0 for none. It is nil if nothing is decoded.
func decode(text []byte, begins byte, escape func(rest []byte) (decoded []byte, size int)) *view {
	var v *view
	done := 0
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], begins)
		if n < 0 {
			break
		}
		at += n
		decoded, size := escape(text[at:])
		if size == 0 {
			at++
			continue
		}
		if v == nil {
			v = &view{text: make([]byte, 0, len(text))}
		}
		v.keep(text[done:at], done)
		v.put(decoded, at, size)
		at += size
		done = at
	}
	if v != nil {
		v.keep(text[done:], done)
	}
	return v
}

// unescape decodes what has a backslash in strings of JSON and code, in quoted scalars of YAML and in Markdown.
func unescape(text []byte) *view { return decode(text, '\\', escaped) }

// controls are the escapes of one letter, of JSON and YAML.
var controls = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", 'e': "\x1b", '0': "", 'N': "\u0085", 'L': "\u2028", 'P': "\u2029",
}

// digitsOf says how many digits the escapes of characters by their numbers have.
var digitsOf = map[byte]int{'x': 2, 'u': 4, 'U': 8}

func escaped(rest []byte) (decoded []byte, size int) {
	if len(rest) < 2 {
		return nil, 0
	}
	c := rest[1]
	if text, ok := controls[c]; ok {
		return []byte(text), 2
	}
	switch digits := digitsOf[c]; {
	case digits > 0:
		r, ok := hexRune(rest[2:], digits)
		if !ok {
			return nil, 0
		}
		size = 2 + digits
		if utf16.IsSurrogate(r) && bytes.HasPrefix(rest[size:], []byte(`\u`)) {
			if low, ok := hexRune(rest[size+2:], digits); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				size += 2 + digits
			}
		}
		return utf8.AppendRune(nil, r), size
	case c == '\n' || c == '\r': // the line goes on
		size = 1 + len("\n")
		if c == '\r' && len(rest) > 2 && rest[2] == '\n' {
			size++
		}
		for size < len(rest) && (rest[size] == ' ' || rest[size] == '\t') {
			size++
		}
		return nil, size
	case c == ' ' || c == '\t' || isSign(c):
		return rest[1:2], 2
	}
	return nil, 0
}

// isSign reports whether c is a sign of ASCII that stands for itself behind a backslash.
func isSign(c byte) bool {
	isVisible := '!' <= c && c <= '~'
	return isVisible && (!isWordByte[c] || c == '_')
}

func hexRune(text []byte, digits int) (rune, bool) {
	if len(text) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[:digits]), 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}

// unpercent decodes targets of links: %67 is g.
func unpercent(text []byte) *view {
	return decode(text, '%', func(rest []byte) ([]byte, int) {
		r, ok := hexRune(rest[1:], 2)
		if !ok {
			return nil, 0
		}
		return []byte{byte(r)}, 3
	})
}

// withoutNUL leaves out NUL bytes, which every second byte of a text in UTF-16 is.
func withoutNUL(text []byte) *view {
	count := bytes.Count(text, []byte{0})
	if count == 0 {
		return nil
	}
	l := &leftOut{text: text}
	kept := make([]byte, 0, len(text)-count)
	for at, c := range text {
		if c == 0 {
			continue
		}
		if len(kept)%everyKept == 0 {
			l.every = append(l.every, at)
		}
		kept = append(kept, c)
	}
	return &view{text: kept, nuls: l}
}

// maxLevels is how often a text is decoded again: JSON in a card of a canvas is a string in a string.
const maxLevels = 3

// level is a view that was made by decoding a text once or more. It is linked to what it was made from.
type level struct {
	*view
	of     *level // nil for the text itself
	isHTML bool   // its characters were entities
}

// origin returns where bytes come from in the text itself.
func (l *level) origin(start, end int) (from, to int) {
	for ; l != nil; l = l.of {
		start, end = l.view.origin(start, end)
	}
	return start, end
}

// levelsOf returns what a text is when it is decoded, in every way that it can be, and the views without escapes.
func levelsOf(text []byte) (all []*level, without escapes) {
	var base *level
	if v := withoutNUL(text); v != nil {
		base = &level{view: v}
		all = append(all, base)
		text = v.text
	}
	if v := unpercent(text); v != nil {
		all = append(all, &level{view: v, of: base})
	}
	all = append(all, entityLevels(text, base)...)
	of := base
	for range maxLevels {
		v := unescape(text)
		if v == nil {
			break
		}
		if base == nil {
			without = append(without, v)
		}
		of = &level{view: v, of: of}
		text = v.text
		all = append(all, of)
	}
	if of != base {
		all = append(all, entityLevels(text, of)...)
	}
	return all, without
}

// maxEntityLevels is how often entities are decoded again: "&amp;#103;" is a g in an attribute that a script writes.
const maxEntityLevels = 2

// entityLevels returns what a text is when its entities of HTML are decoded, if one of them can hide a secret.
func entityLevels(text []byte, of *level) (all []*level) {
	for range maxEntityLevels {
		if !mayHide(text) {
			break
		}
		v := withoutEntities(text)
		if v == nil {
			break
		}
		of = &level{view: v, of: of, isHTML: true}
		text = v.text
		all = append(all, of)
	}
	return all
}

// mayHide reports whether a text has an entity that is a character of tokens and names, or of what is between a name
// and a value. Those that prose has hide nothing.
func mayHide(text []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], '&')
		if n < 0 {
			return false
		}
		at += n
		rest := text[at:min(len(text), at+longestEntity)]
		if bytes.HasPrefix(rest, []byte("&#")) || bytes.HasPrefix(rest, []byte("&amp;#")) {
			return true
		}
		decoded, _ := entity(rest)
		if len(decoded) == 1 && !bytes.ContainsAny(decoded, "&<>\"") {
			return true
		}
	}
}

// longestEntity is how many bytes an entity has at most, without zeros before its number.
const longestEntity = 40

// entity decodes the entity that a text begins with; size is 0 if there is none. One that is a number needs no ";".
func entity(rest []byte) (decoded []byte, size int) {
	if len(rest) > 2 && rest[1] == '#' {
		size = 2
		isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
		if rest[size]|0x20 == 'x' {
			size++
			isDigit = func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
		}
		for size < len(rest) && isDigit(rest[size]) {
			size++
		}
		if size < len(rest) && rest[size] == ';' {
			size++
		}
	} else {
		size = 1 + bytes.IndexByte(rest[:min(len(rest), longestEntity)], ';')
	}
	written := string(rest[:size])
	text := html.UnescapeString(written)
	if text == written {
		return nil, 0
	}
	return []byte(text), size
}

// withoutEntities decodes what HTML has for characters.
func withoutEntities(text []byte) *view { return decode(text, '&', entity) }

// escapes are the views of a text without its escapes, each made from the one before.
type escapes []*view

// align makes spans of the text begin and end where escapes do, in each of the views. A span that begins in the
// middle of an escape begins behind it.
func (e escapes) align(found []Span, length int) []Span {
	kept := found[:0]
	for _, f := range found {
		_, start := e.around(f.Start, length)
		end, _ := e.around(f.End, length)
		if start >= end {
			continue
		}
		if start != f.Start || end != f.End {
			f.secret = nil
		}
		f.Start = start
		f.End = end
		kept = append(kept, f)
	}
	return kept
}

// around returns the start and the end of the escape that a place is in the middle of, which are the place itself if
// it is in none.
func (e escapes) around(place, length int) (start, end int) {
	at := place
	for i, v := range e {
		before, behind, is := v.escapeAt(at, length)
		if is {
			return e[:i].origin(before), e[:i].origin(behind)
		}
		at = v.placeOf(at)
		length = len(v.text)
	}
	return place, place
}

// origin returns where a place of the last view is in the text.
func (e escapes) origin(at int) int {
	for i := len(e) - 1; i >= 0; i-- {
		if at == len(e[i].text) && at > 0 {
			_, at = e[i].origin(at-1, at)
			continue
		}
		if at < len(e[i].text) {
			at, _ = e[i].origin(at, at+1)
		}
	}
	return at
}

// made returns what was made of the bytes from start up to end, which are ends of escapes.
func (v *view) made(start, end int) []byte { return v.text[v.placeOf(start):v.placeOf(end)] }

// partFrom returns the number of the last part that comes from a place or from before it, -1 if there is none.
func (v *view) partFrom(from int) int {
	n, found := slices.BinarySearchFunc(v.parts, from, func(p part, from int) int { return p.from - from })
	if !found {
		n--
	}
	return n
}

// end returns the end of the bytes that a part comes from, and that of the part.
func (v *view) end(n int) (from, at int) {
	at = len(v.text)
	if n+1 < len(v.parts) {
		at = v.parts[n+1].at
	}
	p := v.parts[n]
	if p.size > 0 {
		return p.from + p.size, at
	}
	return p.from + at - p.at, at
}

// placeOf returns where a place of the text that was decoded is in the view: of one in the middle of an escape, the
// place behind it.
func (v *view) placeOf(from int) int {
	n := v.partFrom(from)
	if n < 0 {
		return 0
	}
	p := v.parts[n]
	if p.from == from {
		return p.at
	}
	end, at := v.end(n)
	if p.size > 0 || from >= end {
		return at
	}
	return p.at + from - p.from
}

// escapeAt reports whether a place of the text that was decoded is in the middle of an escape, and where that begins
// and ends.
func (v *view) escapeAt(from, length int) (start, end int, is bool) {
	n := v.partFrom(from)
	if n >= 0 {
		p := v.parts[n]
		ends, _ := v.end(n)
		if from < ends {
			return p.from, ends, p.size > 0 && from > p.from
		}
		start = ends
	}
	end = length
	if n+1 < len(v.parts) {
		end = v.parts[n+1].from
	}
	return start, end, from > start && from < end // of an escape that is nothing when it is decoded
}
