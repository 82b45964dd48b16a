package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// unescape takes the backslashes out of the target of an inline link.
func unescape(target []byte) string {
	if bytes.IndexByte(target, '\\') < 0 {
		return string(target)
	}
	var out strings.Builder
	for n := 0; n < len(target); n++ {
		if target[n] == '\\' && n+1 < len(target) && isPunctuation(target[n+1]) {
			n++
		}
		out.WriteByte(target[n])
	}
	return out.String()
}

// decode replaces percent escapes as JavaScript's decodeURI does: those of
// characters with a meaning in an address stay, and if one is malformed, all
// do.
func decode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for rest := text; rest != ""; {
		if rest[0] != '%' {
			out.WriteByte(rest[0])
			rest = rest[1:]
			continue
		}
		decoded, size := escaped(rest)
		if size == 0 {
			return text
		}
		out.WriteString(decoded)
		rest = rest[size:]
	}
	return out.String()
}

// reserved are the characters that decodeURI leaves escaped.
const reserved = ";/?:@&=+$,#"

// escaped returns the character at the start of text, which begins with a
// percent sign, and how long its escape is: 0 if it is malformed.
func escaped(text string) (decoded string, size int) {
	first, ok := octet(text)
	if !ok {
		return "", 0
	}
	if first < utf8.RuneSelf {
		if strings.IndexByte(reserved, first) >= 0 {
			return text[:3], 3
		}
		return string(rune(first)), 3
	}
	var octets [utf8.UTFMax]byte
	octets[0] = first
	for n := 1; n <= len(octets); n++ {
		if utf8.FullRune(octets[:n]) {
			r, width := utf8.DecodeRune(octets[:n])
			if r == utf8.RuneError && width == 1 {
				return "", 0
			}
			return string(octets[:n]), 3 * n
		}
		next, ok := octet(text[3*n:])
		if !ok {
			return "", 0
		}
		octets[n] = next
	}
	return "", 0
}

// octet returns the byte that the escape at the start of text stands for.
func octet(text string) (byte, bool) {
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
