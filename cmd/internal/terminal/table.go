package terminal

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Column is a column of a table.
type Column struct {
	Title string
	// Min is the minimum width to which the column may be narrowed if a row is wider than the terminal. With 0
	// it always has the width of its cells.
	Min        int
	OnTerminal bool // the column is only shown on a terminal, not in scripts
	// Below moves the cells of the column below their rows if the rows are wider than the terminal. It is for
	// values that are useless when truncated, such as ids. At most one column of a table has it.
	Below bool
}

// Cell is a cell of a table: text in a style.
type Cell struct {
	Text  string
	Style Style
}

// Text returns a plain cell.
func Text(text string) Cell { return Cell{Text: text} }

// Table collects rows and prints them aligned. The text of a cell is sanitized to one line without control
// characters.
type Table struct {
	screen  Screen
	columns []Column
	rows    [][]Cell
	begun   bool // the header has been printed
}

// Table returns an empty table.
func (s Screen) Table(columns ...Column) *Table { return &Table{screen: s, columns: columns} }

// Add adds a row with a cell for each column.
func (t *Table) Add(cells ...Cell) {
	row := make([]Cell, 0, len(cells))
	for i, cell := range cells {
		if t.columns[i].OnTerminal && !t.screen.IsTerminal() {
			continue
		}
		cell.Text = sanitize.Line(cell.Text)
		row = append(row, cell)
	}
	t.rows = append(t.rows, row)
}

// Flush prints the rows that were added since the last Flush, aligned with each other. Without rows it prints
// nothing.
func (t *Table) Flush() error {
	rows := t.rows
	t.rows = nil
	if len(rows) == 0 {
		return nil
	}
	var text string
	if t.screen.IsTerminal() {
		text = t.forTerminal(rows)
	} else {
		text = t.screen.alignedRows(rows)
	}
	return Write(t.screen.out, text)
}

// alignedRows returns rows for scripts. It aligns cells by their number of characters, as text/tabwriter does, and does
// not truncate them.
func (s Screen) alignedRows(rows [][]Cell) string {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			text.WriteString(s.Paint(cell.Style, cell.Text))
			if i < len(row)-1 {
				text.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.Text)+gap))
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

const gap = 2 // spaces between cells

// forTerminal aligns cells by their display width and truncates rows to the width of the terminal. The first call adds
// the header.
func (t *Table) forTerminal(rows [][]Cell) string {
	if !t.begun {
		header := make([]Cell, len(t.columns))
		for i, column := range t.columns {
			header[i] = Cell{strings.ToUpper(column.Title), Strong}
		}
		rows = append([][]Cell{header}, rows...)
	}
	n := len(t.columns)
	widths := make([]int, n)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns.String(cell.Text))
		}
	}
	below := slices.IndexFunc(t.columns, func(c Column) bool { return c.Below })
	if total(widths) <= t.screen.width {
		below = -1
	}
	if below >= 0 {
		widths[below] = 0
	}
	// Narrow the widest column until a row fits. If all have their minimum width, line truncates the rest.
	for excess := total(widths) - t.screen.width; excess > 0; excess-- {
		widest := -1
		for i, column := range t.columns {
			isNarrowable := column.Min > 0 && widths[i] > column.Min
			isWidest := widest < 0 || widths[i] > widths[widest]
			if isNarrowable && isWidest {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	var text strings.Builder
	for i, row := range rows {
		text.WriteString(t.line(row, widths) + "\n")
		isHeader := i == 0 && !t.begun
		if below >= 0 && !isHeader {
			const indent = "  "
			text.WriteString(indent + t.screen.Paint(Faint, cut(row[below].Text, t.screen.width-len(indent))) + "\n")
		}
	}
	t.begun = true
	return text.String()
}

// total returns the width of a row. A column of width 0 has no gap either.
func total(widths []int) int {
	sum := -gap
	for _, width := range widths {
		if width > 0 {
			sum += width + gap
		}
	}
	return sum
}

// line returns a row, truncated to the width of the terminal.
func (t *Table) line(row []Cell, widths []int) string {
	var text, blanks strings.Builder
	used := 0
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		visible := cut(cell.Text, min(widths[i], t.screen.width-used))
		if visible != "" {
			text.WriteString(blanks.String() + t.screen.Paint(cell.Style, visible))
			blanks.Reset()
		}
		blanks.WriteString(strings.Repeat(" ", max(0, widths[i]-columns.String(visible))+gap))
		used += widths[i] + gap
	}
	return text.String()
}

// Facts are names with values, one below the other. Text is sanitized like the cells of a table.
type Facts struct {
	screen Screen
	rows   [][2]Cell
}

// Facts returns an empty list.
func (s Screen) Facts() *Facts { return &Facts{screen: s} }

// Add adds a fact, unless its value is "".
func (f *Facts) Add(name, value string, style Style) {
	if value == "" {
		return
	}
	f.rows = append(f.rows, [2]Cell{{sanitize.Line(name), Faint}, {sanitize.Line(value), style}})
}

// Print writes the facts. On a terminal, long values are wrapped in their own column.
func (f *Facts) Print() error {
	s := f.screen
	nameWidth := 0
	for _, row := range f.rows {
		nameWidth = max(nameWidth, columns.String(row[0].Text))
	}
	if !s.IsTerminal() {
		rows := make([][]Cell, 0, len(f.rows))
		for _, row := range f.rows {
			rows = append(rows, row[:])
		}
		return Write(s.out, s.alignedRows(rows))
	}
	var text strings.Builder
	for _, row := range f.rows {
		name := row[0].Text
		for _, line := range Wrap(row[1].Text, max(s.width-nameWidth-gap, minValue)) {
			text.WriteString(
				s.Paint(Faint, pad(name, nameWidth)) + strings.Repeat(" ", gap) + s.Paint(row[1].Style, line) + "\n",
			)
			name = ""
		}
	}
	return Write(s.out, text.String())
}

// minValue is the minimum width of values on a narrow terminal.
const minValue = 10
