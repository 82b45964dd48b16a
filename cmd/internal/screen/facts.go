package screen

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"vaultwicket/gateway/clean"
)

// Facts are names with values, one below the other. Text is cleaned like the cells of a
// table.
type Facts struct {
	screen Screen
	rows   [][2]Cell
}

// Facts returns an empty list.
func (s Screen) Facts() *Facts { return &Facts{screen: s} }

// Add adds a fact. One without a value is left out.
func (f *Facts) Add(name, value string, style Style) {
	if value == "" {
		return
	}
	f.rows = append(f.rows, [2]Cell{{clean.Line(name), Faint}, {clean.Line(value), style}})
}

// Print writes the facts. On a terminal a long value continues below itself.
func (f *Facts) Print() error {
	text := f.lines()
	if _, err := fmt.Fprint(f.screen.out, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

func (f *Facts) lines() string {
	s := f.screen
	names := 0
	for _, row := range f.rows {
		names = max(names, columns.String(row[0].Text))
	}
	if !s.IsTerminal() {
		return f.forScripts()
	}
	var text strings.Builder
	for _, row := range f.rows {
		name := row[0].Text
		for _, line := range Wrap(row[1].Text, max(s.width-names-gap, minValue)) {
			text.WriteString(s.Paint(Faint, pad(name, names)) + strings.Repeat(" ", gap) + s.Paint(row[1].Style, line) + "\n")
			name = ""
		}
	}
	return text.String()
}

// minValue is the width of values on a terminal that is too narrow.
const minValue = 10

func (f *Facts) forScripts() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for _, row := range f.rows {
		fmt.Fprintf(w, "%s\t%s\n", row[0].Text, row[1].Text)
	}
	w.Flush()
	if !f.screen.colour {
		return text.String()
	}
	rows := make([][]Cell, 0, len(f.rows))
	for _, row := range f.rows {
		rows = append(rows, row[:])
	}
	return (&Table{screen: f.screen}).painted(text.String(), rows)
}
