package ui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
)

// fileBlock is what changes in one file, as a question or a change has it.
type fileBlock struct {
	Verb, From, Path string
	Rows             []diffRow
	Added, Removed   int // lines, also those that are not among the rows
}

// diffRow is a line of a question: of a text before or after, or of this program. Of a changed line,
// Marked is what differs from the one in its place.
type diffRow struct {
	Kind                  string // added, removed, same, quoted or gap; "" for words of this program
	Before, Marked, After string
	More                  bool // it goes on a line of which a part is left out
	NoEnd                 bool // the text ends with it, without a newline
	Old, New              int  // the numbers of the line before and after, 0 for none
}

// Sign is what is drawn before a row.
func (r diffRow) Sign() string { return map[string]string{"added": "+", "removed": "−"}[r.Kind] }

// kinds are the classes of the kinds of lines that are not of this program.
var kinds = map[consent.LineKind]string{
	consent.Quoted: "quoted", consent.Same: "same", consent.Removed: "removed", consent.Added: "added",
}

const (
	// shownRows is how many rows of a file are seen before it is opened; a change begins with its
	// changed lines and a few around them.
	shownRows = 24
	noEnd     = "(without a newline at its end)"
)

// Head returns the rows that are always seen, and Rest those that are folded.
func (b fileBlock) Head() []diffRow { return b.Rows[:b.fold()] }

// Rest returns the rows that are folded.
func (b fileBlock) Rest() []diffRow { return b.Rows[b.fold():] }

func (b fileBlock) fold() int {
	if len(b.Rows) <= shownRows*3/2 {
		return len(b.Rows)
	}
	return shownRows
}

// Words of this program in a question. No text of a note or a value is in a line of that kind but in
// quotes, which it cannot end.
var (
	fileLine = pattern(`^(changes|makes|removes|moves): "(.*?)"(?: to "(.*)")?$`)
	leftLine = pattern(`^… left out: (\d+) lines? added, (\d+) removed$`)
	// placeLine is before a part of a file. Its rows have their numbers.
	placeLine = pattern(`^at line \d+:$`)
)

// blocksOf returns what a question says before the first file, and the files.
func blocksOf(lines []consent.Line) (intro []diffRow, files []fileBlock) {
	for _, l := range lines {
		if l.Kind == consent.Words {
			if m := fileLine().FindStringSubmatch(strings.ReplaceAll(l.Text, `\"`, "\x00")); m != nil {
				b := fileBlock{Verb: m[1], Path: strings.ReplaceAll(m[2], "\x00", `"`)}
				if m[1] == "moves" {
					b.From, b.Path = b.Path, strings.ReplaceAll(m[3], "\x00", `"`)
				}
				files = append(files, b)
				continue
			}
		}
		row := diffRow{Kind: kinds[l.Kind], Before: l.Text, More: l.More, Old: l.Old, New: l.New}
		if 0 <= l.From && l.From <= l.To && l.To <= len(l.Text) {
			row.mark(l.From, l.To)
		}
		if len(files) == 0 {
			intro = append(intro, row)
			continue
		}
		b := &files[len(files)-1]
		switch {
		case l.Kind == consent.Added && !l.More:
			b.Added++
		case l.Kind == consent.Removed && !l.More:
			b.Removed++
		case l.Kind == consent.Words && placeLine().MatchString(l.Text):
			if row = (diffRow{Kind: "gap", Before: "⋯"}); len(b.Rows) == 0 {
				continue
			}
		case l.Kind == consent.Words:
			if m := leftLine().FindStringSubmatch(l.Text); m != nil {
				added, _ := strconv.Atoi(m[1]) // they are digits
				removed, _ := strconv.Atoi(m[2])
				b.Added, b.Removed = b.Added+added, b.Removed+removed
			}
			if l.Text == noEnd && len(b.Rows) > 0 {
				b.Rows[len(b.Rows)-1].NoEnd = true
				continue
			}
		}
		b.Rows = append(b.Rows, row)
	}
	return intro, files
}

// mark marks the words with a part of the text, unless that is all of it.
func (r *diffRow) mark(from, to int) {
	text := r.Before
	inWord := func(at int) bool { // between two letters or digits
		if at <= 0 || at >= len(text) {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		is := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
		return is(before) && is(after) || !utf8.RuneStart(text[at])
	}
	for inWord(from) {
		from--
	}
	for inWord(to) {
		to++
	}
	if from < to && to-from < len(text) {
		r.Before, r.Marked, r.After = text[:from], text[from:to], text[to:]
	}
}
