// Package difference has the difference of two texts of a file, as lines: made where both texts
// are, shortened to what people can read, and drawn by each surface. Nothing parses signs at the
// beginning of lines, so that no text can pose as a change.
package difference

import (
	"bytes"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/vaultwicket/vaultwicket/internal/sanitize"
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
// order; the others are only counted.
type Change struct {
	Added   int    `json:"added,omitempty"`   // lines, of all
	Removed int    `json:"removed,omitempty"` // lines, of all
	Lines   []Line `json:"lines,omitempty"`
	Binary  bool   `json:"binary,omitempty"` // one of the texts is none; it has no lines
}

// Line is a line of the text before or after, as it may be shown: see [sanitize.Text]. The
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
	// Cuts are the parts left out of Text, by their places.
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
	maxText     = 64 << 10 // bytes of a line
	context     = 3        // lines around a change

	// maxAround is how many bytes are kept of a line that stays as it is, where all that changes is kept whole.
	maxAround = 4 << 10
	// lineCost is what a line takes besides its text, in bytes, see [Change.Cost].
	lineCost = 64
)

// bounds are how much of a change is kept. The zero bounds keep every line that is removed or added, whole.
type bounds struct {
	kept  int // lines at each end of what is removed or added in one place
	lines int // in all
	text  int // bytes of a line
}

var shortened = bounds{kept: maxKept, lines: maxLines, text: maxText}

// Of returns how a text changes, with three lines around each place. Of a long change it has the beginnings and ends.
func Of(before, after []byte) Change { return of(before, after, -1) }

// Whole returns how a text changes, with every line that is removed or added in full, and three lines around each
// place. If that takes more than limit bytes, see [Change.Cost], it returns what [Of] does, which is not complete.
func Whole(before, after []byte, limit int) Change {
	c := of(before, after, max(0, limit))
	if c.Cost() > limit && c.IsComplete() { // characters that are shown as escapes take more than they have
		return Change{Added: c.Added, Removed: c.Removed}
	}
	return c
}

// IsComplete reports whether every line that is removed or added is among the lines, whole.
func (c Change) IsComplete() bool {
	if added, removed := c.Left(); added+removed > 0 || c.Binary {
		return false
	}
	for _, l := range c.Lines {
		if l.Sign != Same && len(l.Cuts) > 0 {
			return false
		}
	}
	return true
}

// Cost returns what the lines take, in bytes: their texts, and 64 for each.
func (c Change) Cost() (bytes int) {
	for _, l := range c.Lines {
		bytes += lineCost + len(l.Text)
	}
	return bytes
}

// of returns how a text changes: whole, if what changes takes at most limit bytes.
func of(before, after []byte, limit int) Change {
	for _, text := range [][]byte{before, after} {
		if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			return Change{Binary: true}
		}
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(before, mark) && bytes.HasPrefix(after, mark) {
		before = before[len(mark):]
		after = after[len(mark):]
	}
	start, end := shared(before, after)
	returns := bytes.Count(before, []byte("\r\n")) + bytes.Count(after, []byte("\r\n"))
	agree := returns == 0 || returns == bytes.Count(before, newline)+bytes.Count(after, newline) // on how lines end
	m := maker{bounds: shortened, returns: !agree, old: 1, new: 1}
	a := before[start : len(before)-end]
	b := after[start : len(after)-end]
	if len(a) == 0 && len(b) == 0 {
		return m.Change
	}
	edits := editsOf(a, b)
	cost := 0
	for _, e := range edits {
		cost += e.end - e.start + len(e.text) + lineCost*(number(a[e.start:e.end])+number(e.text))
	}
	if cost <= limit {
		m.bounds = bounds{}
	}
	done := 0 // bytes of before
	for i, e := range edits {
		e.start = start + e.start
		e.end = start + e.end
		between := before[done:e.start]
		n := number(between)
		if i > 0 {
			m.same(first(between, context))
			n = max(0, n-context)
		}
		m.old = m.old + max(0, n-context)
		m.new = m.new + max(0, n-context)
		m.same(last(between, min(n, context)))
		m.replace(before[e.start:e.end], e.text)
		done = e.end
	}
	m.same(first(before[done:], context))
	return m.Change
}

// edit replaces a part of a text, whole lines.
type edit struct {
	start, end int
	text       []byte
}

// editsOf returns what makes one text of another. Where there is no line to keep the text is replaced as it is, and
// not copied: it may be very long.
func editsOf(a, b []byte) []edit {
	hasNone := len(a) == 0 || len(b) == 0
	isLine := number(a) == 1 && number(b) == 1 // two lines that differ
	if hasNone || isLine || len(a)+len(b) > maxCompared {
		return []edit{{end: len(a), text: b}}
	}
	var edits []edit
	for _, e := range udiff.Lines(string(a), string(b)) {
		edits = append(edits, edit{e.Start, e.End, []byte(e.New)})
	}
	return edits
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
	bounds
	returns  bool // that end a line are shown
	old, new int  // the numbers of the lines that come next
}

func (m *maker) same(text []byte) {
	for line := range bytes.Lines(text) {
		m.add(Line{Sign: Same, Old: m.old, New: m.new}, line, 0, len(line))
		m.old = m.old + 1
		m.new = m.new + 1
	}
}

// replace adds what takes the place of something: all that is removed before all that is
// added, and of much its beginning and end.
func (m *maker) replace(removed, added []byte) {
	r := number(removed)
	a := number(added)
	m.Removed = m.Removed + r
	m.Added = m.Added + a
	before := ends(removed, r, m.kept)
	after := ends(added, a, m.kept)
	pair := func(i int) (from, tail int) { // of what differs in the lines at a place of both
		if i >= len(before) || i >= len(after) || before[i].at != after[i].at {
			return 0, 0
		}
		x := before[i].text
		y := after[i].text
		n := min(len(x), len(y))
		for from < n && x[from] == y[from] {
			from++
		}
		for tail < n-from && x[len(x)-1-tail] == y[len(y)-1-tail] {
			tail++
		}
		return from, tail
	}
	for i, l := range before {
		from, tail := pair(i)
		m.add(Line{Sign: Removed, Old: m.old + l.at}, l.text, from, len(l.text)-tail)
	}
	for i, l := range after {
		from, tail := pair(i)
		m.add(Line{Sign: Added, New: m.new + l.at}, l.text, from, len(l.text)-tail)
	}
	m.old = m.old + r
	m.new = m.new + a
}

// rawLine is a line of a text, with its number from 0.
type rawLine struct {
	at   int
	text []byte
}

// ends returns the lines of a text that are kept, of n: all, or the first and the last ones, most of each. With 0 all
// are kept.
func ends(text []byte, n, most int) (kept []rawLine) {
	at := 0
	take := func(part []byte) {
		for line := range bytes.Lines(part) {
			kept = append(kept, rawLine{at, line})
			at++
		}
	}
	if most == 0 || n <= 2*most {
		take(text)
		return kept
	}
	take(first(text, most))
	at = n - most
	take(last(text, most))
	return kept
}

// add completes a line with its text, of which a part differs from another line. The text is
// cleaned after a sign: a byte order mark at its beginning is shown. Of a very long one
// what differs is taken.
func (m *maker) add(l Line, text []byte, from, to int) {
	if m.lines > 0 && len(m.Lines) >= m.lines {
		return
	}
	limit := m.text
	switch {
	case limit > 0:
	case l.Sign == Same:
		limit = maxAround
	default:
		limit = max(1, len(text))
	}
	text, ended := bytes.CutSuffix(text, newline)
	if !m.returns {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	l.NoEnd = !ended
	to = min(to, len(text))
	from = runeStart(text, min(from, to))
	to = runeEnd(text, to)
	shown := func(part []byte) string { return sanitize.String("-" + string(part))[1:] }
	done := 0
	for _, p := range windows(text, from, to, limit) {
		if p[0] > done {
			l.Cuts = append(l.Cuts, Cut{len(l.Text), p[0] - done})
		}
		piece := text[p[0]:p[1]]
		if p[0] <= from && from <= p[1] {
			l.From = len(l.Text) + len(shown(piece[:from-p[0]]))
		}
		if p[0] <= to && to <= p[1] {
			l.To = len(l.Text) + len(shown(piece[:to-p[0]]))
		}
		l.Text += shown(piece)
		done = p[1]
	}
	if done < len(text) {
		l.Cuts = append(l.Cuts, Cut{len(l.Text), len(text) - done})
	}
	m.Lines = append(m.Lines, l)
}

// windows are the parts of a line that are shown of it, with at most limit bytes: the part
// that differs and what is around it, or the beginning and the end of that part.
func windows[T string | []byte](s T, from, to, limit int) (parts [][2]int) {
	if len(s) <= limit {
		return [][2]int{{0, len(s)}}
	}
	window := func(at, size int) [2]int {
		at = min(max(0, at), len(s)-size)
		return [2]int{runeEnd(s, at), runeStart(s, at+size)}
	}
	if to-from <= limit*3/4 {
		return [][2]int{window((from+to-limit)/2, limit)}
	}
	head := window(from-limit/8, limit/2)
	tail := window(to+limit/8-limit/2, limit/2)
	tail[0] = max(tail[0], head[1])
	return [][2]int{head, tail}
}

// runeStart returns the start of the character that a byte is in, runeEnd the end.
func runeStart[T string | []byte](s T, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

func runeEnd[T string | []byte](s T, i int) int {
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
