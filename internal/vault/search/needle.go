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

// needle is a text to search for, with or without regard to case.
//
// Notes are mostly ASCII and mostly do not contain it, so that case is fast: eight bytes at a
// time are compared with two rare bytes of the needle, and only where both match the whole is
// compared.
type needle struct {
	text  []byte // folded unless exact
	exact bool
	grams index.WordTrigrams

	pair    pair // for ASCII
	ascii   bool
	strayK  bool // contains a k or an i, which have partners outside ASCII
	strayI  bool
	runes   []rune // for everything else
	anchor  int    // the rune that is looked for
	anchors [][]byte
}

// verdict is the answer to a match: what to search next.
type verdict uint8

const (
	skip verdict = iota // continue at the next byte
	take                // continue after the match
	stop
)

// letterCase says whether capital and small letters are the same.
type letterCase bool

const (
	ignoreCase letterCase = false
	matchCase  letterCase = true
)

func newNeedle(text string, letters letterCase) *needle {
	if letters == matchCase {
		return &needle{text: []byte(text), exact: true, grams: index.TrigramsOfWord(foldString(text))}
	}
	n := &needle{ascii: true}
	for _, r := range text {
		n.runes = append(n.runes, index.FoldRune(r))
		n.ascii = n.ascii && index.FoldRune(r) < utf8.RuneSelf
	}
	n.text = []byte(string(n.runes))
	n.grams = index.TrigramsOfWord(n.text)
	n.strayK = strings.ContainsRune(string(n.runes), 'k')
	n.strayI = strings.ContainsRune(string(n.runes), 'i')
	if len(n.runes) == 0 {
		return n
	}
	n.anchor = slices.Index(n.runes, slices.MaxFunc(n.runes, func(a, b rune) int { return rarity(a) - rarity(b) }))
	for _, r := range variants(n.runes[n.anchor]) {
		n.anchors = append(n.anchors, []byte(string(r)))
	}
	if n.ascii {
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
	case n.ascii && !n.mayBeOdd(text):
		n.eachASCII(text, try)
	default:
		n.eachRune(text, try)
	}
}

// mayBeOdd reports whether a text has a character outside of ASCII that is a letter of the needle in another case.
func (n *needle) mayBeOdd(text []byte) bool {
	if n.strayK && bytes.Contains(text, []byte(kelvin)) {
		return true
	}
	return n.strayI && bytes.Contains(text, []byte(dottedI))
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

// patience is how many bytes per byte of text may be compared in vain before a finder falls
// back to eachFolded. It prevents quadratic time on repetitive texts.
const patience = 8

func (n *needle) eachASCII(text []byte, try func(start, end int) verdict) {
	size := len(n.text)
	from := 0
	wasted := patience * (len(text) + size)
	n.pair.each(text, size, func(start int) bool {
		if start < from {
			return true
		}
		same := commonFolded(text[start:], n.text)
		if same < size {
			wasted -= same
			return wasted >= 0
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
	if wasted < 0 {
		n.eachFolded(text, from, try)
	}
}

// commonFolded returns the length of the common prefix of text, folded, and wanted.
func commonFolded(text, wanted []byte) int {
	for i, c := range wanted {
		if foldByte(text[i]) != c {
			return i
		}
	}
	return len(wanted)
}

// eachFolded folds the whole text first. Invalid bytes are copied.
func (n *needle) eachFolded(text []byte, from int, try func(start, end int) verdict) {
	folded := make([]byte, 0, len(text)-from+utf8.UTFMax)
	origin := make([]int, 0, len(text)-from+utf8.UTFMax) // of each folded byte, and of the end
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

// eachRune searches one character of the needle in all its cases and compares around it.
func (n *needle) eachRune(text []byte, try func(start, end int) verdict) {
	var buffer [4]int
	next := buffer[:0]
	for _, a := range n.anchors {
		next = append(next, indexFrom(text, a, 0))
	}
	wasted := patience * (len(text) + len(n.text))
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
		start, end, ok := n.around(text, at, &wasted)
		if wasted < 0 {
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

// indexFrom returns the next offset of wanted, or the length of the text.
func indexFrom(text, wanted []byte, from int) int {
	if i := bytes.Index(text[from:], wanted); i >= 0 {
		return from + i
	}
	return len(text)
}

// around compares the needle with the text around its anchor.
func (n *needle) around(text []byte, anchor int, wasted *int) (start, end int, ok bool) {
	start = anchor
	end = anchor
	for i := n.anchor - 1; i >= 0; i-- {
		r, size := utf8.DecodeLastRune(text[:start])
		if !sameRune(r, size, n.runes[i]) {
			return 0, 0, false
		}
		start -= size
		*wasted--
	}
	for _, wanted := range n.runes[n.anchor:] {
		r, size := utf8.DecodeRune(text[end:])
		if !sameRune(r, size, wanted) {
			return 0, 0, false
		}
		end += size
		*wasted--
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

// common are bytes of usual text, by frequency.
const common = " etaoinsrhldcumfpgwybv\nk,.-01x'jqz"

// rarity ranks a folded character.
func rarity(r rune) int {
	switch i := strings.IndexRune(common, r); {
	case i >= 0:
		return i
	case r < utf8.RuneSelf:
		return len(common)
	}
	return len(common) + 1
}

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

// each calls try for every offset where a needle of the size may begin, until it returns false.
// There are false positives but no false negatives.
func (p pair) each(text []byte, size int, try func(start int) bool) {
	starts := len(text) - size + 1
	if starts <= 0 {
		return
	}
	// One slice for each byte of the pair, so that both are read at the same index.
	first := text[p.atFirst : p.atFirst+starts]
	second := text[p.atSecond : p.atSecond+starts]
	wantFirst := everyByte * uint64(p.first)
	wantSecond := everyByte * uint64(p.second)
	lowFirst := everyByte * uint64(p.caseFirst)
	lowSecond := everyByte * uint64(p.caseSecond)
	i := 0
	for ; i+word <= len(first) && i+word <= len(second); i += word {
		// A byte of differs is zero where both bytes agree.
		differs := (binary.LittleEndian.Uint64(first[i:i+word]) | lowFirst) ^ wantFirst |
			(binary.LittleEndian.Uint64(second[i:i+word]) | lowSecond) ^ wantSecond
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
	dottedI = "İ" // folds to an ASCII letter, and no other character folds to it
	kelvin  = "\u212a"
)

// variants returns every character that folds to the same one as r.
func variants(r rune) []rune {
	same := []rune{index.FoldRune(r)}
	for v := unicode.SimpleFold(same[0]); v != same[0]; v = unicode.SimpleFold(v) {
		if index.FoldRune(v) == same[0] {
			same = append(same, v)
		}
	}
	if same[0] == 'i' {
		same = append(same, []rune(dottedI)...)
	}
	return same
}

func foldString(text string) []byte { return []byte(strings.Map(index.FoldRune, text)) }
