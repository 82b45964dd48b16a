package query

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/query/trigram"
)

// fold lower-cases one character, as the filters of notes do.
func fold(r rune) rune { return trigram.Fold(r) }

func foldByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

const (
	dottedI = 'İ' // folds to an ASCII letter, and no other character folds to it
	kelvin  = '\u212a'
)

// variants returns every character that folds as r does.
func variants(r rune) []rune {
	same := []rune{fold(r)}
	for v := unicode.SimpleFold(same[0]); v != same[0]; v = unicode.SimpleFold(v) {
		if fold(v) == same[0] {
			same = append(same, v)
		}
	}
	if same[0] == 'i' {
		same = append(same, dottedI)
	}
	return same
}

// foldAll returns the text lower-cased, and for each of its bytes the offset of
// the character it comes from; one more for the end. Bytes that are no UTF-8
// stay.
func foldAll(text []byte) (folded []byte, from []int) {
	folded = make([]byte, 0, len(text)+utf8.UTFMax)
	from = make([]int, 0, len(text)+utf8.UTFMax)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			folded = append(folded, text[at])
		} else {
			folded = utf8.AppendRune(folded, fold(r))
		}
		for len(from) < len(folded) {
			from = append(from, at)
		}
		at += size
	}
	return folded, append(from, len(text))
}

// holdsStrays reports whether text has characters outside ASCII that fold to
// the ASCII letters k or i.
func holdsStrays(text []byte, k, i bool) bool {
	return k && bytes.Contains(text, []byte(string(kelvin))) || i && bytes.Contains(text, []byte(string(dottedI)))
}

func foldString(text string) []byte {
	return append([]byte{}, strings.Map(fold, text)...)
}
