package ranking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the length in bytes of the longest word that is indexed: what is longer is encoded
// data, and would fill the vocabulary.
const maxWord = 64

// eachWritten calls visit with each written word of a text and its number, from 1: letters, digits and marks, joined
// by single connectors such as those of a date, a path or snake_case. It returns how many there are.
// Words without a form of one of the shapes are only counted, unless of is nil.
func eachWritten(text string, of *shapes, visit func(word string, start, number int)) (words int) {
	for i := 0; i < len(text); {
		first := classOf[text[i]]
		if first&(inWord|wide) == 0 {
			i++
			continue
		}
		n := 1
		if first == wide {
			if n = wordRune(text[i:]); n == 0 {
				i++ // the other bytes of a rune begin no word either
				continue
			}
		}
		start := i
		others := uint8(0)
		next := uint8(separates)
		for n > 0 {
			for i, next = i+n, separates; i < len(text); i++ {
				if next = classOf[text[i]]; next&inWord == 0 {
					break
				}
				others |= next
			}
			if n = 0; i == len(text) || next == separates {
				break
			}
			if n = wordRune(text[i:]); n == 0 && next == connects {
				if n = wordRune(text[i+1:]); n > 0 {
					n++
				}
			}
			if n > 0 {
				others |= wide // or with a connector: no plain word
			}
		}
		words++
		if of == nil || of.may(text[start:i], first&(lower|upper) != 0 && others&^lower == 0) {
			visit(text[start:i], start, words)
		}
	}
	return words
}

// shapes are what some words of an index begin with and how long they are: by the first byte, one for all that are not of
// ASCII, a bit for each length modulo 64.
type shapes [utf8.RuneSelf + 1]uint64

func (s *shapes) add(word string) { s[min(word[0], utf8.RuneSelf)] |= 1 << (len(word) % 64) }

// may reports whether a written word may have a form of one of the shapes. A plain word is as long as its form, and
// so is a part of another one that is of ASCII alone; what several parts are together begins as the first does.
func (s *shapes) may(written string, plain bool) bool {
	if plain {
		return s.begins(written, false)
	}
	begin := 0
	before := uint8(connects)
	accented := false // of a part: where it begins, and whether it has a letter that is not of ASCII
	for i, r := range written {
		class := uint8(lower)
		if isFar(r) {
			if s[utf8.RuneSelf] != 0 || i > begin && s.begins(written[begin:i], true) {
				return true
			}
			begin = i + utf8.RuneLen(r)
			accented = false
			class = connects
		} else if r >= utf8.RuneSelf {
			if i == begin || !unicode.IsLower(r) {
				return true
			}
			accented = true
		} else if class = classOf[r]; class == connects || class == upper && before == lower {
			if s.begins(written, true) || i > begin && s.begins(written[begin:i], accented) {
				return true
			}
			begin = i
			accented = false
			if class == connects {
				begin++
			}
		}
		before = class
	}
	return begin < len(written) && s.begins(written[begin:], accented)
}

// begins reports whether a part of a word, or one of another length as accents are left out, is of one of the shapes.
func (s *shapes) begins(part string, accented bool) bool {
	lengths := s[min(part[0]|0x20, utf8.RuneSelf)]
	return lengths&(1<<(len(part)%64)) != 0 || accented && lengths != 0
}

// isFar reports whether a rune is of the scripts whose letters fold to none of ASCII: from Greek to those of Asia.
func isFar(r rune) bool {
	switch {
	case 0x370 <= r && r < 0x1d00,
		0x2e80 <= r && r < 0xa640,
		0xac00 <= r && r < 0xf900:
		return true
	}
	return false
}

// wordRune returns the length of the rune at the beginning of a text, 0 where it is in no word.
func wordRune(text string) int {
	switch {
	case text == "":
		return 0
	case classOf[text[0]]&inWord != 0:
		return 1
	case classOf[text[0]] == wide:
		if r, size := utf8.DecodeRuneInString(text); isWordRune(r) {
			return size
		}
	}
	return 0
}

// The classes of bytes: what is a letter or a digit by itself, what joins two of them, and what is a part of
// a longer rune.
const (
	separates = 0
	lower     = 1 << iota
	upper
	digit
	connects
	wide

	inWord = lower | upper | digit
)

var classOf = func() (of [256]uint8) {
	for c := range of {
		switch {
		case c >= utf8.RuneSelf:
			of[c] = wide
		case 'a' <= c && c <= 'z':
			of[c] = lower
		case 'A' <= c && c <= 'Z':
			of[c] = upper
		case '0' <= c && c <= '9':
			of[c] = digit
		case strings.IndexByte(connectors, byte(c)) >= 0:
			of[c] = connects
		}
	}
	return of
}()

const connectors = "_-./:@"

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// forms returns the words that a written word is found by: its parts, and where they mean something
// together also the whole: hyphenated and underscored words, camel case, dates and versions.
func forms(written string) []string {
	words, whole := parts(written)
	if whole != "" {
		words = append(words, whole)
	}
	return words
}

// parts returns the words that a written word is made of, at connectors and at the capitals of
// camel case, and what they are together, "" where that means nothing. Runs of Chinese, Japanese and
// Korean are their bigrams, because nothing separates their words.
func parts(written string) (words []string, whole string) {
	if isPlain(written) {
		return []string{strings.ToLower(written)}, ""
	}
	var cut []string
	joined := false
	digits := false
	begin := 0
	part := func(to int) {
		if to > begin {
			cut = append(cut, written[begin:to])
		}
	}
	var before rune
	for i, r := range written {
		isOtherScript := before != 0 && isIdeographic(r) != isIdeographic(before)
		switch {
		case strings.ContainsRune(connectors, r):
			part(i)
			begin = i + 1
			joined = joined || r == '_' || r == '-'
		case unicode.IsUpper(r) && unicode.IsLower(before):
			part(i)
			begin = i
			joined = true
		case isOtherScript && begin < i && !unicode.Is(unicode.Mn, r):
			part(i)
			begin = i
		}
		digits = digits || unicode.IsDigit(r)
		before = r
	}
	part(len(written))
	for _, p := range cut {
		if first, _ := utf8.DecodeRuneInString(p); isIdeographic(first) {
			runes := []rune(norm.NFKC.String(p))
			for i := range max(len(runes)-1, 1) {
				words = append(words, string(runes[i:min(i+2, len(runes))]))
			}
		} else if w := fold(p); w != "" && len(w) <= maxWord {
			words = append(words, w)
		}
	}
	isOneName := len(cut) >= 2 && (joined || digits)
	if !isOneName || len(written) > maxWord {
		return words, ""
	}
	whole = fold(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' && !digits {
			return -1
		}
		return r
	}, written))
	if first, _ := utf8.DecodeRuneInString(whole); isIdeographic(first) {
		return words, ""
	}
	return words, whole
}

// isPlain reports whether a word is of ASCII letters with at most the first one in upper case, as most
// are: then it has one part, and is folded to its lower case.
func isPlain(written string) bool {
	for i := range len(written) {
		c := written[i]
		isLower := 'a' <= c && c <= 'z'
		isCapital := i == 0 && 'A' <= c && c <= 'Z'
		if !isLower && !isCapital {
			return false
		}
	}
	return len(written) <= maxWord
}

// longVowel is a part of words in katakana, though Unicode counts it to no script.
const longVowel = 'ー'

// isIdeographic reports whether a rune is of a script that writes words without spaces.
func isIdeographic(r rune) bool {
	if r == longVowel {
		return true
	}
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// letters are those that have no decomposition into a base letter and a mark.
var letters = strings.NewReplacer(
	"ß",
	"ss",
	"æ",
	"ae",
	"œ",
	"oe",
	"ø",
	"o",
	"ł",
	"l",
	"đ",
	"d",
	"ð",
	"d",
	"þ",
	"th",
	"ı",
	"i",
)

// fold returns a word as words are compared: lower case, without accents, umlauts as their base
// letter.
func fold(word string) string {
	word = strings.ToLower(word)
	if !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return word
	}
	if r, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Cyrillic, r) {
		return strings.ReplaceAll(word, "ё", "е") // the breve of й is no accent
	}
	return letters.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(word)))
}
