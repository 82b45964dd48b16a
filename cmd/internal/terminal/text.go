package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// longAgo is when a date says more than a number of days.
const longAgo = 30 * 24 * time.Hour

// Time returns when something happened: "3 min ago" on a terminal, a date if that is long ago or
// in the future, and the exact time (RFC 3339, UTC) everywhere else or with --exact-times.
func (s Screen) Time(t time.Time) string {
	if s.exact || !s.IsTerminal() {
		return t.UTC().Format(time.RFC3339)
	}
	switch age := s.now.Sub(t); {
	case age < -time.Minute: // a clock was put back
		return t.UTC().Format(time.RFC3339)
	case age < 5*time.Second:
		return "just now"
	case age > longAgo:
		return t.UTC().Format(time.DateOnly)
	default:
		return Span(age) + " ago"
	}
}

// Span returns a length of time in one unit, rounded down: "40 s", "3 min", "5 h", "2 d".
// It is never below zero.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

// columns counts the columns that text takes on a terminal. A character whose width
// depends on the terminal counts as narrow, whatever the locale.
var columns = displaywidth.Options{}

// ellipsis replaces text that was cut.
const ellipsis = "…"

// cut returns text in at most width columns. It cuts between characters as a reader sees
// them, and so never within one.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return columns.TruncateString(text, width, ellipsis)
}

// pad returns text padded with spaces to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns.String(text)))
}

// Wrap breaks text into lines of at most width columns, at blanks where there are some. A
// longer word is broken between two characters. Line breaks of the text are kept.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(line, max(width, 1))...)
	}
	return lines
}

func wrapLine(text string, width int) (lines []string) {
	line := ""
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line = word
		case columns.String(line)+1+columns.String(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
		for columns.String(line) > width {
			// The characters at the start of text that fit, at least one.
			end, used := 0, 0
			for g := columns.StringGraphemes(line); g.Next(); {
				if used += g.Width(); used > width && end > 0 {
					break
				}
				end += len(g.Value())
			}
			head := line[:end]
			if head == line {
				break // one character is wider than the line
			}
			lines, line = append(lines, head), line[len(head):]
		}
	}
	return append(lines, line)
}
