package guard

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
)

// keywords finds the keywords of rules in a text, in order, in a time that hardly depends on their
// number. A filter decides from every second window of four bytes whether a keyword can begin there or
// at a byte next to it. It rules out nearly all of a text; the keywords are compared only with the rest.
// The case of ASCII letters is ignored.
type keywords struct {
	// filter has a bit for the hash of each window that a text with a keyword may have.
	filter [1 << (32 - filterShift) / 64]uint64
	// second is a filter with another hash, for the windows that pass the first one: few of them belong to
	// a keyword, and comparing the keywords costs more.
	second [1 << (32 - secondShift) / 64]uint64
	// words are the keywords of three bytes and more, ordered by the hash of their first three bytes:
	// those with the hash h begin at first[h].
	words []keyword
	first [1<<(32-wordShift) + 1]uint16
	short []keyword // the keywords of one or two bytes; the case of their letters counts
	// onlyAtWordStart limits keywords that begin with a letter to the start of a word.
	onlyAtWordStart bool
}

type keyword struct {
	text  string // in lower case, unless it is short
	rules []*rule
	// prefix has its first bytes, up to eight, folded; prefixMask has the bits of these bytes. Many keywords begin
	// with the same three bytes.
	prefix, prefixMask uint64
	// isWhole is set if no letter, digit or _ may precede the keyword in any of its rules.
	isWhole bool
}

// foldedBegins is [folded] for eight bytes.
const foldedBegins = folded<<32 | folded

func newKeyword(text string, rules []*rule) keyword {
	k := keyword{text: text, rules: rules, isWhole: true}
	for _, r := range rules {
		k.isWhole = k.isWhole && r.boundary
	}
	for i := range min(len(text), 8) {
		k.prefix |= uint64(text[i]|0x20) << (8 * i)
		k.prefixMask |= 0xff << (8 * i)
	}
	return k
}

// mayBegin reports whether a text may begin with the keyword, judging by its first eight bytes, folded.
func (k *keyword) mayBegin(folded uint64) bool { return folded&k.prefixMask == k.prefix }

// The hashes of windows have 17 bits, for a filter of 16 KiB in which about one bit in 16 is set. The second hashes have
// 16 bits, and those of words 12 bits.
const (
	filterShift = 32 - 17
	secondShift = 32 - 16
	wordShift   = 32 - 12
)

// folded is or-ed to a window: it makes letters lower case, and some other bytes equal.
const folded = 0x20202020

func hash(window uint32) uint32 { return window * 0x9e3779b1 }

func secondHash(window uint32) uint32 { return window * 0x85ebca6b >> secondShift }

// hashOfWord returns the hash of the first three bytes of a text.
func hashOfWord[T string | []byte](text T) uint32 {
	return hash((uint32(text[0])|uint32(text[1])<<8|uint32(text[2])<<16)|folded) >> wordShift
}

// secretWords is built for the first text that is searched: most processes search none.
var secretWords = sync.OnceValue(func() *keywords { return newKeywords(allRules()) })

func newKeywords(rules []*rule) *keywords {
	k := &keywords{}
	rulesOf := map[string][]*rule{}
	for _, r := range rules {
		for _, word := range r.keywords {
			rulesOf[word] = append(rulesOf[word], r)
		}
	}
	for word, rules := range rulesOf {
		if len(word) < 3 {
			k.short = append(k.short, newKeyword(word, rules))
			continue
		}
		k.words = append(k.words, newKeyword(word, rules))
		k.first[hashOfWord(word)+1]++
		// A word begins at the first or the second byte of a window. Any byte may be next to a short word.
		window := binary.LittleEndian.Uint32([]byte(word[:3] + (word + "\x00")[3:4]))
		for n := range uint32(128) {
			neighbour := n&31 | n&^31<<1 // all values without the bit that folded sets
			if len(word) == 3 {
				k.add(window | neighbour<<24)
			}
			if len(word) < 5 {
				k.add(window<<8 | neighbour)
			}
		}
		if len(word) > 3 {
			k.add(window)
		}
		if len(word) > 4 {
			k.add(binary.LittleEndian.Uint32([]byte(word[1:])))
		}
	}
	for h := range len(k.first) - 1 {
		k.first[h+1] += k.first[h]
	}
	slices.SortFunc(k.words, func(a, b keyword) int {
		return cmp.Or(cmp.Compare(hashOfWord(a.text), hashOfWord(b.text)), cmp.Compare(a.text, b.text))
	})
	return k
}

func (k *keywords) add(window uint32) {
	h := hash(window|folded) >> filterShift
	k.filter[h/64] |= 1 << (h % 64)
	h = secondHash(window | folded)
	k.second[h/64] |= 1 << (h % 64)
}

// each calls try for each rule of each keyword text[at:end], in the order of the text, until try returns false.
func (k *keywords) each(text []byte, try func(r *rule, at, end int) bool) {
	w := walk{keywords: k, text: text, try: try, places: make([]int, len(k.short))}
	w.next = len(text)
	for i := range k.short {
		w.advance(i, 0)
	}
	// Eight bytes at a time are ruled out at once.
	const stride = 8
	i := 0
	for ; i+stride+2 <= len(text); i += stride {
		rest := text[i : i+stride+2 : i+stride+2]
		windows := binary.LittleEndian.Uint64(rest) | folded<<32 | folded
		last := binary.LittleEndian.Uint32(rest[stride-2:]) | folded
		a := hash(uint32(windows)) >> filterShift
		b := hash(uint32(windows>>16)) >> filterShift
		c := hash(uint32(windows>>32)) >> filterShift
		d := hash(last) >> filterShift
		isA := k.filter[a/64] >> (a % 64)
		isB := k.filter[b/64] >> (b % 64)
		isC := k.filter[c/64] >> (c % 64)
		isD := k.filter[d/64] >> (d % 64)
		if (isA|isB|isC|isD)&1 == 0 {
			continue
		}
		hits := isA&1 | isB&1<<2 | isC&1<<4 | isD&1<<6
		for ; hits != 0; hits &= hits - 1 {
			at := i + bits.TrailingZeros64(hits)
			h := secondHash(binary.LittleEndian.Uint32(text[at:]) | folded)
			if k.second[h/64]>>(h%64)&1 != 0 && !w.lookAt(at-1, at+2) {
				return
			}
		}
	}
	w.lookAt(i-1, len(text))
}

// walk is one search.
type walk struct {
	*keywords
	text   []byte
	try    func(r *rule, at, end int) bool
	done   int   // offset up to which the text was searched
	places []int // the next offset of each short word
	next   int   // the smallest of these offsets
}

// advance finds the next occurrence of a short word from an offset on. It searches for the rarer byte of the word: the
// second one if the first is a letter.
func (w *walk) advance(i, from int) {
	word := w.short[i].text
	isWhole := w.short[i].isWhole
	last := len(word) - 1
	rare := 0
	if isWord(word[0]) {
		rare = last
	}
	place := from
	for ; ; place++ {
		n := bytes.IndexByte(w.text[min(place+rare, len(w.text)):], word[rare])
		if n < 0 || place+n+last >= len(w.text) {
			place = len(w.text)
			break
		}
		place += n
		isThere := w.text[place] == word[0] && w.text[place+last] == word[last]
		isInWord := isWhole && place > 0 && isWordByte[w.text[place-1]]
		if isThere && !isInWord {
			break
		}
	}
	w.places[i] = place
	w.next = slices.Min(w.places)
}

// lookAt compares the words with the text at the offsets up to to; before from there can only be short words. It
// returns whether to continue.
func (w *walk) lookAt(from, to int) bool {
	at := max(w.done, from)
	last := min(to, len(w.text)-2)
	for ; at < last; at++ {
		if w.next <= at && !w.tryShort(at) {
			return false
		}
		h := hashOfWord(w.text[at : at+3])
		begins := w.first[h]
		ends := w.first[h+1]
		if begins == ends {
			continue
		}
		rest := w.text[at:]
		start := startOf(rest)
		for i := begins; i < ends; i++ {
			word := &w.words[i]
			if word.mayBegin(start) && hasPrefixFold(rest, word.text) && !w.tryRules(word, at) {
				return false
			}
		}
	}
	if w.next < to && !w.tryShort(to-1) {
		return false
	}
	w.done = to
	return true
}

// startOf returns the first eight bytes of a text, folded, for [keyword.mayBegin]. It pads a shorter text with zeros.
func startOf(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.LittleEndian.Uint64(text) | foldedBegins
	}
	var padded [8]byte
	copy(padded[:], text)
	return binary.LittleEndian.Uint64(padded[:]) | foldedBegins
}

// tryShort tries the remaining short words up to an offset. It returns whether to continue.
func (w *walk) tryShort(to int) bool {
	for len(w.short) > 0 && w.next <= to {
		i := slices.Index(w.places, w.next)
		place := w.next
		w.advance(i, place+1)
		if !w.tryRules(&w.short[i], place) {
			return false
		}
	}
	return true
}

// tryRules tries the rules of a word, and returns whether to continue.
func (w *walk) tryRules(word *keyword, at int) bool {
	if w.onlyAtWordStart && at > 0 && isWord(w.text[at]) && isWord(w.text[at-1]) {
		return true
	}
	return !slices.ContainsFunc(word.rules, func(r *rule) bool { return !w.try(r, at, at+len(word.text)) })
}

// hasPrefixFold reports whether a text begins with a word, which is in lower case, ignoring the case of ASCII letters.
func hasPrefixFold(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
