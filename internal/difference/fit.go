package difference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Extent is the space for changes.
type Extent struct {
	Rows  int            // rows for all lines
	Bytes int            // bytes for all lines
	Line  int            // bytes for a line
	Cost  func(Line) int // rows that a line takes; if nil, a line takes one row
	Place int            // additional rows for each place in a file after the first
}

// Fit returns as much of the changes as fits into an extent: the first changed lines of each change, then changed
// lines that differ from all earlier ones, then repetitions, alternately from both ends, and finally the
// unchanged lines around them. Of a long line it keeps the ends of the part that differs.
func Fit(changes []Change, e Extent) []Change {
	if e.Cost == nil {
		e.Cost = func(Line) int { return 1 }
	}
	f := fitting{
		Extent: e,
		shown:  make([]Change, len(changes)),
		taken:  make([][]bool, len(changes)),
	}
	maxLength := max(minLine, min(e.Line, e.Bytes/max(1, 2*len(changes))))
	for i, c := range changes {
		lines := make([]Line, len(c.Lines))
		for j, l := range c.Lines {
			lines[j] = l.cut(maxLength)
		}
		c.Lines = lines
		f.shown[i] = c
		f.taken[i] = make([]bool, len(lines))
	}
	for _, p := range f.places() {
		if p.isFirst {
			if !f.take(p.change, 0, p.lines...) { // at least the first line
				f.take(p.change, 0, p.lines[0])
			}
			continue
		}
		f.take(p.change, f.Place, p.lines...)
	}
	for range context {
		for i := range f.shown {
			f.takeNeighbours(i)
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

// takeNeighbours takes the unchanged lines directly before and after the lines that are taken.
func (f *fitting) takeNeighbours(change int) {
	taken := slices.Clone(f.taken[change])
	at := 0
	for _, hunk := range f.shown[change].Hunks() {
		for j := range hunk {
			isAfter := j > 0 && taken[at+j-1]
			isBefore := j+1 < len(hunk) && taken[at+j+1]
			isContext := hunk[j].Sign == Same && !taken[at+j]
			if isContext && (isAfter || isBefore) {
				f.take(change, 0, at+j)
			}
		}
		at += len(hunk)
	}
}

// minLine is the minimum length in bytes to which a line is cut: about a row.
const minLine = 72

// Left returns how many added and removed lines are not in Lines.
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
	taken [][]bool // by change and line
}

// place is a removed line with the added line in the same place, or only one of them.
type place struct {
	change  int
	lines   []int
	key     string // identifies the removed and the added text
	rank    int    // places with a lower rank are shown first
	isFirst bool   // the first place of its change
}

// places returns the changed places in the order in which they are to be taken.
func (f *fitting) places() []place {
	var places []place
	for i, c := range f.shown {
		places = append(places, placesOf(i, c.Lines)...)
	}
	seen := map[string]bool{}
	for i := range places {
		p := &places[i]
		switch {
		case p.isFirst:
			p.rank = 0
		case !seen[p.key]:
			p.rank = 1
		default:
			p.rank = 2
		}
		seen[p.key] = true
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.rank, b.rank) })
	firsts := slices.IndexFunc(places, func(p place) bool { return p.rank > 0 })
	if firsts < 0 {
		return places
	}
	// Take the others of each rank alternately from both ends.
	ordered := slices.Clone(places[:firsts])
	for rest := places[firsts:]; len(rest) > 0; {
		n := 0 // number of places with this rank
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

// placesOf returns the changed places of a change, which has an index and lines.
func placesOf(change int, lines []Line) (places []place) {
	countSign := func(from int, sign Sign) (n int) {
		for from+n < len(lines) && lines[from+n].Sign == sign {
			n++
		}
		return n
	}
	for i := 0; i < len(lines); {
		removed := countSign(i, Removed)
		added := countSign(i+removed, Added)
		for k := range max(removed, added) {
			p := place{change: change, isFirst: len(places) == 0}
			if k < removed {
				p.add(lines, i+k)
			}
			if k < added {
				p.add(lines, i+removed+k)
			}
			places = append(places, p)
		}
		i += max(1, removed+added)
	}
	return places
}

// add adds the line at an index.
func (p *place) add(lines []Line, i int) {
	l := lines[i]
	p.lines = append(p.lines, i)
	p.key += string(l.Sign) + l.Text[l.From:l.To] + "\n"
}

// take takes lines of a change if there is room for all of them and for additional rows, and reports whether it
// has.
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
	f.Rows -= rows
	f.Bytes -= bytes
	for _, i := range lines {
		f.taken[change][i] = true
	}
	return true
}

// cut shortens a line to at most limit bytes, see [windows].
func (l Line) cut(limit int) Line {
	if len(l.Text) <= limit {
		return l
	}
	parts := windows(l.Text, l.From, l.To, limit)
	text := ""
	done := 0
	var cuts []Cut
	moved := func(i int) (to int) { // converts an offset in the line to one in the cut line
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

// Unified returns the change in the format of diff -u, after lines with the names of both sides. It ends with the
// number of changed lines that are left out, if there are any.
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
			lineRange(hunk, func(l Line) int { return l.Old }),
			lineRange(hunk, func(l Line) int { return l.New }),
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

// isGap reports whether lines are missing between two line numbers of one side. 0 is no line.
func isGap(last, next int) bool { return last > 0 && next > 0 && next != last+1 }

// Hunks divides the lines into parts without missing lines.
func (c Change) Hunks() (hunks [][]Line) {
	start := 0
	old := 0 // last line number of the old text in this part, or 0
	now := 0 // the same for the new text
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

// lineRange returns the range of the lines of one side: the first line number, and the number of lines unless that
// is 1. numberOf returns the line number on that side.
func lineRange(lines []Line, numberOf func(Line) int) string {
	start := 0
	n := 0
	for _, l := range lines {
		if at := numberOf(l); at > 0 {
			start = cmp.Or(start, at)
			n++
		}
	}
	if n == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, n)
}
