package clean

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	bar      = "│ "
	rowWidth = 76 // columns behind the bar: a row of text fits a terminal of 80
	tabWidth = 8  // at most
)

// Excerpt shows the beginning of text to a person who is asked about it: at most
// maxLines rows of at most maxBytes together, cleaned by [Text]. Each row begins
// with a bar and a long line is broken before a terminal would break it, so that
// nothing in the text can pose as a line of ours. A last row without a bar
// counts what was left out. Every row ends with a newline; an empty text has none.
func Excerpt(text string, maxLines, maxBytes int) string {
	rest, _ := Text(text)
	var out strings.Builder
	for rows := 0; rest != "" && rows < maxLines && maxBytes > 0; rows++ {
		n := rowLength(rest, maxBytes)
		if n == 0 && rest[0] != '\n' {
			break
		}
		out.WriteString(bar + strings.TrimSuffix(rest[:n], "\r") + "\n")
		before := len(rest)
		rest = strings.TrimPrefix(rest[n:], "\n")
		maxBytes -= before - len(rest)
	}
	if rest != "" {
		out.WriteString(leftOut(rest))
	}
	return out.String()
}

// rowLength returns how much of s is one row: up to a newline, rowWidth columns
// or maxBytes, without parting a letter and its marks where that can be.
func rowLength(s string, maxBytes int) int {
	border, width, joined := 0, 0, false
	for i, r := range s {
		if r == '\n' {
			return i
		}
		columns, starts := extent(r)
		if starts && !joined {
			border = i
		}
		if i+utf8.RuneLen(r) > maxBytes {
			return border
		}
		if width += columns; width > rowWidth {
			if border == 0 { // more joined emoji than a row holds
				return i
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

func leftOut(rest string) string {
	lines := strings.Count(rest, "\n")
	if !strings.HasSuffix(rest, "\n") {
		lines++
	}
	return fmt.Sprintf("… left out: %s, %s\n", counted(lines, "line"), counted(len(rest), "byte"))
}
