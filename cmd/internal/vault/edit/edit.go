// Package edit changes the text of a note: its end or start, a section, a block, some
// lines, a text that occurs once, or the mark of a task.
//
// It works on bytes, never modifies its arguments, and keeps every byte outside the edited
// part: line ends, a byte order mark, broken UTF-8, the break at the end or its absence.
// New text arrives byte for byte, too, its line ends included ([KeepLineEnds] converts
// them); only the separators around it get the line ends of the note. An edit that would
// change how the rest of the note is read is refused with the line and the reason, and so
// is one whose target is ambiguous.
package edit

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Candidate is a line that may have been meant.
type Candidate struct {
	Line int
	Text string
}

// maxCandidates bounds the lines that an error lists: the reader picks one.
const maxCandidates = 10

// maxNearest is how many lines near a missing one are named: a wrong count is off by
// little.
const maxNearest = 4

// NotFound says that a note has no such part.
type NotFound struct {
	What, Wanted string
	Near         []Candidate // lines that contain a piece of it
}

func (n *NotFound) Error() string { return fmt.Sprintf("%s %q not found", n.What, n.Wanted) }

// Ambiguous says that several parts of a note match.
type Ambiguous struct {
	What, Wanted string
	Count        int
	Candidates   []Candidate // the first of them
}

func (a *Ambiguous) Error() string {
	return fmt.Sprintf("%s %q is there %d times: %s", a.What, a.Wanted, a.Count, lineNumbers(a.Candidates))
}

// add notes one more candidate, as long as there is room.
func (a *Ambiguous) add(line int, text string) {
	a.Count++
	if len(a.Candidates) < maxCandidates {
		a.Candidates = append(a.Candidates, Candidate{line, text})
	}
}

// Refusal says why an edit was not made, and where it could be.
type Refusal struct {
	Line    int
	Reason  string
	Instead []Candidate
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("line %d: %s", r.Line, r.Reason)
	if len(r.Instead) > 0 {
		text += "; possible: " + lineNumbers(r.Instead)
	}
	return text
}

func lineNumbers(all []Candidate) string {
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprintf("line %d", c.Line))
	}
	return strings.Join(out, ", ")
}

// doc is a note that is edited.
type doc struct {
	text  []byte
	found markdown.Note
}

func read(text []byte) *doc { return &doc{text, markdown.Scan(text)} }

// splice returns the text with other bytes in place of a span.
func (d *doc) splice(at markdown.Span, content string) []byte {
	out := make([]byte, 0, len(d.text)+len(content)-(at.End-at.Start))
	out = append(out, d.text[:at.Start]...)
	out = append(out, content...)
	return append(out, d.text[at.End:]...)
}

// line returns the line number of the offset at.
func (d *doc) line(at int) int { return 1 + bytes.Count(d.text[:at], newline) }

// lineAt returns the line that begins at at, without its break.
func (d *doc) lineAt(at int) string {
	line, _, _ := bytes.Cut(d.text[at:], newline)
	return string(bytes.TrimSuffix(line, []byte("\r")))
}

// lineBefore returns the line that ends before at, where a line begins, and where it
// begins itself; ok is false for the first line of the body.
func (d *doc) lineBefore(at int) (line string, start int, ok bool) {
	if at <= d.found.Body {
		return "", at, false
	}
	end := at
	if d.text[end-1] == '\n' {
		end--
	}
	start = max(bytes.LastIndexByte(d.text[:end], '\n')+1, d.found.Body)
	return d.lineAt(start), start, true
}

// next returns where the line after that of at begins.
func (d *doc) next(at int) int {
	n := bytes.IndexByte(d.text[at:], '\n')
	if n < 0 {
		return len(d.text)
	}
	return at + n + 1
}

// startOf returns where a line begins, -1 if the text has fewer.
func (d *doc) startOf(line int) int {
	at := 0
	for n := 1; n < line; n++ {
		next := d.next(at)
		if next == len(d.text) && !endsLine(d.text) || next == at {
			return -1
		}
		at = next
	}
	return at
}

// lineEnd returns the break of the lines around at: of the one above, otherwise of the one
// below.
func (d *doc) lineEnd(at int) string {
	n := bytes.LastIndexByte(d.text[:at], '\n')
	if n < 0 {
		n = bytes.IndexByte(d.text, '\n')
	}
	if n > 0 && d.text[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withEnds returns a text with the same break after every line: not to be written, but to
// search a note that has other line ends.
func withEnds(text, end string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", end)
}

// linesOf returns the lines of content without their breaks. A break at the end begins no
// line.
func linesOf(content string) []string {
	return strings.Split(strings.TrimSuffix(withEnds(content, "\n"), "\n"), "\n")
}

// keepsFront reports whether an edited note has the same properties.
func (d *doc) keepsFront(edited *doc) bool {
	front := edited.found.Frontmatter
	if front != d.found.Frontmatter || (edited.found.Body > 0) != (d.found.Body > 0) {
		return false
	}
	// The line that ends the block may have got a break.
	return bytes.Equal(edited.text[:front.End], d.text[:front.End])
}

// keeps reports whether everything that the index has of the note outside a span is the
// same when the span is size bytes long.
func (d *doc) keeps(edited *doc, at markdown.Span, size int) bool {
	now := markdown.Span{Start: at.Start, End: at.Start + size}
	return slices.Equal(d.facts(at), edited.facts(now))
}

// fact is one thing that the index has, and its place, counted from the start of the
// note or, after the edit, from its end.
type fact struct {
	what, text string
	after      bool
	at         int
}

// facts lists what is outside a span. Of what overlaps it only the name counts, for an edit
// changes the rest.
func (d *doc) facts(edit markdown.Span) (all []fact) {
	add := func(what, name, said string, start, end int) {
		switch {
		case end <= edit.Start:
			all = append(all, fact{what, name + " " + said, false, start})
		case start >= edit.End:
			all = append(all, fact{what, name + " " + said, true, len(d.text) - start})
		case start < edit.Start || end > edit.End:
			all = append(all, fact{what + " across", name, false, start})
		}
	}
	for _, h := range d.found.Headings {
		add("heading", "", string(rune('0'+h.Level))+h.Text, h.At, h.At+1)
	}
	for _, l := range d.found.Links {
		add("link", l.Target, "", l.Span.Start, l.Span.End)
	}
	for _, t := range d.found.Tags {
		add("tag", t.Text, "", t.At, t.At+len(t.Text))
	}
	for _, t := range d.found.Tasks {
		add("task", "", t.Text, t.MarkAt.Start, t.MarkAt.End)
	}
	for _, b := range d.found.Blocks {
		add("block", b.ID, string(d.text[b.Span.Start:b.Span.End]), b.Span.Start, b.Span.End)
	}
	return all
}

// LineCounts are how many lines a change adds and removes. A line that is changed is
// removed and added.
type LineCounts struct{ Added, Removed int }

// maxEdits bounds the exact count, whose time grows with its square. Beyond it, lines that
// only move count as removed no more often than is certain.
const maxEdits = 2000

// maxLines bounds the memory: beyond it, every line between the first and the last
// difference counts.
const maxLines = 1 << 20

// CountLines returns the counts of the change from one text to another. It keeps no
// difference: texts of any size take little memory and a bounded time.
func CountLines(before, after []byte) LineCounts {
	const block = 4 << 10
	n, same := min(len(before), len(after)), 0
	for same+block <= n && bytes.Equal(before[same:same+block], after[same:same+block]) {
		same += block
	}
	for same < n && before[same] == after[same] {
		same++
	}
	start := bytes.LastIndexByte(before[:same], '\n') + 1
	before, after = before[start:], after[start:]
	if n, m := NumberOfLines(before), NumberOfLines(after); n == 0 || m == 0 || n+m > maxLines {
		return LineCounts{m, n}
	}
	seed := maphash.MakeSeed()
	a, b := lineHashes(before, seed), lineHashes(after, seed)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return LineCounts{len(b), len(a)}
	}
	edits, exact := lineDistance(a, b)
	if exact {
		return LineCounts{Added: (edits + len(b) - len(a)) / 2, Removed: (edits + len(a) - len(b)) / 2}
	}
	gone, come := missing(a, b), missing(b, a)
	return LineCounts{Added: max(come, (edits+len(b)-len(a))/2), Removed: max(gone, (edits+len(a)-len(b))/2)}
}

// NumberOfLines returns how many lines a text has.
func NumberOfLines(text []byte) int {
	n := bytes.Count(text, newline)
	if len(text) > 0 && !endsLine(text) {
		n++
	}
	return n
}

var newline = []byte("\n")

// Body returns the text of a note after its frontmatter, if it has one. Text after a byte
// order mark has none.
func Body(text []byte) []byte {
	first, rest, _ := bytes.Cut(text, newline)
	if !isFence(first) {
		return text
	}
	for len(rest) > 0 {
		var line []byte
		if line, rest, _ = bytes.Cut(rest, newline); isFence(line) {
			return rest
		}
	}
	return text
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// lineHashes returns the lines of a text as hashes. A carriage return at the end of a line
// does not count.
func lineHashes(text []byte, seed maphash.Seed) []uint64 {
	list := make([]uint64, 0, NumberOfLines(text))
	for line := range bytes.Lines(text) {
		list = append(list, maphash.Bytes(seed, bytes.TrimRight(line, "\r\n")))
	}
	return list
}

// lineDistance returns the least number of lines to remove and to add on the way from a
// to b, by the algorithm of Myers. It is at most maxEdits, and not exact then.
func lineDistance(a, b []uint64) (edits int, exact bool) {
	limit := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*limit+2) // how far in a, by diagonal
	at := func(k int) *int { return &reach[k+limit] }
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && *at(k - 1) < *at(k + 1):
				x = *at(k + 1)
			default:
				x = *at(k - 1) + 1
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			*at(k) = x
			if x >= len(a) && x-k >= len(b) {
				return d, true
			}
		}
	}
	return limit, false
}

// missing returns how many lines of a are not in b, counted with their multiplicity.
func missing(a, b []uint64) (n int) {
	there := make(map[uint64]int, len(b))
	for _, line := range b {
		there[line]++
	}
	for _, line := range a {
		if there[line] == 0 {
			n++
			continue
		}
		there[line]--
	}
	return n
}

// Target names a part of a note: [Heading], [Block] or [Lines]. The zero Target names
// nothing and is refused.
type Target struct {
	kind     targetKind
	name     string
	from, to int
}

type targetKind uint8

const (
	noTarget targetKind = iota
	heading
	block
	someLines
)

// Heading is the section of a heading, sub-headings included; "A#B" is B below A. Case and
// punctuation do not count. Headings in code are none.
func Heading(text string) Target { return Target{kind: heading, name: text} }

// Block is the block with an id, with or without its mark.
func Block(id string) Target { return Target{kind: block, name: strings.TrimPrefix(id, "^")} }

// Lines are the lines from the one to the other, counted from 1. The last may be beyond
// the end.
func Lines(from, to int) Target { return Target{kind: someLines, from: from, to: to} }

// span returns the bytes of a part: whole lines of a section and of lines, the block alone
// of a block.
func (d *doc) span(t Target) (markdown.Span, error) {
	switch t.kind {
	case heading:
		i, err := FindHeading(d.found, t.name)
		if err != nil {
			return markdown.Span{}, err
		}
		return d.found.Section(i), nil
	case block:
		all := &Ambiguous{What: "block", Wanted: t.name}
		for _, b := range d.found.Blocks {
			if strings.EqualFold(b.ID, t.name) {
				all.add(b.Line, d.lineAt(d.startOf(b.Line)))
			}
		}
		switch all.Count {
		case 0:
			return markdown.Span{}, d.noBlock(t.name)
		case 1:
			b, _ := d.found.Block(t.name)
			return b.Span, nil
		}
		return markdown.Span{}, all
	case someLines:
		// Find whole lines, which must be some of the body.
		start := d.startOf(t.from)
		switch {
		case t.from < 1 || t.to < t.from:
			return markdown.Span{}, &NotFound{What: "line", Wanted: fmt.Sprintf("%d-%d", t.from, t.to)}
		case start < 0 || start == len(d.text) && (t.from > 1 || len(d.text) > 0):
			return markdown.Span{}, &NotFound{What: "line", Wanted: strconv.Itoa(t.from)}
		case start < d.found.Body:
			return markdown.Span{}, &Refusal{Line: t.from, Reason: "the line is one of the properties"}
		}
		end := d.startOf(t.to + 1)
		if end < 0 {
			end = len(d.text)
		}
		return markdown.Span{Start: start, End: end}, nil
	}
	return markdown.Span{}, &Refusal{Line: 1, Reason: "no part of the note is named"}
}

// noBlock explains why there is no block with an id: the app has none within a table.
func (d *doc) noBlock(id string) error {
	isID := func(word string) bool {
		name, ok := strings.CutPrefix(word, "^")
		return ok && strings.EqualFold(name, id)
	}
	for at := d.found.Body; at < len(d.text); at = d.next(at) {
		row := d.lineAt(at)
		if kindOf(row) == tableRow && slices.ContainsFunc(strings.Fields(strings.ReplaceAll(row, "|", " ")), isID) && !d.isRaw(at) {
			return &Refusal{
				Line: d.line(at), Reason: fmt.Sprintf("block id %q is in the row of a table, where it names nothing", id),
				Instead: d.around(at, tableRow),
			}
		}
	}
	return &NotFound{What: "block", Wanted: id}
}

// FindHeading returns the index of the one heading of a note that is meant; "A#B" is B
// below A. Case and punctuation do not count. The errors are *[NotFound] and *[Ambiguous].
func FindHeading(found markdown.Note, wanted string) (int, error) {
	chain := strings.Split(strings.TrimLeft(wanted, "#"), "#")
	all, last := &Ambiguous{What: "heading", Wanted: wanted}, 0
	for i, h := range found.Headings {
		if chainOf(found.Headings[:i+1], chain) != nil {
			all.add(h.Line, h.Text)
			last = i
		}
	}
	switch all.Count {
	case 0:
		return 0, &NotFound{What: "heading", Wanted: wanted}
	case 1:
		return last, nil
	}
	return 0, all
}

// LinkedHeadings returns the indices of the headings that a link to a part of a note
// names, one for each part of subpath: of several matches the first, as in the app. It
// returns nil if there is none, and for a link to a block.
func LinkedHeadings(found markdown.Note, subpath string) []int {
	chain := strings.Split(strings.TrimLeft(subpath, "#"), "#")
	if strings.HasPrefix(chain[len(chain)-1], "^") {
		return nil
	}
	for i := range found.Headings {
		if places := chainOf(found.Headings[:i+1], chain); places != nil {
			return places
		}
	}
	return nil
}

// chainOf returns the indices of a chain of headings of which the last heading is the
// last, and the others are above it in the outline, from the bottom up; headings between
// may be left out. It is nil if there is no such chain.
func chainOf(headings []markdown.Heading, chain []string) []int {
	last, at := len(headings)-1, len(chain)-1
	if plain(headings[last].Text) != plain(chain[at]) {
		return nil
	}
	places := make([]int, len(chain))
	places[at] = last
	level := headings[last].Level
	for i := last - 1; i >= 0 && at > 0; i-- {
		if headings[i].Level >= level {
			continue
		}
		level = headings[i].Level
		if plain(headings[i].Text) == plain(chain[at-1]) {
			at--
			places[at] = i
		}
	}
	if at > 0 {
		return nil
	}
	return places
}

// plain is a heading as links compare it: case, punctuation and the width of blanks do not
// count.
func plain(s string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(letters), " ")
}

// SameHeading reports whether a link takes two headings for one: case and punctuation do
// not count.
func SameHeading(a, b string) bool { return plain(a) == plain(b) }

// RenameHeading returns the note with another text for the heading at an index. Its marks,
// the breaks around it and a block id after it stay. A text with which there would be
// another heading is a *[Refusal].
func RenameHeading(text []byte, place int, to string) ([]byte, error) {
	d := read(text)
	h := d.found.Headings[place]
	refusal := &Refusal{Line: h.Line, Reason: fmt.Sprintf("the heading cannot be %q", to)}
	to = strings.TrimSpace(to)
	start := strings.Index(d.lineAt(h.At), h.Text)
	if to == "" || strings.ContainsAny(to, "\r\n") || h.Text == "" || start < 0 {
		return nil, refusal
	}
	const idBytes = "abcdefghijklmnopqrstuvwxyz0123456789-"
	wanted := to
	if at := strings.LastIndex(h.Text, " ^"); at >= 0 && at+2 < len(h.Text) && strings.Trim(strings.ToLower(h.Text[at+2:]), idBytes) == "" {
		wanted += h.Text[at:]
	}
	edited := read(d.splice(markdown.Span{Start: h.At + start, End: h.At + start + len(h.Text)}, wanted))
	now := edited.found
	if len(now.Headings) != len(d.found.Headings) || len(now.Blocks) != len(d.found.Blocks) || !d.keepsFront(edited) {
		return nil, refusal
	}
	for i, other := range now.Headings {
		old := d.found.Headings[i]
		if i == place {
			old.Text = wanted
		}
		if other.Text != old.Text || other.Level != old.Level || other.Line != old.Line {
			return nil, refusal
		}
	}
	return edited.text, nil
}

// headingAt returns the index of the heading that begins at at, -1 if there is none.
func (d *doc) headingAt(at int) int {
	for i, h := range d.found.Headings {
		if h.At == at {
			return i
		}
	}
	return -1
}

// belowHeading returns where the text below a heading begins. A setext heading has several
// lines.
func (d *doc) belowHeading(h markdown.Heading) int {
	at := d.next(h.At)
	if d.text[h.At] == '#' {
		return at
	}
	for at < len(d.text) {
		line := strings.TrimSpace(d.lineAt(at))
		at = d.next(at)
		if line != "" && strings.Trim(line, line[:1]) == "" && (line[0] == '=' || line[0] == '-') {
			break
		}
	}
	return at
}

// checkBelow refuses content that would end the section of a heading.
func checkBelow(h markdown.Heading, content string) error {
	for _, inner := range markdown.Scan([]byte(content)).Headings {
		if inner.Level <= h.Level {
			return &Refusal{Line: h.Line, Reason: fmt.Sprintf("heading %q of the text would end the section of %q", inner.Text, h.Text)}
		}
	}
	return nil
}
