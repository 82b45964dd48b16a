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

	// maxBits is the length of the longest filter in bits, as a power of two, and minBits
	// that of the shortest.
	maxBits = 15
	minBits = 6

	// fewTrigrams is of how many no text has enough to have them several times.
	fewTrigrams = 512
)

var makers = sync.Pool{New: func() any { return new(maker) }}

// Of returns the filter of a text.
func Of(text []byte) Filter {
	m := makers.Get().(*maker)
	defer makers.Put(m)
	m.begin(min(len(text), fewTrigrams+len(text)/4)) // long texts have most trigrams several times
	if !m.collect(text) {
		m.begin(len(text))
		m.collect(text)
	}
	return m.shrink()
}

// maker makes filters. The zero maker is ready for use, by one goroutine at a time.
type maker struct {
	seen []byte // 1 for each bit that is set: bytes are faster to write than bits
	drop int    // how many bits of a hash are not its place in seen

	all [1 << maxBits]byte // clear between two texts
	set [1 << maxBits / 64]uint64
	out [1 << maxBits / 8]byte
	buf [size - 1 + maxChunk]byte

	short *[shortRune]uint16 // nil before the first character that is no ASCII
}

// begin makes room for so many trigrams.
func (m *maker) begin(trigrams int) {
	places := minBits
	for places < maxBits && trigrams > enough(1<<places) {
		places++
	}
	m.seen, m.drop = m.all[:1<<places], 32-places
}

// hash spreads a trigram, of which the first byte is the lowest, over a number. Its
// highest bits are the place of the trigram's bit in a filter, as many of them as the
// filter has room for. A fourth byte makes no difference.
func hash(trigram uint32) uint32 { return trigram * (0x9e3779 << 8) }

// trigram returns the first three bytes as hash takes them.
func trigram(text []byte) uint32 {
	return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16
}

// gather brings the lowest bits of eight bytes, of which the others are 0, together in the
// highest byte of the product.
const gather = 0x0102040810204080

// pack makes bits of what was seen, and clears that.
func (m *maker) pack() {
	for i := range len(m.seen) / 64 {
		eights := m.seen[i*64 : i*64+64]
		var word uint64
		for n := 0; n < 64; n += 8 {
			word |= binary.LittleEndian.Uint64(eights[n:]) * gather >> 56 << n
		}
		m.set[i] = word
	}
	clear(m.seen)
}

// collect finds the trigrams of a text, and reports whether not more than about half of the
// bits are set, or there is no room for more.
func (m *maker) collect(text []byte) bool {
	m.look(text)
	m.pack()
	return len(m.seen) == len(m.all) || count(m.bits()) <= len(m.seen)/2
}

// bits returns the words of bits.
func (m *maker) bits() []uint64 { return m.set[:len(m.seen)/64] }

func count(set []uint64) (n int) {
	for _, word := range set {
		n += bits.OnesCount64(word)
	}
	return n
}

// shrink returns the bits that are set. Each second one is laid over the one before it as
// long as not more than half of them are set then. A text with too many, which is one of
// many hundred kilobytes, has no filter: it would hardly ever say "no".
func (m *maker) shrink() Filter {
	set := m.bits()
	if count(set) > enough(len(m.seen)) {
		return ""
	}
	for len(set) > 1 && countHalved(set) <= len(set)*16 {
		for i := range len(set) / 2 {
			set[i] = halved(set[2*i]) | halved(set[2*i+1])<<32
		}
		set = set[:len(set)/2]
	}
	for i, word := range set {
		binary.LittleEndian.PutUint64(m.out[i*wordSize:], word)
	}
	return Filter(m.out[:len(set)*wordSize])
}

// countHalved counts the bits that are set once the others are laid over them.
func countHalved(set []uint64) (n int) {
	for _, word := range set {
		n += bits.OnesCount64((word | word>>1) & 0x5555555555555555)
	}
	return n
}

// halved lays each second bit over the one before it, and puts the 32 that this makes
// together.
func halved(word uint64) uint64 {
	word = (word | word>>1) & 0x5555555555555555
	word = (word | word>>1) & 0x3333333333333333
	word = (word | word>>2) & 0x0f0f0f0f0f0f0f0f
	word = (word | word>>4) & 0x00ff00ff00ff00ff
	word = (word | word>>8) & 0x0000ffff0000ffff
	return (word | word>>16) & 0xffffffff
}

// enough is how many trigrams so many bits have room for, some of which meet.
func enough(bits int) int { return bits * 7 / 10 }

// Word is what a text has to have for a word to be in it.
type Word []uint32

// WordOf returns what a text has to have for a word to be in it. The word is lower-cased
// by [Fold]. One of less than three bytes asks for nothing.
func WordOf(folded []byte) Word {
	var w Word
	for at := 0; at+size <= len(folded); at++ {
		w = append(w, hash(trigram(folded[at:])))
	}
	return w
}

// MayHold reports whether the word may be in the text. If not, no place in the text is
// the word when both are lower-cased.
func (f Filter) MayHold(w Word) bool {
	if f == "" {
		return true
	}
	drop := 32 - bits.TrailingZeros(uint(len(f)*8))
	for _, h := range w {
		place := h >> drop
		if f[place/8]&(1<<(place%8)) == 0 {
			return false
		}
	}
	return true
}

// Read returns the filter that was kept as bytes; the zero Filter if they can be none.
func Read(kept []byte) Filter {
	if n := len(kept); n < wordSize || n > 1<<maxBits/8 || n&(n-1) != 0 {
		return ""
	}
	return Filter(kept)
}
