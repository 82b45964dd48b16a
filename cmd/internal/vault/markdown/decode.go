package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// decode returns the target of an inline link without its backslashes and percent escapes.
func (s *scanner) decode(target []byte) string {
	if bytes.IndexByte(target, '\\') >= 0 {
		s.unescaped = appendUnescaped(s.unescaped[:0], target)
		target = s.unescaped
	}
	if bytes.IndexByte(target, '%') >= 0 {
		decoded, ok := appendDecoded(s.decoded[:0], target)
		s.decoded = decoded
		if ok {
			target = decoded
		}
	}
	return s.copied(target)
}

// appendUnescaped takes the backslashes out of the target of an inline link.
func appendUnescaped(b, target []byte) []byte {
	for n := 0; n < len(target); n++ {
		if target[n] == '\\' && n+1 < len(target) && isPunctuation(target[n+1]) {
			n++
		}
		b = append(b, target[n])
	}
	return b
}

// appendDecoded replaces percent escapes as JavaScript's decodeURI does: those of
// characters with a meaning in an address stay, and if one is malformed, all
// do. Then ok is false.
func appendDecoded(b, text []byte) (decoded []byte, ok bool) {
	for len(text) > 0 {
		if text[0] != '%' {
			b = append(b, text[0])
			text = text[1:]
			continue
		}
		var size int
		b, size = appendEscaped(b, text)
		if size == 0 {
			return b, false
		}
		text = text[size:]
	}
	return b, true
}

// reserved are the characters that decodeURI leaves escaped.
const reserved = ";/?:@&=+$,#"

// appendEscaped adds the character at the start of text, which begins with a percent
// sign, and returns how long its escape is: 0 if it is malformed.
func appendEscaped(b, text []byte) (with []byte, size int) {
	first, ok := octet(text)
	if !ok {
		return b, 0
	}
	if first < utf8.RuneSelf {
		if strings.IndexByte(reserved, first) >= 0 {
			return append(b, text[:3]...), 3
		}
		return append(b, first), 3
	}
	var octets [utf8.UTFMax]byte
	octets[0] = first
	for n := 1; n <= len(octets); n++ {
		if utf8.FullRune(octets[:n]) {
			r, width := utf8.DecodeRune(octets[:n])
			if r == utf8.RuneError && width == 1 {
				return b, 0
			}
			return append(b, octets[:n]...), 3 * n
		}
		next, ok := octet(text[3*n:])
		if !ok {
			return b, 0
		}
		octets[n] = next
	}
	return b, 0
}

// octet returns the byte that the escape at the start of text stands for.
func octet(text []byte) (byte, bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	high, low := hex(text[1]), hex(text[2])
	return high<<4 | low, high < 16 && low < 16
}

// hex returns the value of a hexadecimal digit, or 255.
func hex(b byte) byte {
	switch {
	case isDigit(b):
		return b - '0'
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return b | 0x20 - 'a' + 10
	}
	return 255
}
