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
	"unicode/utf8"
)

// Filter is the filter of one text. The zero Filter is that of a text of which nothing is
// known: any word may be in it. It is as long as its text has different trigrams: a
// quarter to a half of the bits are set.
type Filter string

const (
	size     = 3 // bytes of a trigram
	wordSize = 8 // bytes of a word of bits

	// places is how many bits there are before a filter is made as small as its text
	// allows. They fit into the fastest cache of a processor.
	placeBits = 16
	places    = 1 << placeBits
	words     = places / 64
)

var makers = sync.Pool{New: func() any { return new(maker) }}

// Of returns the filter of a text.
func Of(text []byte) Filter {
	m := makers.Get().(*maker)
	defer makers.Put(m)
	return m.of(text)
}

// maker makes filters. The zero maker is ready for use, by one goroutine at a time.
type maker struct {
	set [words]uint64 // clear between two texts
	out [places / 8]byte
}

func (m *maker) of(text []byte) Filter {
	m.collect(text)
	count := 0
	for _, word := range m.set {
		count += bits.OnesCount64(word)
	}
	length := lengthFor(count)
	if length == 0 {
		clear(m.set[:])
		return ""
	}
	m.shrink(length)
	for i, word := range m.set[:length] {
		binary.LittleEndian.PutUint64(m.out[i*wordSize:], word)
		m.set[i] = 0
	}
	return Filter(m.out[:length*wordSize])
}

// lengthFor returns how many words the filter of a text has with so many places: at least
// so many that half of the bits are set. A text with too many, which is one of many
// hundred kilobytes, has no filter: it would hardly ever say "no".
func lengthFor(count int) int {
	for length := 1; length <= words; length *= 2 {
		if count <= length*64*7/10 { // of which some will meet
			return length
		}
	}
	return 0
}

// shrink lays the places that are set one over the other, in so many words, and clears
// the rest.
func (m *maker) shrink(length int) {
	for half := words / 2; half >= length; half /= 2 {
		low, high := m.set[:half], m.set[half:2*half]
		for i, word := range high {
			low[i] |= word
		}
		clear(high)
	}
}

// place is where a trigram has its bit: the trigram is in the upper three bytes.
func place(trigram uint32) uint32 { return trigram * 0x9e3779b1 >> (32 - placeBits) }

// collect sets the place of every trigram.
func (m *maker) collect(text []byte) {
	var last uint32
	have := 0
	for at := 0; at < len(text); {
		if have >= size-1 {
			for ; at < len(text) && text[at] < utf8.RuneSelf; at++ {
				last = last<<8 | uint32(lower[text[at]])
				m.add(last)
			}
		}
		var folded [utf8.UTFMax]byte
		width, n := foldAt(text[at:], &folded)
		at += width
		for _, c := range folded[:n] {
			last = last<<8 | uint32(c)
			if have++; have >= size {
				m.add(last)
			}
		}
	}
}

// add sets the place of the trigram in the lower three bytes.
func (m *maker) add(last uint32) {
	p := place(last << 8)
	m.set[(p>>6)%words] |= 1 << (p & 63)
}

// foldAt writes the first character of a text lower-cased, and returns its length there
// and as it is written. A byte that is no character stays.
func foldAt(text []byte, to *[utf8.UTFMax]byte) (width, n int) {
	if len(text) == 0 {
		return 0, 0
	}
	r, width := utf8.DecodeRune(text)
	if r == utf8.RuneError && width == 1 {
		to[0] = text[0]
		return 1, 1
	}
	return width, utf8.EncodeRune(to[:], Fold(r))
}

// Word is what a text has to have for a word to be in it.
type Word []uint32

// WordOf returns what a text has to have for a word to be in it. The word is lower-cased
// by [Fold]. One of less than three bytes asks for nothing.
func WordOf(folded []byte) Word {
	var w Word
	for at := 0; at+size <= len(folded); at++ {
		w = append(w, place(uint32(folded[at])<<24|uint32(folded[at+1])<<16|uint32(folded[at+2])<<8))
	}
	return w
}

// MayHold reports whether the word may be in the text. If not, no place in the text is
// the word when both are lower-cased.
func (f Filter) MayHold(w Word) bool {
	if f == "" {
		return true
	}
	for _, place := range w {
		at := place & uint32(len(f)*8-1)
		if f[at>>3]&(1<<(at&7)) == 0 {
			return false
		}
	}
	return true
}

// Read returns the filter that was kept as bytes; the zero Filter if they can be none.
func Read(kept []byte) Filter {
	if n := len(kept); n < wordSize || n > places/8 || n&(n-1) != 0 {
		return ""
	}
	return Filter(kept)
}
