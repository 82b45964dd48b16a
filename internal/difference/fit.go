package difference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Extent is how much of changes is shown.
type Extent struct {
	Rows  int            // of all lines together
	Bytes int            // of all lines together
	Line  int            // bytes of one line
	Cost  func(Line) int // the rows that a line takes; nil for one
	Place int            // rows that a further place in a file takes besides
}

// Fit returns as much of the changes as an extent has room for: the first changed lines of
// each, then those that differ from all before, then repetitions, from both ends, and at
// last what is around them. Of a long line it takes what differs, by its ends.
func Fit(changes []Change, e Extent) []Change {
	if e.Cost == nil {
		e.Cost = func(Line) int { return 1 }
	}
	f := fitting{Extent: e, shown: make([]Change, len(changes)), taken: make([][]bool, len(changes))}
	for i, c := range changes {
		lines := make([]Line, len(c.Lines))
		for j, l := range c.Lines {
			lines[j] = l.cut(max(minLine, min(e.Line, e.Bytes/max(1, 2*len(changes)))))
		}
		c.Lines = lines
		f.shown[i] = c
		f.taken[i] = make([]bool, len(lines))
	}
	for _, p := range f.places() {
		if p.first {
			if !f.take(p.change, 0, p.lines...) { // at least the beginning
				f.take(p.change, 0, p.lines[0])
			}
			continue
		}
		f.take(p.change, f.Place, p.lines...)
	}
	for range context {
		// Take the lines that come directly before and after those that are taken.
		for i, c := range f.shown {
			before := slices.Clone(f.taken[i])
			at := 0
			for _, hunk := range c.Hunks() {
				for j := range hunk {
					isAfter := j > 0 && before[at+j-1]
					isBefore := j+1 < len(hunk) && before[at+j+1]
					isContext := hunk[j].Sign == Same && !before[at+j]
					if isContext && (isAfter || isBefore) {
						f.take(i, 0, at+j)
					}
				}
				at += len(hunk)
			}
		}
	}
	for i := range f.shown {
		var kept []Line
		for j, l := range f.shown[i].Lines {
			if f.taken[i][j] {
				kept = append(kept, l)
			}
		}
		f.shown[i].Lines = kept
	}
	return f.shown
}

// minLine is what of a line is shown at least: a row.
const minLine = 72

// Left returns how many lines that are added and removed are not among the lines.
func (c Change) Left() (added, removed int) {
	added = c.Added
	removed = c.Removed
	for _, l := range c.Lines {
		switch l.Sign {
		case Added:
			added--
		case Removed:
			removed--
		}
	}
	return added, removed
}

// fitting is an extent that is being filled.
type fitting struct {
	Extent
	shown []Change
	taken [][]bool // of each, which lines
}

// place is a line that is removed with the one in its place, or one of them.
type place struct {
	change int
	lines  []int
	key    string // what is removed and added
	rank   int
	first  bool // of its change
}

// places returns what changes in the order in which it is shown.
func (f *fitting) places() (all []place) {
	seen := map[string]bool{}
	for i, c := range f.shown {
		before := len(all)
		for j := 0; j < len(c.Lines); {
			from := j
			for j < len(c.Lines) && c.Lines[j].Sign == Removed {
				j++
			}
			mid := j
			for j < len(c.Lines) && c.Lines[j].Sign == Added {
				j++
			}
			for k := range max(mid-from, j-mid) {
				p := place{change: i}
				for _, at := range [][2]int{{from + k, mid}, {mid + k, j}} {
					if l := at[0]; l < at[1] {
						p.lines = append(p.lines, l)
						p.key += string(c.Lines[l].Sign) + c.Lines[l].Text[c.Lines[l].From:c.Lines[l].To] + "\n"
					}
				}
				all = append(all, p)
			}
			if j == from {
				j++
			}
		}
		if len(all) > before {
			all[before].first = true
		}
	}
	for i := range all {
		p := &all[i]
		switch {
		case p.first:
			p.rank = 0
		case !seen[p.key]:
			p.rank = 1
		default:
			p.rank = 2
		}
		seen[p.key] = true
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.rank, b.rank) })
	firsts := slices.IndexFunc(all, func(p place) bool { return p.rank > 0 })
	if firsts < 0 {
		return all
	}
	// Of the others the first and the last, and so on from both ends.
	ordered := slices.Clone(all[:firsts])
	for rest := all[firsts:]; len(rest) > 0; {
		n := 0 // of one rank
		for n < len(rest) && rest[n].rank == rest[0].rank {
			n++
		}
		for i := range n {
			if i%2 == 0 {
				ordered = append(ordered, rest[n-1-i/2])
			} else {
				ordered = append(ordered, rest[i/2])
			}
		}
		rest = rest[n:]
	}
	return ordered
}

// take takes lines of a change if there is room for all of them, and for rows besides.
func (f *fitting) take(change, rows int, lines ...int) bool {
	bytes := 0
	for _, i := range lines {
		l := f.shown[change].Lines[i]
		rows += f.Cost(l)
		bytes += len(l.Text)
	}
	if rows > f.Rows || bytes > f.Bytes {
		return false
	}
	f.Rows = f.Rows - rows
	f.Bytes = f.Bytes - bytes
	for _, i := range lines {
		f.taken[change][i] = true
	}
	return true
}

// cut returns a line of at most limit bytes, see [windows].
func (l Line) cut(limit int) Line {
	if len(l.Text) <= limit {
		return l
	}
	parts := windows(l.Text, l.From, l.To, limit)
	text := ""
	done := 0
	var cuts []Cut
	moved := func(i int) (to int) { // where a place of the line comes to
		for _, p := range parts {
			if i <= p[1] {
				return to + max(0, i-p[0])
			}
			to += p[1] - p[0]
		}
		return to
	}
	for _, p := range append(parts, [2]int{len(l.Text), len(l.Text)}) {
		if p[0] > done {
			cuts = append(cuts, Cut{len(text), p[0] - done})
		}
		text += l.Text[p[0]:p[1]]
		done = p[1]
	}
	for _, c := range l.Cuts {
		cuts = append(cuts, Cut{moved(c.At), c.Bytes})
	}
	slices.SortStableFunc(cuts, func(a, b Cut) int { return cmp.Compare(a.At, b.At) })
	l.Cuts = nil
	for _, c := range cuts {
		if n := len(l.Cuts); n > 0 && l.Cuts[n-1].At == c.At {
			l.Cuts[n-1].Bytes += c.Bytes
			continue
		}
		l.Cuts = append(l.Cuts, c)
	}
	l.From = moved(l.From)
	l.To = moved(l.To)
	l.Text = text
	return l
}

// Unified returns the change of a file in the form of diff -u, after lines that name both
// sides. Of what is not among the lines it says how much there is.
func (c Change) Unified(from, to string) string {
	var b strings.Builder
	if c.Binary {
		return fmt.Sprintf("Files %s and %s differ\n", from, to)
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, hunk := range c.Hunks() {
		fmt.Fprintf(
			&b,
			"@@ -%s +%s @@\n",
			part(hunk, func(l Line) int { return l.Old }),
			part(hunk, func(l Line) int { return l.New }),
		)
		for _, l := range hunk {
			b.WriteString(string(l.Sign))
			done := 0
			for _, cut := range l.Cuts {
				fmt.Fprintf(&b, "%s… left out: %d bytes …", l.Text[done:cut.At], cut.Bytes)
				done = cut.At
			}
			b.WriteString(l.Text[done:] + "\n")
			if l.NoEnd {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	if added, removed := c.Left(); added+removed > 0 {
		fmt.Fprintf(&b, "# %s: %d more lines added, %d removed; not shown\n", to, added, removed)
	}
	return b.String()
}

// isGap reports whether lines are missing between two lines of one side, by their numbers; 0 is none.
func isGap(last, next int) bool { return last > 0 && next > 0 && next != last+1 }

// Hunks returns the lines in parts between which lines are missing.
func (c Change) Hunks() (hunks [][]Line) {
	start := 0
	old := 0
	now := 0 // the last line of each side in this part, 0 for none
	for i, l := range c.Lines {
		if isGap(old, l.Old) || isGap(now, l.New) {
			hunks = append(hunks, c.Lines[start:i])
			start = i
			old = 0
			now = 0
		}
		old = max(old, l.Old)
		now = max(now, l.New)
	}
	if start < len(c.Lines) {
		hunks = append(hunks, c.Lines[start:])
	}
	return hunks
}

// part is the range of the lines of one side: its first number, and how many there are
// unless it is one.
func part(lines []Line, of func(Line) int) string {
	start := 0
	n := 0
	for _, l := range lines {
		if at := of(l); at > 0 {
			start = cmp.Or(start, at)
			n = n + 1
		}
	}
	if n == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, n)
}
