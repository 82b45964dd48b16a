// Package difference computes the difference between two texts of a file, as lines, and shortens it to what
// people can read. Each user interface draws the lines itself. No code parses signs at the beginning of
// lines, so that no text can imitate a change.
package difference

import (
	"bytes"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Sign is the kind of a line.
type Sign string

// The kinds of lines.
const (
	Same    Sign = " "
	Removed Sign = "-"
	Added   Sign = "+"
)

// Change is the difference between two texts of a file. Lines has the lines that are kept, in order; others are
// only counted.
type Change struct {
	Added   int    `json:"added,omitempty"`   // number of all added lines
	Removed int    `json:"removed,omitempty"` // number of all removed lines
	Lines   []Line `json:"lines,omitempty"`
	Binary  bool   `json:"binary,omitempty"` // one of the files is not text; there are no lines
}

// Line is a line of the old or the new text, in a form that may be shown, see [sanitize.Text]. The text includes
// the carriage return of a line end if the line ends of the texts differ.
type Line struct {
	Sign  Sign   `json:"sign"`
	Old   int    `json:"old,omitempty"` // line number in the old text, from 1; 0 for an added line
	New   int    `json:"new,omitempty"` // line number in the new text, from 1; 0 for a removed line
	Text  string `json:"text,omitempty"`
	NoEnd bool   `json:"noEnd,omitempty"` // the last line of a text that does not end with a line end
	// From and To are the range in bytes of Text that differs from the line in the same place of the
	// other text.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Cuts are the parts that are left out of Text, in order.
	Cuts []Cut `json:"cuts,omitempty"`
}

// Cut is a part that is left out of a line: Bytes bytes at the offset At in the text that is left.
type Cut struct {
	At    int `json:"at"`
	Bytes int `json:"bytes"`
}

// Bounds of a change. Of longer parts, the beginning and the end are kept.
const (
	maxCompared = 16 << 20 // bytes between the first and the last differing line; longer texts are not compared line by line
	maxKept     = 1000     // lines at each end of a removed or added part
	maxLines    = 8 * maxKept
	maxText     = 64 << 10 // bytes of a line
	context     = 3        // unchanged lines around a change

	// maxAround is how many bytes of an unchanged line are kept if changed lines are kept in full.
	maxAround = 4 << 10
	// lineCost is the cost of a line in bytes in addition to its text, see [Change.Cost].
	lineCost = 64
)

// bounds limit how much of a change is kept. The zero bounds keep all removed and added lines in full.
type bounds struct {
	kept  int // lines at each end of a removed or added part
	lines int // lines in all
	text  int // bytes of a line
}

// shortened are the bounds of a change that is not kept in full.
var shortened = bounds{kept: maxKept, lines: maxLines, text: maxText}

// Of returns the change between two texts, with three unchanged lines around each changed place. Of long parts it
// keeps the beginnings and ends.
func Of(before, after []byte) Change { return compute(before, after, -1) }

// Whole returns the change between two texts, with all removed and added lines in full and three unchanged lines
// around each changed place. If that costs more than limit bytes, see [Change.Cost], it returns an incomplete change.
func Whole(before, after []byte, limit int) Change {
	c := compute(before, after, max(0, limit))
	if c.Cost() > limit && c.IsComplete() { // characters that are shown as escapes take more bytes than they have
		return Change{Added: c.Added, Removed: c.Removed}
	}
	return c
}

// IsComplete reports whether all removed and added lines are in Lines, in full.
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

// Cost returns the cost of the lines in bytes: their texts, and 64 bytes for each line.
func (c Change) Cost() (bytes int) {
	for _, l := range c.Lines {
		bytes += lineCost + len(l.Text)
	}
	return bytes
}

// compute returns the change between two texts. The changed lines are kept in full if they cost at most limit bytes.
func compute(before, after []byte, limit int) Change {
	for _, text := range [][]byte{before, after} {
		if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			return Change{Binary: true}
		}
	}
	mark := []byte("\ufeff")
	if bytes.HasPrefix(before, mark) && bytes.HasPrefix(after, mark) {
		before = before[len(mark):]
		after = after[len(mark):]
	}
	start, end := commonEnds(before, after)
	returns := bytes.Count(before, []byte("\r\n")) + bytes.Count(after, []byte("\r\n"))
	isUniform := returns == 0 || returns == bytes.Count(before, newline)+bytes.Count(after, newline) // all line ends are the same
	m := maker{bounds: shortened, returns: !isUniform, old: 1, new: 1}
	a := before[start : len(before)-end]
	b := after[start : len(after)-end]
	if len(a) == 0 && len(b) == 0 {
		return m.Change
	}
	edits := editsOf(a, b)
	cost := 0
	for _, e := range edits {
		cost += e.end - e.start + len(e.text) + lineCost*(countLines(a[e.start:e.end])+countLines(e.text))
	}
	if cost <= limit {
		m.bounds = bounds{}
	}
	done := 0 // offset in before
	for i, e := range edits {
		e.start += start
		e.end += start
		between := before[done:e.start]
		n := countLines(between)
		if i > 0 {
			m.addSame(first(between, context))
			n = max(0, n-context)
		}
		m.old += max(0, n-context)
		m.new += max(0, n-context)
		m.addSame(last(between, min(n, context)))
		m.replace(before[e.start:e.end], e.text)
		done = e.end
	}
	m.addSame(first(before[done:], context))
	return m.Change
}

// edit replaces whole lines of a text.
type edit struct {
	start, end int
	text       []byte
}

// editsOf returns the edits that turn a into b. If no line can be kept, it returns a single edit with b itself, which
// is not copied because it may be very long.
func editsOf(a, b []byte) []edit {
	hasNone := len(a) == 0 || len(b) == 0
	isSingleLine := countLines(a) == 1 && countLines(b) == 1 // two lines that differ
	if hasNone || isSingleLine || len(a)+len(b) > maxCompared {
		return []edit{{end: len(a), text: b}}
	}
	var edits []edit
	for _, e := range udiff.Lines(string(a), string(b)) {
		edits = append(edits, edit{e.Start, e.End, []byte(e.New)})
	}
	return edits
}

var newline = []byte("\n")

// commonEnds returns how many bytes at the beginning and at the end two texts have in common, in whole lines.
func commonEnds(a, b []byte) (start, end int) {
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
	if !endsLine(a[:len(a)-end]) || !endsLine(b[:len(b)-end]) { // only a part of the first of these lines is common
		next := bytes.IndexByte(tail, '\n') + 1
		if next == 0 {
			return start, 0
		}
		end -= next
	}
	return start, end
}

// endsLine reports whether a text is empty or ends with a line end.
func endsLine(text []byte) bool { return len(text) == 0 || text[len(text)-1] == '\n' }

// maker builds the lines of a change.
type maker struct {
	Change
	bounds
	returns  bool // show carriage returns at line ends
	old, new int  // numbers of the next lines
}

// addSame adds unchanged lines.
func (m *maker) addSame(text []byte) {
	for line := range bytes.Lines(text) {
		m.add(Line{Sign: Same, Old: m.old, New: m.new}, line, 0, len(line))
		m.old++
		m.new++
	}
}

// replace adds the lines of a changed place: the removed lines, then the added lines, and of many lines the first
// and the last ones.
func (m *maker) replace(removed, added []byte) {
	r := countLines(removed)
	a := countLines(added)
	m.Removed += r
	m.Added += a
	before := endLines(removed, r, m.kept)
	after := endLines(added, a, m.kept)
	for i, l := range before {
		from, tail := commonParts(before, after, i)
		m.add(Line{Sign: Removed, Old: m.old + l.at}, l.text, from, len(l.text)-tail)
	}
	for i, l := range after {
		from, tail := commonParts(before, after, i)
		m.add(Line{Sign: Added, New: m.new + l.at}, l.text, from, len(l.text)-tail)
	}
	m.old += r
	m.new += a
}

// commonParts returns the lengths of the common beginning and end of two lines in the same place, those at index i.
func commonParts(before, after []rawLine, i int) (start, end int) {
	if i >= len(before) || i >= len(after) || before[i].at != after[i].at {
		return 0, 0
	}
	x := before[i].text
	y := after[i].text
	n := min(len(x), len(y))
	for start < n && x[start] == y[start] {
		start++
	}
	for end < n-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return start, end
}

// rawLine is a line of a text, with its number from 0.
type rawLine struct {
	at   int
	text []byte
}

// endLines returns the first and the last lines of a text with n lines, up to limit of each. It returns all lines if
// limit is 0.
func endLines(text []byte, n, limit int) (lines []rawLine) {
	at := 0
	add := func(part []byte) {
		for line := range bytes.Lines(part) {
			lines = append(lines, rawLine{at, line})
			at++
		}
	}
	if limit == 0 || n <= 2*limit {
		add(text)
		return lines
	}
	add(first(text, limit))
	at = n - limit
	add(last(text, limit))
	return lines
}

// add sets the text of a line and adds the line. The range from from to to of the text differs from the line in the
// same place of the other text; of a very long line, that part is kept. The text is sanitized after a sign, so that a
// byte order mark at its beginning is shown.
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
	text, hasEnd := bytes.CutSuffix(text, newline)
	if !m.returns {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	l.NoEnd = !hasEnd
	to = min(to, len(text))
	from = runeStart(text, min(from, to))
	to = runeEnd(text, to)
	sanitized := func(part []byte) string { return sanitize.String("-" + string(part))[1:] }
	done := 0
	for _, p := range windows(text, from, to, limit) {
		if p[0] > done {
			l.Cuts = append(l.Cuts, Cut{len(l.Text), p[0] - done})
		}
		piece := text[p[0]:p[1]]
		if p[0] <= from && from <= p[1] {
			l.From = len(l.Text) + len(sanitized(piece[:from-p[0]]))
		}
		if p[0] <= to && to <= p[1] {
			l.To = len(l.Text) + len(sanitized(piece[:to-p[0]]))
		}
		l.Text += sanitized(piece)
		done = p[1]
	}
	if done < len(text) {
		l.Cuts = append(l.Cuts, Cut{len(l.Text), len(text) - done})
	}
	m.Lines = append(m.Lines, l)
}

// windows returns the parts of a line that are shown, with up to limit bytes: the part that differs, with text
// around it, or the beginning and the end of that part.
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

// runeStart returns the offset of the beginning of the character that an offset is in.
func runeStart[T string | []byte](s T, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// runeEnd returns the offset of the end of the character that an offset is in.
func runeEnd[T string | []byte](s T, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// countLines returns the number of lines of a text.
func countLines(text []byte) int {
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
