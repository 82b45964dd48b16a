package query

import (
	"bytes"
	"unicode/utf8"
)

// Line is a line of a note in which something was found.
type Line struct {
	Line int // from 1
	// Text is the line, or of one that is longer than [maxLineText] an excerpt
	// around the first place.
	Text string
}

const (
	// maxLineText bounds the text of a line in bytes: more than a long paragraph.
	// Some notes are one line of megabytes.
	maxLineText = 1 << 10
	ellipsis    = "…" // stands for what an excerpt leaves out
)

// linesAt returns the lines in which the places are.
func linesAt(text []byte, places []int) []Line {
	lines := []Line{} // not nil: the note was found
	number, end := 0, -1
	for _, at := range places {
		if at <= end {
			continue
		}
		number += 1 + bytes.Count(text[end+1:at], []byte("\n"))
		start := 1 + bytes.LastIndexByte(text[:at], '\n')
		end = at + lineLength(text[at:])
		line := bytes.TrimSuffix(text[start:end], []byte("\r"))
		lines = append(lines, Line{Line: number, Text: excerpt(line, at-start)})
	}
	return lines
}

// excerpt returns a line, or of a long one whole characters around a place, which
// has a quarter of the text before it.
func excerpt(line []byte, at int) string {
	if len(line) <= maxLineText {
		return string(line)
	}
	start := max(0, min(at-maxLineText/4, len(line)-maxLineText))
	end := start + maxLineText
	before, after := "", ""
	if start > 0 {
		start, before = nextRune(line, start), ellipsis
	}
	if end < len(line) {
		end, after = nextRune(line, end-utf8.UTFMax), ellipsis
	}
	return before + string(line[start:end]) + after
}

// nextRune returns where the first character begins at or behind an offset. What
// is no character begins anywhere.
func nextRune(text []byte, at int) int {
	for n := 0; n < utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); n++ {
		at++
	}
	return at
}
