package clean

import (
	"unicode"
	"unicode/utf8"
)

const tabWidth = 8 // at most

// Rows breaks a line of clean text into rows of at most width columns, without parting a
// letter and its marks where that can be. An empty line is one row.
func Rows(line string, width int) (rows []string) {
	for len(rows) == 0 || line != "" {
		n := rowLength(line, width)
		rows = append(rows, line[:n])
		line = line[n:]
	}
	return rows
}

// rowLength returns how many bytes of s are one row.
func rowLength(s string, width int) int {
	border, columns, joined := 0, 0, false
	for i, r := range s {
		takes, starts := extent(r)
		if starts && !joined {
			border = i
		}
		if columns += takes; columns > width {
			if border == 0 { // more joined emoji than a row has room for
				return max(i, utf8.RuneLen(r))
			}
			return border
		}
		joined = r == zwj
	}
	return len(s)
}

// extent returns how many columns r takes at most, and whether a row may begin
// with it. Only the scripts before Hangul Jamo are surely narrow.
func extent(r rune) (columns int, starts bool) {
	switch {
	case r == '\t':
		return tabWidth, true
	case kindOf(r) != plain && r != blackFlag:
		return 0, false
	case unicode.Is(unicode.Mc, r), 0x1f3fb <= r && r <= 0x1f3ff: // spacing marks, skin tones
		return 2, false
	case r < 0x1100:
		return 1, true
	}
	return 2, true
}
