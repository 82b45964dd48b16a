package pages

// The functions of this file find where values of JSON begin and end. They look
// at quotation marks and brackets only, without recursion; whether a text is JSON
// is said by walk.

// space is what may stand between the tokens of JSON.
const space = " \t\r\n"

func skipSpace(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r' || s[at] == '\t') {
		at++
	}
	return at
}

// value returns the end of the value at an offset, the offset itself if there is
// none.
func value(s string, at int) int {
	depth := 0
	for at < len(s) {
		switch s[at] {
		case '"':
			at = stringEnd(s, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			if depth == 0 {
				return at
			}
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
			at++
			continue
		default:
			at = scalarEnd(s, at)
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// stringEnd returns the offset behind the string that begins at an offset.
func stringEnd(s string, at int) int {
	for at = plainEnd(s, at+1); at < len(s); at = plainEnd(s, at) {
		switch s[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
		at++ // a control character: it was no JSON
	}
	return len(s)
}

// scalarEnd returns the end of the number or the word that begins at an offset.
func scalarEnd(s string, at int) int {
	for at++; at < len(s); at++ {
		switch s[at] {
		case '"', '{', '[', '}', ']', ',', ':', ' ', '\t', '\r', '\n':
			return at
		}
	}
	return at
}

// firstRow returns where the first row of an array begins, or where it would.
func firstRow(s string) (at int, ok bool) {
	at = skipSpace(s, 0)
	if at == len(s) || s[at] != '[' {
		return 0, false
	}
	return skipSpace(s, at+1), true
}

// row returns the end of the row at an offset and where the next one begins: the
// length of s behind the last row of the array that s is. It is not ok if there
// is no row, or something else behind it.
func row(s string, at int) (end, next int, ok bool) {
	end = value(s, at)
	if end == at {
		return at, at, false
	}
	next, ok = follow(s, end)
	return end, next, ok
}

// follow returns where the row behind the end of another one begins.
func follow(s string, end int) (next int, ok bool) {
	at := skipSpace(s, end)
	switch {
	case at == len(s):
		return at, false
	case s[at] == ',':
		next = skipSpace(s, at+1)
		return next, next < len(s)
	case s[at] == ']':
		next = skipSpace(s, at+1)
		return next, next == len(s)
	}
	return at, false
}
