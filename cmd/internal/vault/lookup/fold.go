package lookup

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which names are compared: lower case, in Unicode normal form C,
// because file systems differ in the form that they store.
func Fold(name string) string {
	lower := strings.ToLower(name)
	if norm.NFC.IsNormalString(lower) {
		return lower
	}
	return norm.NFC.String(lower)
}

// appendFolded appends Fold(name) to key.
func appendFolded(key []byte, name string) []byte {
	start, composed := len(key), true
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			key = key[:start]
			composed = false
			break
		}
		key = append(key, lower(c))
	}
	if composed {
		return key
	}
	composed = true
	for _, r := range name {
		r = unicode.ToLower(r)
		composed = composed && isComposed(r)
		key = utf8.AppendRune(key, r)
	}
	if composed || norm.NFC.IsNormal(key[start:]) {
		return key
	}
	return append(key[:start], Fold(name)...)
}

// isComposed reports whether normal form C keeps a character, whatever its neighbours are.
// It knows Latin and Cyrillic letters and ideographs; others are normalized to find out.
func isComposed(r rune) bool {
	return r < 0x300 || 0x400 <= r && r < 0x483 || 0x4e00 <= r && r < 0xa000
}

// isPlain reports whether Fold(name) is name in lower case, each character in its place.
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

// folds reports whether Fold(name) equals key, which is folded.
func folds(name string, key []byte) bool {
	if len(name) == len(key) && lowers(name, key) {
		return true
	}
	return !isPlain(name) && Fold(name) == string(key)
}

// ends reports whether Fold(path) equals key, which is folded, or ends with it at a
// segment border.
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

// lowers reports whether key is name in lower case. Both have the same number of bytes, and
// key is in normal form.
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
