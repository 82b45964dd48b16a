package pages

import (
	"strconv"
	"strings"
)

const (
	idLength  = 26 // of crypto/rand.Text: 130 random bits
	idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	// maxOffset is the length of the longest text that a cursor can point into.
	maxOffset = 1 << 30
	maxCursor = idLength + 2*len(".1073741824")
)

// Cursor writes a place in a kept text as text of at most 48 letters, digits and
// full stops: the id that [Store.Put] gave, and a position that [Cut] gave.
func Cursor(id string, at Position) string {
	cursor := id + "." + strconv.Itoa(at.At)
	if at.Until > 0 {
		cursor += "." + strconv.Itoa(at.Until)
	}
	return cursor
}

// ParseCursor reads what [Cursor] wrote, and nothing else. It does not know what
// is kept: the id may be gone, and the position is judged by [Cut]. The error is
// an *[Invalid].
func ParseCursor(cursor string) (id string, at Position, err error) {
	bad := &Invalid{"cursor " + quoted(cursor), "is not one of an answer", sendAsItWas}
	if len(cursor) > maxCursor {
		return "", Position{}, bad
	}
	id, offsets, _ := strings.Cut(cursor, ".")
	start, until, _ := strings.Cut(offsets, ".")
	at = Position{offset(start), offset(until)}
	if !isID(id) || Cursor(id, at) != cursor {
		return "", Position{}, bad
	}
	return id, at, nil
}

// offset reads a number. What is none gives one that is written differently.
func offset(s string) int {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxOffset {
		return 0
	}
	return int(n)
}

func isID(s string) bool {
	return len(s) == idLength && strings.Trim(s, idLetters) == ""
}
