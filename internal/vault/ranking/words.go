package ranking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the maximum length in bytes of an indexed word. Longer ones are encoded data and would fill the
// vocabulary.
const maxWord = 64

// eachWritten calls visit with each written word of a text, its offset, and its number from 1. A written word
// consists of letters, digits and marks, joined by single connectors as in a date, a path or snake_case. eachWritten
// returns the number of words. If wanted is not nil, words that cannot have a form with one of its shapes are only
// counted.
func eachWritten(text string, wanted *shapes, visit func(word string, start, number int)) (words int) {
	for i := 0; i < len(text); {
		first := classOf[text[i]]
		if first&(inWord|wide) == 0 {
			i++
			continue
		}
		n := 1
		if first == wide {
			n = wordRune(text[i:])
			if n == 0 {
				i++ // the other bytes of the rune do not begin a word either
				continue
			}
		}
		start := i
		others := uint8(0)
		next := uint8(separates)
		for n > 0 {
			i += n
			next = separates
			for ; i < len(text); i++ {
				next = classOf[text[i]]
				if next&inWord == 0 {
					break
				}
				others |= next
			}
			if i == len(text) || next == separates {
				break
			}
			n = wordRune(text[i:])
			if n == 0 && next == connects {
				n = wordRune(text[i+1:])
				if n > 0 {
					n++ // the connector
				}
			}
			if n > 0 {
				others |= wide // a wide rune or a connector: not a plain word
			}
		}
		words++
		isPlain := first&(lower|upper) != 0 && others&^lower == 0
		if wanted == nil || wanted.mayMatch(text[start:i], isPlain) {
			visit(text[start:i], start, words)
		}
	}
	return words
}

// shapes are the first bytes and lengths of some words of the index. The array is indexed by the first byte, with one
// element for all bytes outside ASCII; an element has a bit for each length modulo 64.
type shapes [utf8.RuneSelf + 1]uint64

func (s *shapes) add(word string) { s[min(word[0], utf8.RuneSelf)] |= 1 << (len(word) % 64) }

// mayMatch reports whether a written word may have a form with one of the shapes. The form of a plain word is as long
// as the word, and so is the form of a part in ASCII. The form of several parts together begins like the first part.
func (s *shapes) mayMatch(written string, plain bool) bool {
	if plain {
		return s.hasShape(written, false)
	}
	begin := 0
	previousClass := uint8(connects)
	isAccented := false // the part that begins at begin has a letter outside ASCII
	for i, r := range written {
		class := uint8(lower)
		if isFar(r) {
			if s[utf8.RuneSelf] != 0 || i > begin && s.hasShape(written[begin:i], true) {
				return true
			}
			begin = i + utf8.RuneLen(r)
			isAccented = false
			class = connects
		} else if r >= utf8.RuneSelf {
			if i == begin || !unicode.IsLower(r) {
				return true
			}
			isAccented = true
		} else if class = classOf[r]; class == connects || class == upper && previousClass == lower {
			if s.hasShape(written, true) || i > begin && s.hasShape(written[begin:i], isAccented) {
				return true
			}
			begin = i
			isAccented = false
			if class == connects {
				begin++
			}
		}
		previousClass = class
	}
	return begin < len(written) && s.hasShape(written[begin:], isAccented)
}

// hasShape reports whether a part of a word has one of the shapes. For an accented part, the length does not count,
// because it changes without the accents.
func (s *shapes) hasShape(part string, isAccented bool) bool {
	lengths := s[min(part[0]|0x20, utf8.RuneSelf)]
	return lengths&(1<<(len(part)%64)) != 0 || isAccented && lengths != 0
}

// isFar reports whether a rune is in a script whose letters do not fold to ASCII, from Greek to those of Asia.
func isFar(r rune) bool {
	switch {
	case 0x370 <= r && r < 0x1d00,
		0x2e80 <= r && r < 0xa640,
		0xac00 <= r && r < 0xf900:
		return true
	}
	return false
}

// wordRune returns the length of the rune at the beginning of a text, or 0 if it cannot be in a word.
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

// The classes of bytes: separators, ASCII letters and digits, connectors, and bytes of runes outside ASCII.
const (
	separates = 0
	lower     = 1 << iota
	upper
	digit
	connects
	wide

	inWord = lower | upper | digit
)

// classOf maps each byte to its class.
var classOf = func() (classes [256]uint8) {
	for c := range classes {
		switch {
		case c >= utf8.RuneSelf:
			classes[c] = wide
		case 'a' <= c && c <= 'z':
			classes[c] = lower
		case 'A' <= c && c <= 'Z':
			classes[c] = upper
		case '0' <= c && c <= '9':
			classes[c] = digit
		case strings.IndexByte(connectors, byte(c)) >= 0:
			classes[c] = connects
		}
	}
	return classes
}()

// connectors are the characters that may join the parts of a written word.
const connectors = "_-./:@"

// isWordRune reports whether r can be in a word.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// forms returns the folded words under which a written word is indexed: its parts, and the whole if parts returns one.
func forms(written string) []string {
	words, whole := parts(written)
	if whole != "" {
		words = append(words, whole)
	}
	return words
}

// parts splits a written word at connectors and at the capitals of camel case, and returns the folded words. whole is
// the written word as one folded word if that has a meaning, as for hyphenated words, camel case, dates and versions;
// otherwise it is "". Runs of Chinese, Japanese and Korean are split into bigrams, because nothing separates their
// words.
func parts(written string) (words []string, whole string) {
	if isPlain(written) {
		return []string{strings.ToLower(written)}, ""
	}
	var cut []string
	isJoined := false
	hasDigits := false
	begin := 0
	addPart := func(to int) {
		if to > begin {
			cut = append(cut, written[begin:to])
		}
	}
	var previous rune
	for i, r := range written {
		isOtherScript := previous != 0 && isIdeographic(r) != isIdeographic(previous)
		switch {
		case strings.ContainsRune(connectors, r):
			addPart(i)
			begin = i + 1
			isJoined = isJoined || r == '_' || r == '-'
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			addPart(i)
			begin = i
			isJoined = true
		case isOtherScript && begin < i && !unicode.Is(unicode.Mn, r):
			addPart(i)
			begin = i
		}
		hasDigits = hasDigits || unicode.IsDigit(r)
		previous = r
	}
	addPart(len(written))
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
	isOneName := len(cut) >= 2 && (isJoined || hasDigits)
	if !isOneName || len(written) > maxWord {
		return words, ""
	}
	whole = fold(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' && !hasDigits {
			return -1
		}
		return r
	}, written))
	if first, _ := utf8.DecodeRuneInString(whole); isIdeographic(first) {
		return words, ""
	}
	return words, whole
}

// isPlain reports whether a word has only ASCII letters, with at most the first one in upper case, and is not too
// long. Most words are plain. A plain word has one part, and folding only lower-cases it.
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

// longVowel is used in words in katakana, although Unicode does not assign it to a script.
const longVowel = 'ー'

// isIdeographic reports whether a rune is treated like an ideograph: it is in a script whose words are split into
// bigrams.
func isIdeographic(r rune) bool {
	if r == longVowel {
		return true
	}
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// letters replaces letters that Unicode does not decompose into a base letter and a mark.
var letters = strings.NewReplacer(
	"ß", "ss",
	"æ", "ae",
	"œ", "oe",
	"ø", "o",
	"ł", "l",
	"đ", "d",
	"ð", "d",
	"þ", "th",
	"ı", "i",
)

// fold returns a word in the form in which words are compared: in lower case, without accents, and with umlauts
// replaced by their base letters.
func fold(word string) string {
	word = strings.ToLower(word)
	if !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return word
	}
	if r, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Cyrillic, r) {
		return strings.ReplaceAll(word, "ё", "е") // the breve of й is not an accent
	}
	return letters.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(word)))
}
