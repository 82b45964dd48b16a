package trigram

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
	atOnce    = 8 // trigrams

	// chunk is how many bytes are lower-cased at a time. Lower case takes at most half as much
	// again.
	chunk    = 4 << 10
	maxChunk = chunk + chunk/2 + wordSize
)

// look adds every trigram of a text in lower case.
func (m *maker) look(text []byte) {
	have := 0 // bytes from the chunk before
	for len(text) > 0 {
		part := text[:chunkSize(text)]
		text = text[len(part):]
		have += m.fold(m.buf[have:], part)
		m.addAll(m.buf[:have])
		behind := min(have, size-1)
		copy(m.buf[:], m.buf[have-behind:have])
		have = behind
	}
}

// chunkSize returns the size of the next chunk, which does not split a character.
func chunkSize(text []byte) int {
	if len(text) <= chunk {
		return len(text)
	}
	end := chunk
	for end > chunk-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// addAll adds every trigram of bytes.
func (m *maker) addAll(folded []byte) {
	seen, drop := m.seen, m.drop
	for ; len(folded) >= atOnce+size; folded = folded[atOnce:] {
		seen[hash(binary.LittleEndian.Uint32(folded))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[1:]))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[2:]))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[3:]))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[4:]))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[5:]))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[6:]))>>(drop&31)] = 1
		seen[hash(binary.LittleEndian.Uint32(folded[7:]))>>(drop&31)] = 1
	}
	for ; len(folded) >= size; folded = folded[1:] {
		seen[hash(trigram(folded))>>(drop&31)] = 1
	}
}

// fold writes a text in lower case, eight bytes at a time where it is ASCII, and returns the
// length of the result.
func (m *maker) fold(to, text []byte) (length int) {
	at := 0
	for at < len(text) {
		n := foldWords(to[length:], text[at:])
		at, length = at+n, length+n
		// The character of several bytes that is near, or the end.
		for near := min(at+wordSize, len(text)); at < near; {
			if b := text[at]; b < utf8.RuneSelf {
				to[length] = lower[b]
				at, length = at+1, length+1
				continue
			}
			size, folded := m.foldRune(to[length:], text[at:])
			at, length = at+size, length+folded
		}
	}
	return length
}

// foldWords lower-cases words of eight bytes up to the first that is not ASCII, and returns
// their length.
func foldWords(to, text []byte) (length int) {
	for ; length <= len(text)-wordSize && length <= len(to)-wordSize; length += wordSize {
		word := binary.LittleEndian.Uint64(text[length:])
		if word&highBits != 0 {
			break
		}
		binary.LittleEndian.PutUint64(to[length:], lowerWord(word))
	}
	return length
}

// lowerWord lower-cases eight bytes of ASCII.
func lowerWord(word uint64) uint64 {
	fromA, behindZ := word+(0x80-'A')*everyByte, word+(0x80-'Z'-1)*everyByte
	return word | (fromA^behindZ)&highBits>>2
}

// foldRune lower-cases the first character and returns its length before and after. An invalid
// byte is copied.
func (m *maker) foldRune(to, text []byte) (size, folded int) {
	first := text[0]
	switch {
	case first < utf8.RuneSelf:
		to[0] = lower[first]
		return 1, 1
	case first >= 0xc2 && first < 0xe0 && len(text) > 1 && text[1]&0xc0 == 0x80:
		if m.short == nil {
			m.short = shortRunes()
		}
		r := m.short[rune(first&0x1f)<<6|rune(text[1]&0x3f)]
		return 2, utf8.EncodeRune(to, rune(r))
	}
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size == 1 {
		to[0] = first
		return 1, 1
	}
	return size, utf8.EncodeRune(to, Fold(r))
}

// Fold lower-cases one character.
func Fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(lower[byte(r)])
	case firstIdeograph <= r && r <= lastIdeograph:
		return r
	}
	return unicode.ToLower(r)
}

// Scripts without upper case between these, which whole notes are written in.
const (
	firstIdeograph = 0x2e80
	lastIdeograph  = 0xa4cf
)

// lower is a table of ASCII in lower case; other bytes are unchanged.
var lower = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// shortRune is the first character that takes more than two bytes.
const shortRune = 0x800

// shortRunes returns the lower case of the characters below shortRune: those of most alphabets.
var shortRunes = sync.OnceValue(func() *[shortRune]uint16 {
	var table [shortRune]uint16
	for r := range table {
		table[r] = uint16(Fold(rune(r)))
	}
	return &table
})
