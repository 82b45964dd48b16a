package moment

import "strings"

// expandLong replaces the locale's long formats (L, LT, ll …) by what they
// stand for. Brackets and a backslash protect them. One pass is enough: no
// expansion contains another one.
func expandLong(format string) string {
	if !strings.ContainsAny(format, "Ll") {
		return format
	}
	var out strings.Builder
	for rest := format; rest != ""; {
		size := longPiece(rest)
		if long, ok := longFormat(rest[:size]); ok {
			out.WriteString(long)
		} else {
			out.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return out.String()
}

// longPiece returns the size of the first piece of s that is to be looked at
// as a whole: a literal, a long token with or without its backslash, or a byte.
func longPiece(s string) int {
	if size := bracketed(s); size > 0 {
		return size
	}
	if s[0] == '\\' && len(s) > 1 && (s[1] == 'L' || s[1] == 'l') {
		return 1 + longSize(s[1:])
	}
	return longSize(s)
}

// longSize measures a long token at the start of s; 1 if there is none.
func longSize(s string) int {
	switch {
	case hasAt(s, 0, "LTS"):
		return 3
	case hasAt(s, 0, "LT"):
		return 2
	case s[0] == 'L', s[0] == 'l':
		return run(s, 4)
	}
	return 1
}

// longFormat returns the English format of a long token.
func longFormat(token string) (string, bool) {
	switch token {
	case "LT":
		return "h:mm A", true
	case "LTS":
		return "h:mm:ss A", true
	case "L":
		return "MM/DD/YYYY", true
	case "LL":
		return "MMMM D, YYYY", true
	case "LLL":
		return "MMMM D, YYYY h:mm A", true
	case "LLLL":
		return "dddd, MMMM D, YYYY h:mm A", true
	case "l":
		return "M/D/YYYY", true
	case "ll":
		return "MMM D, YYYY", true
	case "lll":
		return "MMM D, YYYY h:mm A", true
	case "llll":
		return "ddd, MMM D, YYYY h:mm A", true
	}
	return "", false
}
