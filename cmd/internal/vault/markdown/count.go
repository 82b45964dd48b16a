package markdown

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// WordCount counts the words and the characters of the body of a note.
//
// A word is a run of letters, apostrophes, dashes and numbers, where a number
// may have commas and dots between its digits; a character of a script that
// is written without blanks is a word of its own. Characters are counted as
// JavaScript does, in units of UTF-16. A byte order mark does not count.
func WordCount(body []byte) (words, characters int) {
	body = bytes.TrimPrefix(body, []byte(bom))
	inWord := false
	for at := 0; at < len(body); {
		r, size := rune(body[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(body[at:])
		}
		characters++
		if r > 0xffff {
			characters++
		}
		switch c := classify(r); {
		case c == ideograph:
			words++
			inWord = false
		case c == letter || inWord && (c == combining || c == point && at+1 < len(body) && isDigit(body[at-1]) && isDigit(body[at+1])):
			if !inWord {
				words++
			}
			inWord = true
		default:
			inWord = false
		}
		at += size
	}
	return words, characters
}

type class uint8

const (
	separator class = iota
	letter          // digits, apostrophes and dashes as well
	combining       // continues a word, begins none
	point           // continues a number, between two digits
	ideograph
)

func classify(r rune) class {
	if r < utf8.RuneSelf {
		b := byte(r)
		switch {
		case isLetter(b) || isDigit(b) || b == '\'' || b == '-':
			return letter
		case b == ',' || b == '.':
			return point
		}
		return separator
	}
	switch {
	case r == '’':
		return letter
	case r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case unicode.IsLetter(r):
		return letter
	case unicode.IsMark(r):
		return combining
	}
	return separator
}
