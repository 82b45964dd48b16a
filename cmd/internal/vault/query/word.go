package query

import (
	"unicode"
	"unicode/utf8"
)

// joins reports whether r makes a word together with the next such character.
func joins(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !standsAlone(r)
}

// standsAlone reports whether r is of a script whose words are not set apart by
// blanks, or, as in Korean, grow endings: every character is a word there.
func standsAlone(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r == 'ー' // shared by two scripts, so in neither table
}

// cutsWord reports whether the characters on both sides of an offset belong to
// one word.
func cutsWord(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at:])
	return joins(before) && joins(after)
}
