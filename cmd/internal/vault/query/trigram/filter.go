// Package trigram makes small filters of texts: a filter tells of a word whether it may
// be in the text, without the text.
//
// A filter is a set of bits, one for each sequence of three bytes in the text when it is
// lower-cased. A bit may stand for several sequences, so that a filter sometimes says
// "perhaps" of a word that is not there. It never says "no" of one that is.
package trigram

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// Filter is the filter of one text. The zero Filter is that of a text of which nothing is
// known: any word may be in it. It is as long as its text has different trigrams: a
// quarter to a half of the bits are set.
type Filter string

const (
	size     = 3 // bytes of a trigram
	wordSize = 8 // bytes of a word of bits

	// words is how long a filter is before it is made as short as its text allows. It
	// fits into the fastest cache of a processor.
	wordBits = 9
	words    = 1 << wordBits
)

var makers = sync.Pool{New: func() any { return new(maker) }}

// Of returns the filter of a text.
func Of(text []byte) Filter {
	m := makers.Get().(*maker)
	defer makers.Put(m)
	m.collect(text)
	return m.shrink()
}

// maker makes filters. The zero maker is ready for use, by one goroutine at a time.
type maker struct {
	set [words]uint64 // clear between two texts
	out [words * wordSize]byte
	buf [size - 1 + maxChunk]byte

	short *[shortRune]uint16 // nil before the first character that is no ASCII
}

// hash spreads a trigram, of which the first byte is the lowest, over a number. Its
// highest bits say in which word of a filter the trigram has its bit, as many of them as
// the filter asks for; those from bitAt on say which bit that is.
func hash(trigram uint64) uint64 { return trigram & 0xffffff * 0x9e3779b97f4a7c15 }

const bitAt = 64 - wordBits - 6

// add sets the bit of the trigram in the lower three bytes.
func (m *maker) add(trigram uint64) {
	h := hash(trigram)
	m.set[h>>(64-wordBits)] |= 1 << (h >> bitAt & 63)
}

// shrink returns the bits that are set, and clears them. Words are laid over one another
// as long as not more than half of their bits are set. A text with too many, which is one
// of many hundred kilobytes, has no filter: it would hardly ever say "no".
func (m *maker) shrink() Filter {
	count, length := 0, len(m.set)
	for _, word := range m.set {
		count += bits.OnesCount64(word)
	}
	if count > enough(length) {
		clear(m.set[:])
		return ""
	}
	for length > 1 && count <= enough(length/2) {
		length /= 2
		for i := range length {
			m.set[i] = m.set[2*i] | m.set[2*i+1]
		}
	}
	for i, word := range m.set[:length] {
		binary.LittleEndian.PutUint64(m.out[i*wordSize:], word)
	}
	clear(m.set[:])
	return Filter(m.out[:length*wordSize])
}

// enough is how many trigrams so many words have room for, some of which meet.
func enough(words int) int { return words * 64 * 7 / 10 }

// Word is what a text has to have for a word to be in it.
type Word []uint64

// WordOf returns what a text has to have for a word to be in it. The word is lower-cased
// by [Fold]. One of less than three bytes asks for nothing.
func WordOf(folded []byte) Word {
	var w Word
	for at := 0; at+size <= len(folded); at++ {
		w = append(w, hash(uint64(folded[at])|uint64(folded[at+1])<<8|uint64(folded[at+2])<<16))
	}
	return w
}

// MayHold reports whether the word may be in the text. If not, no place in the text is
// the word when both are lower-cased.
func (f Filter) MayHold(w Word) bool {
	if f == "" {
		return true
	}
	shift := 64 - bits.TrailingZeros(uint(len(f)/wordSize))
	for _, h := range w {
		bit := h >> bitAt & 63
		if f[h>>shift*wordSize+bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// Read returns the filter that was kept as bytes; the zero Filter if they can be none.
func Read(kept []byte) Filter {
	if n := len(kept); n < wordSize || n > words*wordSize || n&(n-1) != 0 {
		return ""
	}
	return Filter(kept)
}
