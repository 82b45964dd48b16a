package filenames

// [Compare] compares names as the app sorts its listings: case and accents are ignored, punctuation comes before
// digits and digits before letters, and numbers are compared by value.
//
// It approximates a collator with base sensitivity and numeric comparison for the root locale. The tables of a real
// one take milliseconds to load, longer than a short command runs. Letters of other scripts are ordered by code
// point.

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Sort sorts names in place.
func Sort(names []string) { slices.SortFunc(names, Compare) }

// Compare returns a negative number if a sorts before b, a positive one if after it, and 0
// only if they are the same string: names that differ only in case or accents are ordered by
// their bytes, so that listings are stable.
func Compare(a, b string) int {
	// Skip the common start, up to a run of digits, which is compared as a whole, or a
	// character of several bytes.
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (isDigit(a[n-1]) || a[n-1] >= utf8.RuneSelf) {
		n--
	}
	x := newReader(a[n:])
	y := newReader(b[n:])
	for {
		left := x.next()
		right := y.next()
		switch {
		case left == digit && right == digit:
			l := strings.TrimLeft(x.number(), "0")
			r := strings.TrimLeft(y.number(), "0")
			if c := cmp.Or(cmp.Compare(len(l), len(r)), strings.Compare(l, r)); c != 0 {
				return c
			}
		case left != right:
			return cmp.Compare(left, right)
		case left == end:
			return strings.Compare(a, b)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// AppendKey appends the sort key of a name to b. Keys compare byte by byte as [Compare] does
// with the names, but are equal for names that differ only in case or accents. They pay off
// in long lists, where each name is compared many times. The key of a path is the key of its
// folder followed by that of the rest, from the slash on.
func AppendKey(b []byte, name string) []byte {
	r := newReader(name)
	for {
		w := r.next()
		if w == end {
			return b
		}
		b = binary.BigEndian.AppendUint32(b, uint32(w))
		if w == digit {
			number := strings.TrimLeft(r.number(), "0")
			b = binary.BigEndian.AppendUint32(b, uint32(len(number)))
			b = append(b, number...)
		}
	}
}

// First selects the first elements of many in an order (top k), several times faster than
// sorting them all.
type First[T any] struct {
	limit   int
	compare func(a, b T) int
	some    []T  // up to twice the limit
	full    bool // some[:limit] is sorted, and elements after some[limit-1] are not needed
}

// NewFirst returns an empty selection of up to limit elements; limit is at least 1. Which of
// equal elements it keeps is not specified.
func NewFirst[T any](limit int, compare func(a, b T) int) *First[T] {
	return &First[T]{limit: limit, compare: compare}
}

// Add adds an element.
func (f *First[T]) Add(element T) {
	if f.full && f.compare(element, f.some[f.limit-1]) > 0 {
		return
	}
	f.some = append(f.some, element)
	if len(f.some) == 2*f.limit {
		f.trim()
	}
}

// Sorted returns the selected elements in order.
func (f *First[T]) Sorted() []T {
	f.trim()
	return f.some
}

func (f *First[T]) trim() {
	slices.SortFunc(f.some, f.compare)
	f.full = len(f.some) >= f.limit
	f.some = f.some[:min(len(f.some), f.limit)]
}

// weight is the rank of a character. Each class of characters has its own range.
type weight uint32

const (
	end      weight = 0
	marks    weight = 1 << 24 // blanks and punctuation
	symbols  weight = 2 << 24
	currency weight = 3 << 24
	digit    weight = 4 << 24 // starts a run, which is compared by value
	letters  weight = 5 << 24
)

// The order of common blanks, punctuation and symbols in the root collation. Other characters
// follow them by code point.
const (
	markOrder     = "\t\n\v\f\r _-–—―〜・,、;:!¡?¿.。·'‹›\"«»()[]{}「」§¶@*/\\&#%†‡•"
	symbolOrder   = "`´^¯¨¸°©®←→↑↓⇒+±÷×<=>¬|¦~★☆✅✓✔❤"
	currencyOrder = "¤¢$£¥€₹"

	unlistedWeight = 1 << 16 // added to characters that are not listed
)

// reader splits a text into weights.
type reader struct {
	rest    string
	ascii   *[utf8.RuneSelf]weight
	pending []rune // remaining characters of one that decomposes into several
}

func newReader(text string) reader { return reader{rest: text, ascii: ofASCII()} }

// next returns the weight of the next character that is not ignored, or end. After digit,
// the caller must read the run of digits with number.
func (r *reader) next() weight {
	for {
		if len(r.pending) > 0 {
			w := weigh(r.pending[0])
			r.pending = r.pending[1:]
			return w
		}
		if r.rest == "" {
			return end
		}
		c := r.rest[0]
		if isDigit(c) {
			return digit
		}
		if c >= utf8.RuneSelf {
			r.decompose()
			continue
		}
		r.rest = r.rest[1:]
		if w := r.ascii[c]; w != end {
			return w
		}
	}
}

// number reads a run of digits.
func (r *reader) number() string {
	n := 0
	for n < len(r.rest) && isDigit(r.rest[n]) {
		n++
	}
	run := r.rest[:n]
	r.rest = r.rest[n:]
	return run
}

// ofASCII returns the weights of ASCII characters. Control characters have the weight end,
// because they are ignored.
var ofASCII = sync.OnceValue(func() *[utf8.RuneSelf]weight {
	var table [utf8.RuneSelf]weight
	for c := range table {
		table[c] = listed(rune(c))
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c] = letters + weight(c)
		table[c-'a'+'A'] = letters + weight(c)
	}
	return &table
})

// listed returns the weight of a listed character, or end.
func listed(r rune) weight {
	if i := strings.IndexRune(markOrder, r); i >= 0 {
		return marks + weight(i) + 1
	}
	if i := strings.IndexRune(symbolOrder, r); i >= 0 {
		return symbols + weight(i) + 1
	}
	if i := strings.IndexRune(currencyOrder, r); i >= 0 {
		return currency + weight(i) + 1
	}
	return end
}

// weigh returns the weight of a decomposed rune.
func weigh(r rune) weight {
	if known := listed(r); known != end {
		return known
	}
	switch {
	case unicode.IsLetter(r):
		return letters + weight(r)
	case unicode.IsNumber(r):
		// Digits of other scripts and fractions sort after numbers and before letters.
		return digit + weight(r) + 1
	case unicode.IsPunct(r) || unicode.IsSpace(r):
		return marks + unlistedWeight + weight(r)
	case unicode.Is(unicode.Sc, r):
		return currency + unlistedWeight + weight(r)
	}
	return symbols + unlistedWeight + weight(r)
}

// decompose moves the next character to pending, decomposed to lower-case base letters without
// accents and formatting characters.
func (r *reader) decompose() {
	char, size := utf8.DecodeRuneInString(r.rest)
	text := r.rest[:size]
	r.rest = r.rest[size:]
	if char == utf8.RuneError || listed(char) != end {
		r.pending = append(r.pending, char)
		return
	}
	for _, base := range norm.NFKD.String(text) {
		if unicode.In(base, unicode.Mn, unicode.Cf) {
			continue
		}
		letter := unicode.ToLower(base)
		if known, varies := variants()[letter]; varies {
			r.pending = append(r.pending, []rune(known)...)
		} else {
			r.pending = append(r.pending, letter)
		}
	}
}

// variants returns letters that Unicode does not decompose but that collators treat as
// variants of others, and typographic quotes and hyphens.
var variants = sync.OnceValue(func() map[rune]string {
	return map[rune]string{
		'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ł': "l",
		'‘': "'", '’': "'", '‚': "'", '“': `"`, '”': `"`, '„': `"`, '‐': "-", '‑': "-",
	}
})
