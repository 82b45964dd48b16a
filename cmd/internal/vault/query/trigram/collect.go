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

// foldWords lower-cases words of eight bytes up to the first that is not ASCII, and returns
// their length.
func foldWords(to, text []byte) (length int) {
	for ; length <= len(text)-wordSize && length <= len(to)-wordSize; length += wordSize {
		word := binary.LittleEndian.Uint64(text[length:])
		if word&highBits != 0 {
			break
		}
		fromA, behindZ := word+(0x80-'A')*everyByte, word+(0x80-'Z'-1)*everyByte
		binary.LittleEndian.PutUint64(to[length:], word|(fromA^behindZ)&highBits>>2)
	}
	return length
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
