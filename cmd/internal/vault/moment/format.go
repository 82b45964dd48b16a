// Package moment writes a time by a moment.js format string, as the notes app
// does for daily notes and templates: version 2.30 of that library, locale en.
//
// It only formats; it parses no dates, knows no other locale, and never fails:
// other text is literal. Week numbers come in two kinds: the
// tokens with W, G and E are ISO 8601, those with w, g and e are the locale's
// (weeks start on Sunday, week 1 contains 1 January).
package moment

import (
	"strings"
	"time"
	"unicode/utf8"
)

// iso is what the library uses when no format is given.
const iso = "YYYY-MM-DDTHH:mm:ssZ"

// Format returns t, in its own zone, written by format. An empty format means
// ISO 8601 with the offset.
func Format(t time.Time, format string) string {
	if format == "" {
		format = iso
	}
	var out strings.Builder
	for rest := expandLong(format); rest != ""; {
		text, size := next(t, rest)
		out.WriteString(text)
		rest = rest[size:]
	}
	return out.String()
}

// next returns the text for the first token of a non-empty s, and how many
// bytes of s that token takes.
func next(t time.Time, s string) (text string, size int) {
	if size := bracketed(s); size > 0 {
		return s[1 : size-1], size
	}
	if s[0] == '\\' {
		// The library strips every backslash of the token after it, so a backslash before a backslash,
		// a line end or nothing leaves nothing.
		rest := s[1:]
		if rest == "" || isLineEnd(rest[:tokenSize(rest)]) {
			return "", 1
		}
		n := tokenSize(rest)
		return strings.TrimPrefix(rest[:n], `\`), 1 + n
	}
	size = tokenSize(s)
	if text, ok := render(t, s[:size]); ok {
		return text, size
	}
	if isLineEnd(s[:size]) {
		return "", size
	}
	return s[:size], size
}

// bracketed returns the size of a literal in square brackets at the start of
// s, or 0. It reaches to the last closing bracket before the next opening one,
// which is why "[x] YYYY]" is one literal.
func bracketed(s string) int {
	if s[0] != '[' {
		return 0
	}
	inner := s[1:]
	if open := strings.IndexByte(inner, '['); open >= 0 {
		inner = inner[:open]
	}
	last := strings.LastIndexByte(inner, ']')
	if last < 0 {
		return 0
	}
	return len("[") + last + len("]")
}

// isLineEnd reports whether token is a character that the library's pattern
// does not match at all, and therefore drops outside brackets.
func isLineEnd(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'
}
