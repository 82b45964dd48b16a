package ui

import (
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
)

// fileBlock shows what changes in one file, in a question or change. If Act is set, it instead describes one of several
// operations, and its rows are the remarks about it.
type fileBlock struct {
	Act              string
	Verb, From, Path string
	Rows             []diffRow
	Added, Removed   int    // number of lines, including those that are not among the rows
	Size             int64  // of a deleted file, in bytes
	Hash             string // of a deleted file, "" if unknown
}

// diffRow is a line of a question: of a text before or after, or of this program. In a changed line,
// Marked is the part that differs from its counterpart.
type diffRow struct {
	Kind                  string // added, removed, same, quoted or gap; "" for words of this program
	Before, Marked, After string
	More                  bool // it continues a line of which a part is left out
	NoEnd                 bool // the text ends with this line, without a newline
	Old, New              int  // the line numbers before and after, 0 for none
}

// Sign returns the sign before a row.
func (r diffRow) Sign() string {
	switch r.Kind {
	case "added":
		return "+"
	case "removed":
		return "−"
	}
	return ""
}

// kinds maps the kinds of lines of notes and values to the kinds of rows.
var kinds = map[consent.LineKind]string{
	consent.Quoted: "quoted", consent.Same: "same", consent.Removed: "removed", consent.Added: "added",
}

const (
	// shownRows is how many rows of a file are visible before the rest is unfolded. They show the first
	// changed lines and a few around them.
	shownRows = 24
)

// Bytes returns the size of a deleted file.
func (b fileBlock) Bytes() int { return int(b.Size) }

// Head returns the rows that are always visible.
func (b fileBlock) Head() []diffRow { return b.Rows[:b.fold()] }

// Rest returns the rows that are folded.
func (b fileBlock) Rest() []diffRow { return b.Rows[b.fold():] }

// fold returns the number of rows that are always visible. It does not fold a few rows at the end.
func (b fileBlock) fold() int {
	if len(b.Rows) <= shownRows*3/2 {
		return len(b.Rows)
	}
	return shownRows
}

// blocksOf splits the lines of a question into its first line, the rows before the first file, and the files.
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
			files = append(files, fileBlock{
				Verb:    l.Text,
				From:    l.Source,
				Path:    l.Path,
				Added:   l.Added,
				Removed: l.Removed,
				Size:    l.Size,
				Hash:    l.Hash,
			})
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
			row = diffRow{Kind: "gap", Before: "⋯"}
		}
		isLeadingGap := l.Kind == consent.Place && len(b.Rows) == 0
		if !isLeadingGap {
			b.Rows = append(b.Rows, row)
		}
	}
	return act, intro, files
}

// mark marks the part of the text from from to to, extended to whole words, unless that is the whole text.
func (r *diffRow) mark(from, to int) {
	text := r.Before
	inWord := func(at int) bool { // between two letters or digits
		if at <= 0 || at >= len(text) {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		isWordRune := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
		return isWordRune(before) && isWordRune(after) || !utf8.RuneStart(text[at])
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
