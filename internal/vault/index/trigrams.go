package index

// [TrigramsOf] computes small filters of texts, similar to Bloom filters, which report whether a text may
// contain a word.
//
// A filter is a bitmap of the hashed trigrams (sequences of three bytes) of the lower-cased text. Several
// trigrams may share a bit, so there are false positives but no false negatives.

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Trigrams is the filter of a text. The zero value rules out no word. The length depends on the number of
// different trigrams: a quarter to a half of the bits are set.
type Trigrams string

const (
	size     = 3 // bytes of a trigram
	wordSize = 8 // bytes of a word of bits

	// maxBits and minBits are the binary logarithms of the number of bits in the longest and the
	// shortest filter.
	maxBits = 15
	minBits = 6

	// fewTrigrams is the length in bytes up to which a text is assumed not to repeat trigrams.
	fewTrigrams = 512
)

var makers = sync.Pool{New: func() any { return new(maker) }}

// TrigramsOf returns the filter of a text. It is "" for a very large text, whose filter would be too full.
func TrigramsOf(text []byte) Trigrams {
	m := makers.Get().(*maker)
	defer makers.Put(m)
	m.begin(min(len(text), fewTrigrams+len(text)/4)) // long texts have most trigrams several times
	if !m.collect(text) {
		m.begin(len(text))
		m.collect(text)
	}
	set := m.set[:len(m.seen)/64]
	if countBits(set) > capacity(len(m.seen)) {
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
	return Trigrams(m.out[:len(set)*wordSize])
}

// maker computes filters. The zero maker is ready for use. It is not safe for concurrent use.
type maker struct {
	seen []byte // 1 for each bit that is set, because bytes are faster to write than bits
	drop int    // number of low bits of a hash that are not part of its place in seen

	all [1 << maxBits]byte // all zero between two texts
	set [1 << maxBits / 64]uint64
	out [1 << maxBits / 8]byte
	buf [size - 1 + maxChunk]byte

	short *[shortRune]uint16 // nil before the first character outside ASCII
}

// begin prepares seen for a number of trigrams.
func (m *maker) begin(trigrams int) {
	places := minBits
	for places < maxBits && trigrams > capacity(1<<places) {
		places++
	}
	m.seen = m.all[:1<<places]
	m.drop = 32 - places
}

// hash spreads a trigram, whose first byte is the lowest, over 32 bits. The highest bits are its place in a
// filter. The highest byte of the argument is ignored.
func hash(trigram uint32) uint32 { return trigram * (0x9e3779 << 8) }

// trigram returns the first three bytes as an argument for hash.
func trigram(text []byte) uint32 {
	return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16
}

// gather is a factor that collects the lowest bits of eight bytes, whose other bits are 0, in the highest
// byte of the product.
const gather = 0x0102040810204080

// collect computes the filter of a text in set. It reports whether the filter is long enough: at most about
// half of its bits are set, or it has the maximum length.
func (m *maker) collect(text []byte) bool {
	have := 0 // bytes in buf from the chunk before
	for len(text) > 0 {
		part := text
		if len(text) > chunk {
			end := chunk
			for end > chunk-utf8.UTFMax && !utf8.RuneStart(text[end]) {
				end-- // a chunk does not split a character
			}
			part = text[:end]
		}
		text = text[len(part):]
		have += m.foldChunk(m.buf[have:], part)
		m.mark(m.buf[:have])
		overlap := min(have, size-1)
		copy(m.buf[:], m.buf[have-overlap:have])
		have = overlap
	}
	for i := range len(m.seen) / 64 {
		eights := m.seen[i*64 : i*64+64]
		var word uint64
		for n := 0; n < 64; n += 8 {
			word |= binary.LittleEndian.Uint64(eights[n:]) * gather >> 56 << n
		}
		m.set[i] = word
	}
	clear(m.seen)
	return len(m.seen) == len(m.all) || countBits(m.set[:len(m.seen)/64]) <= len(m.seen)/2
}

// foldChunk lower-cases a chunk, eight bytes at a time as long as it is ASCII, and returns the length of the result.
func (m *maker) foldChunk(to, chunk []byte) (length int) {
	for at := 0; at < len(chunk); {
		n := foldWords(to[length:], chunk[at:])
		at += n
		length += n
		// One of the next bytes is not ASCII, or the end of the chunk is near.
		for near := min(at+wordSize, len(chunk)); at < near; {
			if b := chunk[at]; b < utf8.RuneSelf {
				to[length] = lower[b]
				at++
				length++
				continue
			}
			size, folded := m.foldRune(to[length:], chunk[at:])
			at += size
			length += folded
		}
	}
	return length
}

// mark sets the bytes of seen for the trigrams of a lower-cased text.
func (m *maker) mark(folded []byte) {
	seen := m.seen
	drop := m.drop
	for ; len(folded) >= unrolled+size; folded = folded[unrolled:] {
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

// countBits counts the bits that are set.
func countBits(set []uint64) (n int) {
	for _, word := range set {
		n += bits.OnesCount64(word)
	}
	return n
}

// countHalved counts the bits that will be set after halving.
func countHalved(set []uint64) (n int) {
	for _, word := range set {
		n += bits.OnesCount64((word | word>>1) & 0x5555555555555555)
	}
	return n
}

// halved merges each pair of neighbouring bits and returns the 32 results.
func halved(word uint64) uint64 {
	word = (word | word>>1) & 0x5555555555555555
	word = (word | word>>1) & 0x3333333333333333
	word = (word | word>>2) & 0x0f0f0f0f0f0f0f0f
	word = (word | word>>4) & 0x00ff00ff00ff00ff
	word = (word | word>>8) & 0x0000ffff0000ffff
	return (word | word>>16) & 0xffffffff
}

// capacity returns how many trigrams, with collisions, set about half of a number of bits.
func capacity(bits int) int { return bits * 7 / 10 }

// WordTrigrams are the hashed trigrams of a word.
type WordTrigrams []uint32

// TrigramsOfWord returns the trigrams of a word that has been lower-cased by [FoldRune]. Words of fewer than three
// bytes have none, so that no text rules them out.
func TrigramsOfWord(folded []byte) WordTrigrams {
	var w WordTrigrams
	for at := 0; at+size <= len(folded); at++ {
		w = append(w, hash(trigram(folded[at:])))
	}
	return w
}

// MayHold reports whether the text may contain the word, ignoring case. If it returns false, the text does not
// contain the word.
func (f Trigrams) MayHold(w WordTrigrams) bool {
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

// ReadTrigrams returns a filter from its bytes, or the zero value if their number is invalid.
func ReadTrigrams(encoded []byte) Trigrams {
	if n := len(encoded); n < wordSize || n > 1<<maxBits/8 || n&(n-1) != 0 {
		return ""
	}
	return Trigrams(encoded)
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
	unrolled  = 8 // trigrams per pass of the unrolled loop

	// chunk is how many bytes are lower-cased at a time. The result is at most half as long again.
	chunk    = 4 << 10
	maxChunk = chunk + chunk/2 + wordSize
)

// foldWords lower-cases words of eight bytes up to the first that is not ASCII, and returns how many bytes
// it has lower-cased.
func foldWords(to, text []byte) (length int) {
	for ; length <= len(text)-wordSize && length <= len(to)-wordSize; length += wordSize {
		word := binary.LittleEndian.Uint64(text[length:])
		if word&highBits != 0 {
			break
		}
		fromA := word + (0x80-'A')*everyByte
		behindZ := word + (0x80-'Z'-1)*everyByte
		binary.LittleEndian.PutUint64(to[length:], word|(fromA^behindZ)&highBits>>2)
	}
	return length
}

// foldRune lower-cases the first character of text, which is not ASCII, and returns its length in bytes
// before and after. An invalid byte is copied.
func (m *maker) foldRune(to, text []byte) (size, folded int) {
	first := text[0]
	isTwoBytes := first >= 0xc2 && first < 0xe0
	if isTwoBytes && len(text) > 1 && text[1]&0xc0 == 0x80 {
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
	return size, utf8.EncodeRune(to, FoldRune(r))
}

// FoldRune lower-cases one character.
func FoldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(lower[byte(r)])
	case firstIdeograph <= r && r <= lastIdeograph:
		return r
	}
	return unicode.ToLower(r)
}

// Between these characters are scripts without upper case, among them Chinese, Japanese and Korean. Skipping
// the lookup of their case makes whole notes faster.
const (
	firstIdeograph = 0x2e80
	lastIdeograph  = 0xa4cf
)

// lower maps ASCII letters to lower case, and other bytes to themselves.
var lower = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// shortRune is the first character that needs more than two bytes in UTF-8.
const shortRune = 0x800

// shortRunes maps the characters below shortRune, which are those of most alphabets, to lower case.
var shortRunes = sync.OnceValue(func() *[shortRune]uint16 {
	var table [shortRune]uint16
	for r := range table {
		table[r] = uint16(FoldRune(rune(r)))
	}
	return &table
})
