package trigram

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// Fold lower-cases one character.
func Fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(lower[byte(r)])
	case firstIdeograph <= r && r <= lastIdeograph:
		return r
	}
	return unicode.ToLower(r)
}

// Between these are scripts without upper case, in which whole notes are written.
const (
	firstIdeograph = 0x2e80
	lastIdeograph  = 0xa4cf
)

// lower has the bytes of ASCII lower-cased, and the others as they are.
var lower = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// shortRune is the first character that takes more than two bytes.
const shortRune = 0x800

// shortRunes has the characters below shortRune in lower case: those of most alphabets.
var shortRunes = sync.OnceValue(func() *[shortRune]uint16 {
	var table [shortRune]uint16
	for r := range table {
		table[r] = uint16(Fold(rune(r)))
	}
	return &table
})
