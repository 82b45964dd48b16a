package message

import (
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// The bytes that encoding/json may not write as they are: in a document, where only HTML is
// escaped, and in the text of a string. Of the characters beyond ASCII it escapes two, which
// begin with 0xE2.
var (
	inDocument = specialBytes("<>&\xe2")
	inString   = specialBytes("<>&\xe2\"\\\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f")
)

func specialBytes(list string) *[256]bool {
	var special [256]bool
	for i := range len(list) {
		special[list[i]] = true
	}
	return &special
}

// appendString appends a string as encoding/json encodes it.
func appendString(to []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return append(to, Encode(s)...)
	}
	return append(appendEscaped(append(to, '"'), s, inString), '"')
}

// appendEscaped appends valid UTF-8 with its special bytes escaped.
func appendEscaped[T string | Compact](to []byte, s T, special *[256]bool) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		if s[i] == 0xE2 && !isSeparator(s, i) {
			continue
		}
		to = append(to, s[start:i]...)
		if s[i] == 0xE2 {
			i += 2
			to = append(to, '\\', 'u', '2', '0', '2', hexDigits[s[i]&0xF])
		} else {
			to = appendByte(to, s[i])
		}
		start = i + 1
	}
	return append(to, s[start:]...)
}

// isSeparator reports whether U+2028 or U+2029 begins at i.
func isSeparator[T string | Compact](s T, i int) bool {
	return i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8
}

// appendByte appends the escape of an ASCII character.
func appendByte(to []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(to, '\\', b)
	case '\b':
		return append(to, '\\', 'b')
	case '\f':
		return append(to, '\\', 'f')
	case '\n':
		return append(to, '\\', 'n')
	case '\r':
		return append(to, '\\', 'r')
	case '\t':
		return append(to, '\\', 't')
	}
	return append(to, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xF])
}
