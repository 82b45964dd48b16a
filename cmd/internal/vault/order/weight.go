package order

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A weight is the rank of a character. Each class has a range of its own.
type weight uint32

const (
	end      weight = 0
	marks    weight = 1 << 24 // blanks and punctuation
	symbols  weight = 2 << 24
	currency weight = 3 << 24
	digit    weight = 4 << 24 // starts a run, which is compared by value
	letters  weight = 5 << 24
)

// The order of common blanks, punctuation and symbols in the root collation. Others follow
// them by code point.
const (
	markOrder     = "\t\n\v\f\r _-–—―〜・,、;:!¡?¿.。·'‹›\"«»()[]{}「」§¶@*/\\&#%†‡•"
	symbolOrder   = "`´^¯¨¸°©®←→↑↓⇒+±÷×<=>¬|¦~★☆✅✓✔❤"
	currencyOrder = "¤¢$£¥€₹"

	unlisted = 1 << 16 // added to characters that are not listed
)

// reader splits a text into weights.
type reader struct {
	rest    string
	ascii   *[utf8.RuneSelf]weight
	pending []rune // rest of a character that decomposes into several
}

func newReader(text string) reader { return reader{rest: text, ascii: ofASCII()} }

// next returns the weight of the next character that is not ignored, or end. After digit
// the caller reads the run with number.
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

// ofASCII returns the weights of ASCII characters: end for control characters, which are
// ignored.
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
		return marks + unlisted + weight(r)
	case unicode.Is(unicode.Sc, r):
		return currency + unlisted + weight(r)
	}
	return symbols + unlisted + weight(r)
}

// decompose moves the next character to pending as base letters in lower case, without
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
		r.pending = appendLetters(r.pending, unicode.ToLower(base))
	}
}

// appendLetters replaces letters that Unicode does not decompose but a collator treats as
// variants of others, and typographic quotes and hyphens.
func appendLetters(to []rune, letter rune) []rune {
	switch letter {
	case 'ß':
		return append(to, 's', 's')
	case 'æ':
		return append(to, 'a', 'e')
	case 'œ':
		return append(to, 'o', 'e')
	case 'ø':
		return append(to, 'o')
	case 'đ':
		return append(to, 'd')
	case 'ł':
		return append(to, 'l')
	case '‘', '’', '‚':
		return append(to, '\'')
	case '“', '”', '„':
		return append(to, '"')
	case '‐', '‑':
		return append(to, '-')
	}
	return append(to, letter)
}
