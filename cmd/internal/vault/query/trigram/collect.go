package trigram

import (
	"encoding/binary"
	"unicode/utf8"
)

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
	atOnce    = 8 // trigrams

	// chunk is how much of a text is lower-cased at a time. A character in lower case
	// takes at most half as much again as it took.
	chunk    = 4 << 10
	maxChunk = chunk + chunk/2 + wordSize
)

// look notes every trigram of a text in lower case.
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

// chunkSize returns how much of a text is a chunk that cuts no character.
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

// fold writes a text in lower case, and returns how long it is then: a word at a time
// where there is nothing but ASCII.
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

// foldWords writes the words that a text begins with in lower case, up to the first that is
// not all ASCII, and returns how long they are.
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

// foldRune writes the first character of a text in lower case, and returns its length
// before and after. A byte that is no character stays.
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
