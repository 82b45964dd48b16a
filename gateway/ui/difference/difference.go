// Package difference puts two texts side by side, line by line: what both have, what was
// removed and what was added. It shows nothing; the texts are as they were given.
package difference

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Kind says what a row is.
type Kind string

// The kinds of rows.
const (
	Same    Kind = "same"
	Changed Kind = "changed" // the right side in place of the left
	Removed Kind = "removed"
	Added   Kind = "added"
	Gap     Kind = "gap" // Skipped says how many lines that both have are not shown
)

// Row is a line of each text, or of one of them. Numbers count from 1; 0 is no line.
type Row struct {
	Kind                Kind
	LeftLine, RightLine int
	Left, Right         string
	Skipped             int // of a gap
}

const (
	// MaxBytes bounds each text. Finding out how longer ones differ takes too long for a
	// page, and nobody reads it there.
	MaxBytes = 512 << 10
	// MaxRows bounds the rows.
	MaxRows = 2000

	context = 3 // lines around a change
)

// Rows returns the rows of two texts, with three lines around each change. cut says that
// there are more: the texts are too long, or the rows too many.
func Rows(before, after string) (rows []Row, cut bool) {
	if len(before) > MaxBytes || len(after) > MaxBytes {
		return nil, true
	}
	left, right := lines(before), lines(after)
	all := aligned(left, right, udiff.Lines(before, after), before)
	rows = withGaps(all)
	if len(rows) > MaxRows {
		return rows[:MaxRows], true
	}
	return rows, false
}

// lines splits a text, without the line ends.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// aligned returns a row for every line. The edits are of whole lines of before.
func aligned(left, right []string, edits []udiff.Edit, before string) (rows []Row) {
	l, r := 0, 0
	same := func(until int) {
		for ; l < until && l < len(left) && r < len(right); l, r = l+1, r+1 {
			rows = append(rows, Row{Kind: Same, LeftLine: l + 1, RightLine: r + 1, Left: left[l], Right: right[r]})
		}
	}
	at, counted := 0, 0 // the line of the byte counted
	for _, e := range edits {
		at += strings.Count(before[counted:e.Start], "\n")
		counted = e.Start
		same(at)
		removed, added := len(lines(before[e.Start:e.End])), len(lines(e.New))
		removed, added = min(removed, len(left)-l), min(added, len(right)-r)
		for i := range max(removed, added) {
			row := Row{Kind: Changed}
			if i < removed {
				row.LeftLine, row.Left = l+i+1, left[l+i]
			} else {
				row.Kind = Added
			}
			if i < added {
				row.RightLine, row.Right = r+i+1, right[r+i]
			} else {
				row.Kind = Removed
			}
			rows = append(rows, row)
		}
		l, r = l+removed, r+added
	}
	same(len(left))
	return rows
}

// withGaps leaves out what is far from a change.
func withGaps(all []Row) (rows []Row) {
	near := make([]bool, len(all))
	for i, row := range all {
		if row.Kind != Same {
			for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
				near[j] = true
			}
		}
	}
	skipped := 0
	flush := func() {
		if skipped > 0 {
			rows = append(rows, Row{Kind: Gap, Skipped: skipped})
		}
		skipped = 0
	}
	for i, row := range all {
		if !near[i] {
			skipped++
			continue
		}
		flush()
		rows = append(rows, row)
	}
	flush()
	return rows
}
