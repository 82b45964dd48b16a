package pages

import (
	"encoding/json"
	"strings"
)

// The functions of this file find where values of JSON begin and end. They look
// at quotation marks and brackets only, without recursion; whether a text is JSON
// is said by encoding/json.

// space is what may stand between the tokens of JSON.
const space = " \t\r\n"

func skipSpace(s string, at int) int {
	for at < len(s) && strings.IndexByte(space, s[at]) >= 0 {
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
	for at++; at < len(s); at++ {
		switch s[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
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

// arrayRows counts the rows of an array. It is not ok for other JSON and for
// what is no JSON.
func arrayRows(s string) (count int, ok bool) {
	at, ok := firstRow(s)
	if !ok || at == len(s) {
		return 0, false
	}
	if s[at] == ']' {
		return 0, skipSpace(s, at+1) == len(s)
	}
	var rows proof
	for at < len(s) {
		end, next, ok := row(s, at)
		if !ok || !rows.add(s[at:end]) {
			return 0, false
		}
		at = next
		count++
	}
	return count, rows.close()
}

// proof has rows judged by encoding/json, some at a time, so that a long array
// needs no second copy in memory.
type proof struct{ text []byte }

const proofSize = 32 << 10

func (p *proof) add(row string) bool {
	if len(p.text) == 0 {
		p.text = append(p.text, '[')
	} else {
		p.text = append(p.text, ',')
	}
	p.text = append(p.text, row...)
	return len(p.text) < proofSize || p.close()
}

// close judges what was added since the last time.
func (p *proof) close() bool {
	if len(p.text) == 0 {
		return true
	}
	ok := json.Valid(append(p.text, ']'))
	p.text = p.text[:0]
	return ok
}
