package guard

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// view is the decoded form of a text, such as a JSON string, YAML scalar or link target. It maps its bytes to those of
// the original text.
type view struct {
	text  []byte
	parts []part // in order; the first begins at 0
	// nuls is set, and parts is empty, if the view is the text without its NUL bytes: every second byte of a file may
	// be one.
	nuls *nulIndex
}

// nulIndex maps the bytes of a text that are not NUL to their offsets.
type nulIndex struct {
	text    []byte
	offsets []int // of each indexInterval-th byte that is not NUL
}

// indexInterval is the number of bytes between two entries of a nulIndex.
const indexInterval = 4096

// offsetOf returns the offset of the byte with a number, counting from 0 only bytes that are not NUL.
func (x *nulIndex) offsetOf(number int) int {
	at := x.offsets[number/indexInterval]
	for left := number % indexInterval; ; at++ {
		if x.text[at] == 0 {
			continue
		}
		if left == 0 {
			return at
		}
		left--
	}
}

// part is a piece of a view, from its offset at up to the next part. With size 0 it is a copy of the bytes at from in
// the original text; otherwise all of it was decoded from the size bytes there.
type part struct{ at, from, size int }

// partAt returns the part that contains the byte at an offset.
func (v *view) partAt(at int) part {
	n, found := slices.BinarySearchFunc(v.parts, at, func(p part, at int) int { return p.at - at })
	if !found {
		n--
	}
	return v.parts[n]
}

// origin returns the range of the original text from which v.text[start:end], which is not empty, was decoded.
func (v *view) origin(start, end int) (from, to int) {
	if v.nuls != nil {
		return v.nuls.offsetOf(start), v.nuls.offsetOf(end-1) + 1
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

// copyText appends a copy of the bytes that begin at from in the original text.
func (v *view) copyText(text []byte, from int) {
	if len(text) > 0 {
		v.parts = append(v.parts, part{at: len(v.text), from: from})
		v.text = append(v.text, text...)
	}
}

// addDecoded appends the text to which the size bytes at from were decoded.
func (v *view) addDecoded(decoded []byte, from, size int) {
	if len(decoded) > 0 {
		v.parts = append(v.parts, part{len(v.text), from, size})
		v.text = append(v.text, decoded...)
	}
}

// decode returns a text with its escapes decoded, or nil if it has none. Escapes begin with the byte begins; escape
// decodes the one at the start of rest, and returns its size, which is 0 for no escape.
func decode(text []byte, begins byte, escape func(rest []byte) (decoded []byte, size int)) *view {
	var v *view
	copied := 0
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
		v.copyText(text[copied:at], copied)
		v.addDecoded(decoded, at, size)
		at += size
		copied = at
	}
	if v != nil {
		v.copyText(text[copied:], copied)
	}
	return v
}

// unescape decodes backslash escapes of strings in JSON and code, of quoted YAML scalars and of Markdown.
func unescape(text []byte) *view { return decode(text, '\\', decodeEscape) }

// controls are the one-letter escapes of JSON and YAML.
var controls = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", 'e': "\x1b", '0': "", 'N': "\u0085", 'L': "\u2028", 'P': "\u2029",
}

// digitsOf has the number of hexadecimal digits in each kind of numeric escape.
var digitsOf = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// decodeEscape decodes the backslash escape at the start of rest; size is 0 if there is none.
func decodeEscape(rest []byte) (decoded []byte, size int) {
	if len(rest) < 2 {
		return nil, 0
	}
	c := rest[1]
	if text, ok := controls[c]; ok {
		return []byte(text), 2
	}
	if c == 'u' && len(rest) > 2 && rest[2] == '{' {
		return decodeBracedEscape(rest)
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
	case c == '\n' || c == '\r': // the line is continued
		size = 1 + len("\n")
		if c == '\r' && len(rest) > 2 && rest[2] == '\n' {
			size++
		}
		for size < len(rest) && (rest[size] == ' ' || rest[size] == '\t') {
			size++
		}
		return nil, size
	case c == ' ' || c == '\t' || isPunctuation(c):
		return rest[1:2], 2
	}
	return nil, 0
}

// decodeBracedEscape decodes an escape of JavaScript such as "\u{67}" at the start of rest; size is 0 if there is none.
func decodeBracedEscape(rest []byte) (decoded []byte, size int) {
	const before = len(`\u{`)
	const maxDigits = 6
	digits := bytes.IndexByte(rest[before:min(len(rest), before+maxDigits+1)], '}')
	if digits < 1 {
		return nil, 0
	}
	r, ok := hexRune(rest[before:], digits)
	if !ok {
		return nil, 0
	}
	return utf8.AppendRune(nil, r), before + digits + len("}")
}

// isPunctuation reports whether c is ASCII punctuation, which stands for itself after a backslash.
func isPunctuation(c byte) bool {
	isVisible := '!' <= c && c <= '~'
	isAlphanumeric := isWordByte[c] && c != '_'
	return isVisible && !isAlphanumeric
}

// hexRune parses the character number of a fixed number of hexadecimal digits at the start of a text.
func hexRune(text []byte, digits int) (rune, bool) {
	if len(text) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[:digits]), 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}

// unpercent decodes the percent escapes of link targets: %67 is g.
func unpercent(text []byte) *view {
	return decode(text, '%', func(rest []byte) ([]byte, int) {
		r, ok := hexRune(rest[1:], 2)
		if !ok {
			return nil, 0
		}
		return []byte{byte(r)}, 3
	})
}

// withoutNUL removes NUL bytes, such as every second byte of ASCII text in UTF-16. It returns nil if there are none.
func withoutNUL(text []byte) *view {
	count := bytes.Count(text, []byte{0})
	if count == 0 {
		return nil
	}
	index := &nulIndex{text: text}
	kept := make([]byte, 0, len(text)-count)
	for at, c := range text {
		if c == 0 {
			continue
		}
		if len(kept)%indexInterval == 0 {
			index.offsets = append(index.offsets, at)
		}
		kept = append(kept, c)
	}
	return &view{text: kept, nuls: index}
}

// maxLevels is how often a text is decoded in succession: JSON in a canvas card is a string in a string.
const maxLevels = 3

// level is a view after one or more decoding steps. It is linked to the level from which it was decoded.
type level struct {
	*view
	parent *level // nil if it was decoded from the text itself
	isHTML bool   // the step decoded HTML entities
}

// origin returns the range of the text itself from which l.text[start:end] was decoded.
func (l *level) origin(start, end int) (from, to int) {
	for ; l != nil; l = l.parent {
		start, end = l.view.origin(start, end)
	}
	return start, end
}

// levelsOf returns all decoded forms of a text, and each of them as a reader sees it. without has the views after each
// decoding of its backslash escapes; it is empty for a text with NUL bytes.
func levelsOf(text []byte) (levels []*level, without escapes) {
	var base *level
	if v := withoutNUL(text); v != nil {
		base = &level{view: v}
		levels = append(levels, base)
		text = v.text
	}
	levels = append(levels, percentLevels(text, base)...)
	levels = append(levels, entityLevels(text, base)...)
	whole := text
	parent := base
	for range maxLevels {
		v := unescape(text)
		if v == nil {
			break
		}
		if base == nil {
			without = append(without, v)
		}
		parent = &level{view: v, parent: parent}
		text = v.text
		levels = append(levels, parent)
	}
	if parent != base {
		levels = append(levels, entityLevels(text, parent)...)
	}
	decoded := levels
	levels = append(levels, visibleLevels(whole, base)...)
	for _, l := range decoded {
		if l != base {
			levels = append(levels, visibleLevels(l.text, l)...)
		}
	}
	return levels, without
}

// maxPercentLevels is how often percent escapes are decoded in succession: an address may be a parameter of another one.
const maxPercentLevels = 2

// percentLevels returns the levels of decoding the percent escapes of a text.
func percentLevels(text []byte, parent *level) (levels []*level) {
	for range maxPercentLevels {
		v := unpercent(text)
		if v == nil {
			break
		}
		parent = &level{view: v, parent: parent}
		text = v.text
		levels = append(levels, parent)
	}
	return levels
}

// maxEntityLevels is how often entities are decoded in succession: "&amp;#103;" is a g in an attribute that a script
// writes.
const maxEntityLevels = 2

// entityLevels returns the levels of decoding the HTML entities of a text, as long as one of them can hide a secret.
func entityLevels(text []byte, parent *level) (levels []*level) {
	for range maxEntityLevels {
		if !mayHideSecret(text) {
			break
		}
		v := withoutEntities(text)
		if v == nil {
			break
		}
		parent = &level{view: v, parent: parent, isHTML: true}
		text = v.text
		levels = append(levels, parent)
	}
	return levels
}

// mayHideSecret reports whether a text has an entity for a character of tokens or names, or of the signs between a name and
// a value. The common entities of prose hide nothing.
func mayHideSecret(text []byte) bool {
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
		decoded, _ := decodeEntity(rest)
		if len(decoded) == 1 && !bytes.ContainsAny(decoded, "&<>\"") {
			return true
		}
		r, _ := utf8.DecodeRune(decoded)
		seen, isKnown := seenAs(r)
		if isKnown && len(seen) == 0 {
			return true
		}
	}
}

// longestEntity is the maximum length of an entity in bytes, without leading zeros of its number.
const longestEntity = 40

// decodeEntity decodes the entity at the start of rest; size is 0 if there is none. A numeric entity needs no ";".
func decodeEntity(rest []byte) (decoded []byte, size int) {
	size = entitySize(rest)
	written := string(rest[:size])
	text := html.UnescapeString(written)
	if text == written {
		return nil, 0
	}
	return []byte(text), size
}

// entitySize returns the size of what may be an entity at the start of rest, which begins with "&".
func entitySize(rest []byte) int {
	isNumeric := len(rest) > 2 && rest[1] == '#'
	if !isNumeric {
		return 1 + bytes.IndexByte(rest[:min(len(rest), longestEntity)], ';')
	}
	size := 2
	isDigit := isDecimal
	if rest[size]|0x20 == 'x' {
		size++
		isDigit = isHexadecimal
	}
	for size < len(rest) && isDigit(rest[size]) {
		size++
	}
	if size < len(rest) && rest[size] == ';' {
		size++
	}
	return size
}

func isDecimal(c byte) bool { return '0' <= c && c <= '9' }

func isHexadecimal(c byte) bool { return isDecimal(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// withoutEntities decodes the HTML entities of a text. It returns nil if there are none.
func withoutEntities(text []byte) *view { return decode(text, '&', decodeEntity) }

// escapes are the views of a text after decoding its backslash escapes, each made from the one before.
type escapes []*view

// align moves the ends of spans of the text that are inside an escape of any view: the start to the end of the escape,
// the end to its start. It drops spans that become empty.
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

// around returns the start and end of the escape that contains place, or place twice if it is inside none.
func (e escapes) around(place, length int) (start, end int) {
	at := place
	for i, v := range e {
		before, behind, ok := v.escapeAt(at, length)
		if ok {
			return e[:i].origin(before), e[:i].origin(behind)
		}
		at = v.placeOf(at)
		length = len(v.text)
	}
	return place, place
}

// origin maps an offset in the last view to one in the text.
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

// decoded returns what the bytes of the original text from start to end, which are not inside escapes, were decoded to.
func (v *view) decoded(start, end int) []byte { return v.text[v.placeOf(start):v.placeOf(end)] }

// partFrom returns the index of the last part that comes from an offset of the original text or from before it, or -1.
func (v *view) partFrom(from int) int {
	n, found := slices.BinarySearchFunc(v.parts, from, func(p part, from int) int { return p.from - from })
	if !found {
		n--
	}
	return n
}

// end returns the ends of the n-th part: in the original text, and in the view.
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

// placeOf maps an offset of the original text to one in the view. An offset inside an escape maps to the end of it.
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

// escapeAt returns the start and end of the escape that contains an offset of the original text. ok is false if there
// is none.
func (v *view) escapeAt(from, length int) (start, end int, ok bool) {
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
	return start, end, from > start && from < end // an escape that decodes to nothing has no part
}
