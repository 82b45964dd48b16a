// Package difference holds what changes in the text of a file as lines: made where both
// texts are, cut down to what a person can read, and drawn where it is shown. No line is
// ever found again by a sign at its beginning, so that no text can pose as a change.
package difference

import (
	"bytes"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"vaultwicket/gateway/clean"
)

// Sign says what a line is.
type Sign string

// The signs of lines.
const (
	Same    Sign = " "
	Removed Sign = "-"
	Added   Sign = "+"
)

// Change is how the text of one file changes. Lines are those that are kept, in their
// order: what is not among them is counted only.
type Change struct {
	Added   int    `json:"added,omitempty"`   // lines, of all
	Removed int    `json:"removed,omitempty"` // lines, of all
	Lines   []Line `json:"lines,omitempty"`
	Binary  bool   `json:"binary,omitempty"` // one of the texts is none; it has no lines
}

// Line is a line of the text before or after, as it may be shown: see [clean.Text]. The
// return of a line end is a part of it where the texts do not agree about it.
type Line struct {
	Sign  Sign   `json:"sign"`
	Old   int    `json:"old,omitempty"` // its number before, from 1; 0 for an added line
	New   int    `json:"new,omitempty"` // its number after, from 1; 0 for a removed line
	Text  string `json:"text,omitempty"`
	NoEnd bool   `json:"noEnd,omitempty"` // the text ends with it and without a line end
	// From and To bound what the line does not share with the one in its place on the
	// other side, in bytes of Text.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Cuts are what was left out of Text, by its place.
	Cuts []Cut `json:"cuts,omitempty"`
}

// Cut says how many bytes of a line are missing at a place of what is left of it.
type Cut struct {
	At    int `json:"at"`
	Bytes int `json:"bytes"`
}

// Bounds of a change. What is longer is shown by its beginnings and ends.
const (
	maxCompared = 16 << 20 // bytes of the lines in which two texts differ, above which each replaces the other
	maxKept     = 1000     // lines at each end of what is removed or added in one place
	maxLines    = 8 * maxKept
	maxText     = 16 << 10 // bytes of a line
	context     = 3        // lines around a change
)

// Of returns how a text changes, with three lines around each place.
func Of(before, after []byte) Change {
	if isBinary(before) || isBinary(after) {
		return Change{Binary: true}
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(before, mark) && bytes.HasPrefix(after, mark) {
		before, after = before[len(mark):], after[len(mark):]
	}
	start, end := shared(before, after)
	m := maker{returns: !agree(before, after), old: 1, new: 1}
	m.edits(before, after, start, end)
	return m.Change
}

func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 }

// agree reports whether all lines of both texts end with a return, or none does.
func agree(before, after []byte) bool {
	returns := bytes.Count(before, []byte("\r\n")) + bytes.Count(after, []byte("\r\n"))
	return returns == 0 || returns == bytes.Count(before, newline)+bytes.Count(after, newline)
}

var newline = []byte("\n")

// shared returns how many bytes two texts begin and end with together, as whole lines.
func shared(a, b []byte) (start, end int) {
	const block = 4 << 10
	n := min(len(a), len(b))
	for start+block <= n && bytes.Equal(a[start:start+block], b[start:start+block]) {
		start += block
	}
	for start < n && a[start] == b[start] {
		start++
	}
	if start < len(a) || start < len(b) {
		start = bytes.LastIndexByte(a[:start], '\n') + 1
	}
	for end+block <= n-start && bytes.Equal(a[len(a)-end-block:len(a)-end], b[len(b)-end-block:len(b)-end]) {
		end += block
	}
	for end < n-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if start+end == len(a) && start+end == len(b) {
		return start, end
	}
	tail := a[len(a)-end:]
	if !endsLine(a[:len(a)-end]) || !endsLine(b[:len(b)-end]) { // the first of these lines is shared in part
		next := bytes.IndexByte(tail, '\n') + 1
		if next == 0 {
			return start, 0
		}
		end -= next
	}
	return start, end
}

func endsLine(text []byte) bool { return len(text) == 0 || text[len(text)-1] == '\n' }

// maker makes the lines of a change.
type maker struct {
	Change
	returns  bool // that end a line are shown
	old, new int  // the numbers of the lines that come next
}

// edits goes through the places in which two texts differ, given the bytes that they share
// at both ends.
func (m *maker) edits(before, after []byte, start, end int) {
	a, b := before[start:len(before)-end], after[start:len(after)-end]
	edits := []udiff.Edit{{End: len(a), New: string(b)}}
	switch {
	case len(a) == 0 && len(b) == 0:
		return
	case len(a) > 0 && len(b) > 0 && len(a)+len(b) <= maxCompared:
		edits = udiff.Lines(string(a), string(b))
	}
	done := 0 // bytes of before
	for i, e := range edits {
		e.Start, e.End = start+e.Start, start+e.End
		between := before[done:e.Start]
		n := number(between)
		if i > 0 {
			m.same(first(between, context))
			n = max(0, n-context)
		}
		m.old, m.new = m.old+max(0, n-context), m.new+max(0, n-context)
		m.same(last(between, min(n, context)))
		m.replace(before[e.Start:e.End], []byte(e.New))
		done = e.End
	}
	m.same(first(before[done:], context))
}

func (m *maker) same(text []byte) {
	for line := range bytes.Lines(text) {
		m.add(Line{Sign: Same, Old: m.old, New: m.new}, line)
		m.old, m.new = m.old+1, m.new+1
	}
}

// replace adds what takes the place of something: all that is removed before all that is
// added, and of much its beginning and end.
func (m *maker) replace(removed, added []byte) {
	r, a := number(removed), number(added)
	m.Removed, m.Added = m.Removed+r, m.Added+a
	from := len(m.Lines)
	m.side(Removed, removed, r)
	to := len(m.Lines)
	m.side(Added, added, a)
	for i := from; i < to; i++ {
		j := to + i - from
		if j < len(m.Lines) && m.Lines[i].Old-m.old == m.Lines[j].New-m.new {
			mark(&m.Lines[i], &m.Lines[j])
		}
	}
	m.old, m.new = m.old+r, m.new+a
}

// side adds the n lines of a text that is removed or added.
func (m *maker) side(sign Sign, text []byte, n int) {
	i := 0
	take := func(part []byte) {
		for line := range bytes.Lines(part) {
			l := Line{Sign: sign, Old: m.old + i}
			if sign == Added {
				l.Old, l.New = 0, m.new+i
			}
			m.add(l, line)
			i++
		}
	}
	if n <= 2*maxKept {
		take(text)
		return
	}
	take(first(text, maxKept))
	i = n - maxKept
	take(last(text, maxKept))
}

// add completes a line with its text, which is cleaned behind a sign: a byte order mark
// at its beginning is shown.
func (m *maker) add(l Line, text []byte) {
	if len(m.Lines) >= maxLines {
		return
	}
	text, ended := bytes.CutSuffix(text, newline)
	if !m.returns {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	l.Text, l.NoEnd = clean.String("-" + string(text))[1:], !ended
	l.To = len(l.Text)
	m.Lines = append(m.Lines, l)
}

// mark notes in which part two lines differ that are in the place of each other.
func mark(a, b *Line) {
	n := min(len(a.Text), len(b.Text))
	from, tail := 0, 0
	for from < n && a.Text[from] == b.Text[from] {
		from++
	}
	for tail < n-from && a.Text[len(a.Text)-1-tail] == b.Text[len(b.Text)-1-tail] {
		tail++
	}
	for _, l := range []*Line{a, b} {
		l.From, l.To = runeStart(l.Text, from), runeEnd(l.Text, len(l.Text)-tail)
	}
}

// runeStart returns the start of the character that a byte is in, runeEnd the end.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

func runeEnd(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// number returns how many lines a text has.
func number(text []byte) int {
	n := bytes.Count(text, newline)
	if !endsLine(text) {
		n++
	}
	return n
}

// first returns the first n lines of a text.
func first(text []byte, n int) []byte {
	end := 0
	for ; n > 0; n-- {
		next := bytes.IndexByte(text[end:], '\n')
		if next < 0 {
			return text
		}
		end += next + 1
	}
	return text[:end]
}

// last returns the last n lines of a text.
func last(text []byte, n int) []byte {
	start := len(text)
	for ; n > 0 && start > 0; n-- {
		start = bytes.LastIndexByte(text[:start-1], '\n') + 1
	}
	return text[start:]
}
