package difference

import (
	"cmp"
	"fmt"
	"strings"
)

// Unified returns the change of a file in the form of diff -u, after lines that name both
// sides. Of what is not among the lines it says how much there is.
func (c Change) Unified(from, to string) string {
	var b strings.Builder
	if c.Binary {
		return fmt.Sprintf("Files %s and %s differ\n", from, to)
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, hunk := range c.Hunks() {
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", part(hunk, func(l Line) int { return l.Old }), part(hunk, func(l Line) int { return l.New }))
		for _, l := range hunk {
			b.WriteString(string(l.Sign) + l.Inline() + "\n")
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

// Inline returns the text of a line with words where something was left out.
func (l Line) Inline() string {
	var b strings.Builder
	done := 0
	for _, cut := range l.Cuts {
		fmt.Fprintf(&b, "%s… left out: %d bytes …", l.Text[done:cut.At], cut.Bytes)
		done = cut.At
	}
	return b.String() + l.Text[done:]
}

// Hunks returns the lines in parts between which lines are missing.
func (c Change) Hunks() (hunks [][]Line) {
	start, old, now := 0, 0, 0 // the last line of each side in this part, 0 for none
	for i, l := range c.Lines {
		if old > 0 && l.Old > 0 && l.Old != old+1 || now > 0 && l.New > 0 && l.New != now+1 {
			hunks, start, old, now = append(hunks, c.Lines[start:i]), i, 0, 0
		}
		old, now = max(old, l.Old), max(now, l.New)
	}
	if start < len(c.Lines) {
		hunks = append(hunks, c.Lines[start:])
	}
	return hunks
}

// part is the range of the lines of one side: its first number, and how many there are
// unless it is one.
func part(lines []Line, of func(Line) int) string {
	start, n := 0, 0
	for _, l := range lines {
		if at := of(l); at > 0 {
			start, n = cmp.Or(start, at), n+1
		}
	}
	if n == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, n)
}
