package search

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// needle is a text to search for, case-sensitive or not.
//
// Most notes are ASCII and do not contain the text, so this case is fast: two rare bytes of the needle
// are compared with eight bytes of the note at a time, and the whole needle only where both match.
type needle struct {
	text  []byte // folded unless exact
	exact bool
	grams index.WordTrigrams

	pair    pair // for ASCII needles
	isASCII bool
	hasK    bool     // KELVIN SIGN also folds to k
	hasI    bool     // İ also folds to i
	runes   []rune   // for all other needles
	anchor  int      // index in runes of the rarest one, which is searched first
	anchors [][]byte // the encodings of every case of the anchor
}

// verdict is what a callback wants after a match.
type verdict uint8

const (
	skip verdict = iota // reject the match and continue at the next byte
	take                // accept the match and continue after it
	stop                // end the search
)

// letterCase says whether upper and lower case differ.
type letterCase bool

const (
	ignoreCase letterCase = false
	matchCase  letterCase = true
)

func newNeedle(text string, letters letterCase) *needle {
	if letters == matchCase {
		return &needle{text: []byte(text), exact: true, grams: index.TrigramsOfWord(foldString(text))}
	}
	n := &needle{isASCII: true}
	for _, r := range text {
		n.runes = append(n.runes, index.FoldRune(r))
		n.isASCII = n.isASCII && index.FoldRune(r) < utf8.RuneSelf
	}
	n.text = []byte(string(n.runes))
	n.grams = index.TrigramsOfWord(n.text)
	n.hasK = strings.ContainsRune(string(n.runes), 'k')
	n.hasI = strings.ContainsRune(string(n.runes), 'i')
	if len(n.runes) == 0 {
		return n
	}
	n.anchor = slices.Index(n.runes, slices.MaxFunc(n.runes, func(a, b rune) int { return rarity(a) - rarity(b) }))
	for _, r := range variants(n.runes[n.anchor]) {
		n.anchors = append(n.anchors, []byte(string(r)))
	}
	if n.isASCII {
		best := n.anchor
		second := len(n.text) - 1
		for i, r := range n.runes {
			if i != best && (second == best || rarity(r) > rarity(n.runes[second])) {
				second = i
			}
		}
		n.pair = pair{
			first: n.text[best], second: n.text[second], atFirst: best, atSecond: second,
			caseFirst: caseBit(n.text[best]), caseSecond: caseBit(n.text[second]),
		}
	}
	return n
}

// each calls try for every occurrence in text, from left to right, until it returns stop.
func (n *needle) each(text []byte, try func(start, end int) verdict) {
	switch {
	case len(n.text) == 0:
		try(0, 0)
	case n.exact:
		eachExact(text, n.text, try)
	case n.isASCII && !n.hasFoldingRune(text):
		n.eachASCII(text, try)
	default:
		n.eachRune(text, try)
	}
}

// hasFoldingRune reports whether text contains a character outside ASCII that folds to a letter of the needle, so that
// eachASCII could miss a match.
func (n *needle) hasFoldingRune(text []byte) bool {
	if n.hasK && bytes.Contains(text, []byte(kelvin)) {
		return true
	}
	return n.hasI && bytes.Contains(text, []byte(dottedI))
}

func eachExact(text, wanted []byte, try func(start, end int) verdict) {
	for from := 0; ; {
		i := bytes.Index(text[from:], wanted)
		if i < 0 {
			return
		}
		start := from + i
		switch try(start, start+len(wanted)) {
		case stop:
			return
		case take:
			from = start + len(wanted)
		default:
			from = start + 1
		}
	}
}

// patience is how many bytes may be compared in vain, per byte of text, before a search falls
// back to eachFolded. It prevents quadratic time on repetitive texts.
const patience = 8

func (n *needle) eachASCII(text []byte, try func(start, end int) verdict) {
	size := len(n.text)
	from := 0
	remaining := patience * (len(text) + size)
	n.pair.each(text, size, func(start int) bool {
		if start < from {
			return true
		}
		matched := commonFolded(text[start:], n.text)
		if matched < size {
			remaining -= matched
			return remaining >= 0
		}
		switch try(start, start+size) {
		case stop:
			return false
		case take:
			from = start + size
		default:
			from = start + 1
		}
		return true
	})
	if remaining < 0 {
		n.eachFolded(text, from, try)
	}
}

// commonFolded returns the length in bytes of the common prefix of wanted and text with ASCII letters folded.
func commonFolded(text, wanted []byte) int {
	for i, c := range wanted {
		if foldByte(text[i]) != c {
			return i
		}
	}
	return len(wanted)
}

// eachFolded folds the text from an offset on and searches the result, in linear time. Invalid bytes are copied.
func (n *needle) eachFolded(text []byte, from int, try func(start, end int) verdict) {
	folded := make([]byte, 0, len(text)-from+utf8.UTFMax)
	origin := make([]int, 0, len(text)-from+utf8.UTFMax) // offset in text of each folded byte and of the end
	for at := from; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			folded = append(folded, text[at])
		} else {
			folded = utf8.AppendRune(folded, index.FoldRune(r))
		}
		for len(origin) < len(folded) {
			origin = append(origin, at)
		}
		at += size
	}
	origin = append(origin, len(text))
	eachExact(folded, n.text, func(start, end int) verdict { return try(origin[start], origin[end]) })
}

// eachRune searches for the anchor in every case and compares the runes around it.
func (n *needle) eachRune(text []byte, try func(start, end int) verdict) {
	var buf [4]int
	next := buf[:0]
	for _, a := range n.anchors {
		next = append(next, indexFrom(text, a, 0))
	}
	remaining := patience * (len(text) + len(n.text))
	for from := 0; ; {
		i := 0
		for j, at := range next {
			if at < next[i] {
				i = j
			}
		}
		at := next[i]
		if at == len(text) {
			return
		}
		next[i] = indexFrom(text, n.anchors[i], at+1)
		start, end, ok := n.around(text, at, &remaining)
		if remaining < 0 {
			n.eachFolded(text, from, try)
			return
		}
		if !ok || start < from {
			continue
		}
		switch try(start, end) {
		case stop:
			return
		case take:
			from = end
		default:
			from = start + 1
		}
	}
}

// indexFrom returns the first offset of wanted at or after from, or the length of the text if there is none.
func indexFrom(text, wanted []byte, from int) int {
	if i := bytes.Index(text[from:], wanted); i >= 0 {
		return from + i
	}
	return len(text)
}

// around compares the needle with the text around an occurrence of its anchor. It subtracts the number of compared
// runes from remaining.
func (n *needle) around(text []byte, anchor int, remaining *int) (start, end int, ok bool) {
	start = anchor
	end = anchor
	for i := n.anchor - 1; i >= 0; i-- {
		r, size := utf8.DecodeLastRune(text[:start])
		if !sameRune(r, size, n.runes[i]) {
			return 0, 0, false
		}
		start -= size
		*remaining--
	}
	for _, wanted := range n.runes[n.anchor:] {
		r, size := utf8.DecodeRune(text[end:])
		if !sameRune(r, size, wanted) {
			return 0, 0, false
		}
		end += size
		*remaining--
	}
	return start, end, true
}

// sameRune reports whether a decoded rune folds to wanted. An invalid byte does not.
func sameRune(r rune, size int, wanted rune) bool {
	return index.FoldRune(r) == wanted && (r != utf8.RuneError || size > 1)
}

// pair is two bytes of an ASCII needle and their offsets in it.
type pair struct {
	first, second         byte
	atFirst, atSecond     int
	caseFirst, caseSecond byte // 0x20 for letters, which then match in both cases
}

// common lists the characters of ordinary text, most frequent first.
const common = " etaoinsrhldcumfpgwybv\nk,.-01x'jqz"

// rarity ranks a folded character: the higher, the rarer it is in ordinary text.
func rarity(r rune) int {
	switch i := strings.IndexRune(common, r); {
	case i >= 0:
		return i
	case r < utf8.RuneSelf:
		return len(common)
	}
	return len(common) + 1
}

// caseBit returns the bit in which the upper and lower case of c differ, 0 if c is not a letter.
func caseBit(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return 'a' - 'A'
	}
	return 0
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
	word      = 8
)

// each calls try for every offset at which a needle of the given size may begin, until try returns false.
// There are false positives but no false negatives.
func (p pair) each(text []byte, size int, try func(start int) bool) {
	starts := len(text) - size + 1
	if starts <= 0 {
		return
	}
	// Both slices are shifted by the offset of their byte in the needle, so that one index serves both.
	first := text[p.atFirst : p.atFirst+starts]
	second := text[p.atSecond : p.atSecond+starts]
	wantFirst := everyByte * uint64(p.first)
	wantSecond := everyByte * uint64(p.second)
	caseMaskFirst := everyByte * uint64(p.caseFirst)
	caseMaskSecond := everyByte * uint64(p.caseSecond)
	i := 0
	for ; i+word <= len(first) && i+word <= len(second); i += word {
		// A byte of differs is zero if both bytes of the pair match there.
		differs := (binary.LittleEndian.Uint64(first[i:i+word]) | caseMaskFirst) ^ wantFirst |
			(binary.LittleEndian.Uint64(second[i:i+word]) | caseMaskSecond) ^ wantSecond
		for hits := (differs - everyByte) &^ differs & highBits; hits != 0; hits &= hits - 1 {
			if !try(i + bits.TrailingZeros64(hits)/word) {
				return
			}
		}
	}
	for ; i < starts; i++ {
		if first[i]|p.caseFirst == p.first && second[i]|p.caseSecond == p.second && !try(i) {
			return
		}
	}
}

func foldByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

const (
	dottedI = "İ" // lower-cases to i, but is not in the orbit of unicode.SimpleFold
	kelvin  = "\u212a"
)

// variants returns all characters that fold to the same character as r.
func variants(r rune) []rune {
	runes := []rune{index.FoldRune(r)}
	for v := unicode.SimpleFold(runes[0]); v != runes[0]; v = unicode.SimpleFold(v) {
		if index.FoldRune(v) == runes[0] {
			runes = append(runes, v)
		}
	}
	if runes[0] == 'i' {
		runes = append(runes, []rune(dottedI)...)
	}
	return runes
}

func foldString(text string) []byte { return []byte(strings.Map(index.FoldRune, text)) }
