package command

import (
	"math/bits"
	"unicode/utf8"
)

// QuoteJSON writes a JSON string as JavaScript does, with < > & as they are. Bytes that are
// no UTF-8 become U+FFFD.
func QuoteJSON(s string) string { return string(AppendJSON(nil, s)) }

// AppendJSON is [QuoteJSON] appended to other bytes.
func AppendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		plain := plainJSON(s)
		b = append(b, s[:plain]...)
		if s = s[plain:]; s == "" {
			return append(b, '"')
		}
		var size int
		b, size = appendEscaped(b, s)
		s = s[size:]
	}
}

// appendEscaped writes the character at the start of a text that cannot be as it is, and
// returns how many bytes of the text it takes.
func appendEscaped(b []byte, s string) ([]byte, int) {
	const digits = "0123456789abcdef"
	if c := s[0]; c < utf8.RuneSelf {
		if short := shortEscapes[c]; short != 0 {
			return append(b, '\\', short), 1
		}
		return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15]), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return append(b, `\ufffd`...), size
	}
	return append(b, '\\', 'u', '2', '0', '2', digits[r&15]), size
}

var shortEscapes = [utf8.RuneSelf]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// plainJSON returns how much of the start of a text is the same between quotes.
func plainJSON[T string | []byte](s T) int {
	for at := 0; ; {
		at += plainASCII(s[at:])
		if at == len(s) || s[at] < utf8.RuneSelf {
			return at
		}
		size := plainRune(s[at:])
		if size == 0 {
			return at
		}
		at += size
	}
}

// plainRune returns the length of the character at the start of a text, 0 if it has to be
// escaped. Two characters end a line in JavaScript.
func plainRune[T string | []byte](s T) int {
	switch b := s[0]; {
	case b < 0xc2: // no first byte
	case b < 0xe0:
		if len(s) >= 2 && s[1]&0xc0 == 0x80 {
			return 2
		}
	case b == 0xe0 || b == 0xe2 || b == 0xed: // some of which are no characters, or end a line
	case b < 0xf0:
		if len(s) >= 3 && s[1]&0xc0 == 0x80 && s[2]&0xc0 == 0x80 {
			return 3
		}
	case b == 0xf0: // most pictographs
		if len(s) >= 4 && s[1]&0xf0 == 0x90 && s[2]&0xc0 == 0x80 && s[3]&0xc0 == 0x80 {
			return 4
		}
	}
	r, size := utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
	if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
		return 0
	}
	return size
}

const (
	wordSize  = 8
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// plainASCII returns how much of the start of a text is ASCII that is the same between
// quotes. It looks at a word at a time, at last at the one that ends with the text.
func plainASCII[T string | []byte](s T) int {
	if len(s) < wordSize {
		return plainBytes(s)
	}
	for at := 0; at+wordSize <= len(s); at += wordSize {
		if found := marked(word(s[at:])); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	at := len(s) - wordSize
	return at + bits.TrailingZeros64(marked(word(s[at:])))/8 // the size of a word if none is marked
}

// word returns the first bytes of a text, the first one lowest.
func word[T string | []byte](s T) uint64 {
	w := s[:wordSize] // whose bounds are checked once
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// marked returns a word with the high bit of each byte set that is not plain: a byte of a
// difference has it set where that of the text is what is looked for. Above the first such
// byte it may be set elsewhere.
func marked(word uint64) uint64 {
	quote, backslash := word^'"'*everyByte, word^'\\'*everyByte
	return (word | (word - ' '*everyByte) | (quote - everyByte) | (backslash - everyByte)) & highBits
}

func plainBytes[T string | []byte](s T) (at int) {
	for at < len(s) && s[at] >= ' ' && s[at] < utf8.RuneSelf && s[at] != '"' && s[at] != '\\' {
		at++
	}
	return at
}
