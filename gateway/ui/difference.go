package ui

import (
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
)

// fileBlock is what changes in one file, as a question or a change has it. With an Act it is what one of several
// operations does, and its rows are what is said of it.
type fileBlock struct {
	Act              string
	Verb, From, Path string
	Rows             []diffRow
	Added, Removed   int    // lines, also those that are not among the rows
	Size             int64  // of a file that is deleted, in bytes
	Hash             string // of it, "" where it is not known
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
func (r diffRow) Sign() string {
	switch r.Kind {
	case "added":
		return "+"
	case "removed":
		return "−"
	}
	return ""
}

// kinds are the classes of the kinds of lines that are not of this program.
var kinds = map[consent.LineKind]string{
	consent.Quoted: "quoted", consent.Same: "same", consent.Removed: "removed", consent.Added: "added",
}

const (
	// shownRows is how many rows of a file are seen before it is opened; a change begins with its
	// changed lines and a few around them.
	shownRows = 24
)

// Bytes is the size of a file that is deleted.
func (b fileBlock) Bytes() int { return int(b.Size) }

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

// blocksOf returns the first line of a question, what it says before the first file, and the files.
func blocksOf(lines []consent.Line) (act string, intro []diffRow, files []fileBlock) {
	for i, l := range lines {
		switch {
		case l.Kind == consent.Act && i == 0:
			act = l.Text
			continue
		case l.Kind == consent.Act:
			files = append(files, fileBlock{Act: l.Text})
			continue
		case l.Kind == consent.File:
			files = append(
				files,
				fileBlock{
					Verb:    l.Text,
					From:    l.Source,
					Path:    l.Path,
					Added:   l.Added,
					Removed: l.Removed,
					Size:    l.Size,
					Hash:    l.Hash,
				},
			)
			continue
		}
		row := diffRow{Kind: kinds[l.Kind], Before: l.Text, More: l.More, NoEnd: l.NoEnd, Old: l.Old, New: l.New}
		if 0 <= l.From && l.From <= l.To && l.To <= len(l.Text) {
			row.mark(l.From, l.To)
		}
		if len(files) == 0 {
			intro = append(intro, row)
			continue
		}
		b := &files[len(files)-1]
		if l.Kind == consent.Place {
			if row = (diffRow{Kind: "gap", Before: "⋯"}); len(b.Rows) == 0 {
				continue
			}
		}
		b.Rows = append(b.Rows, row)
	}
	return act, intro, files
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
		r.Before = text[:from]
		r.Marked = text[from:to]
		r.After = text[to:]
	}
}
