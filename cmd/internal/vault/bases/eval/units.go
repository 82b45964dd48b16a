package eval

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Lengths and places in texts count UTF-16 code units, as JavaScript does.

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func unitLength(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// sliceText returns a text from one place to another. Half of a character is
// U+FFFD.
func sliceText(s string, from, to float64, hasEnd bool) string {
	if isASCII(s) {
		start, end := bounds(len(s), from, to, hasEnd)
		return s[start:end]
	}
	units := utf16.Encode([]rune(s))
	start, end := bounds(len(units), from, to, hasEnd)
	return string(utf16.Decode(units[start:end]))
}

// bounds are the places that JavaScript's slice means: negative ones count from
// the end.
func bounds(length int, from, to float64, hasEnd bool) (start, end int) {
	if !hasEnd {
		to = float64(length)
	}
	start, end = bound(length, from), bound(length, to)
	return start, max(start, end)
}

func bound(length int, at float64) int {
	at = math.Trunc(at)
	switch n := float64(length); {
	case at != at || at <= -n:
		return 0
	case at < 0:
		return length + int(at)
	case at >= n:
		return length
	}
	return int(at)
}

// reverseText turns the units of a text round. A character of two units falls
// apart into two U+FFFD.
func reverseText(s string) string {
	units := utf16.Encode([]rune(s))
	for i, j := 0, len(units)-1; i < j; i, j = i+1, j-1 {
		units[i], units[j] = units[j], units[i]
	}
	return string(utf16.Decode(units))
}

// lower is JavaScript's toLowerCase, which keeps the dot of a Turkish capital I.
func lower(s string) string {
	if strings.Contains(s, "İ") {
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.ToLower(s)
}
