package lookup

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold is the form in which names are compared: case is ignored, and the two
// spellings that Unicode has of many letters are one, because systems differ in
// which they store.
func Fold(name string) string {
	lower := strings.ToLower(name)
	if norm.NFC.IsNormalString(lower) {
		return lower
	}
	return norm.NFC.String(lower)
}

// appendFolded writes Fold(name) behind key.
func appendFolded(key []byte, name string) []byte {
	start := len(key)
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			return appendFoldedRunes(key[:start], name)
		}
		key = append(key, lower(c))
	}
	return key
}

func appendFoldedRunes(key []byte, name string) []byte {
	start := len(key)
	composed := true
	for _, r := range name {
		r = unicode.ToLower(r)
		composed = composed && isComposed(r)
		key = utf8.AppendRune(key, r)
	}
	if composed || norm.NFC.IsNormalString(string(key[start:])) {
		return key
	}
	return append(key[:start], Fold(name)...)
}

// isComposed reports whether a character is one of the many that stay as they are in
// normal form C, whatever is beside them: Latin and Cyrillic letters and ideographs.
func isComposed(r rune) bool {
	return r < 0x300 || 0x400 <= r && r < 0x483 || 0x4e00 <= r && r < 0xa000
}

// isPlain reports whether Fold(name) has every character in lower case where name has it,
// and nothing else.
func isPlain(name string) bool {
	for _, r := range name {
		if r < utf8.RuneSelf {
			continue
		}
		if low := unicode.ToLower(r); !isComposed(r) || !isComposed(low) || utf8.RuneLen(low) != utf8.RuneLen(r) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// folds reports whether Fold(name) is key, which is folded.
func folds(name string, key []byte) bool {
	if len(name) == len(key) && lowers(name, key) {
		return true
	}
	return !isPlain(name) && Fold(name) == string(key)
}

// ends reports whether Fold(path) is key, which is folded, or ends in it at the beginning
// of a segment.
func ends(path string, key []byte) bool {
	start := len(path) - len(key)
	if start >= 0 && (start == 0 || path[start-1] == '/') && lowers(path[start:], key) {
		return true
	}
	if isPlain(path) {
		return false
	}
	before, ok := bytes.CutSuffix([]byte(Fold(path)), key)
	return ok && (len(before) == 0 || before[len(before)-1] == '/')
}

// lowers reports whether key is name, which has as many bytes, in lower case. The form
// need not be looked at: key is in normal form.
func lowers(name string, key []byte) bool {
	for i := 0; i < len(key); {
		if c := name[i]; c < utf8.RuneSelf {
			if lower(c) != key[i] {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(name[i:])
		if wanted, same := utf8.DecodeRune(key[i:]); unicode.ToLower(r) != wanted || size != same {
			return false
		}
		i += size
	}
	return true
}
