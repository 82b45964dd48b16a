package answer

import (
	"encoding/csv"
	"strings"
)

// The forms in which a table is printed.
const (
	FormatJSON = "json"
	FormatTSV  = "tsv"
	FormatCSV  = "csv"
)

// Table are a table to be printed. All cells are text: the app prints numbers
// as strings in JSON too.
type Table struct {
	Columns []string
	Rows    [][]string
	Sparse  bool // cells without text are left out of JSON
}

// Print writes the table in one of its forms; nothing asked for is TSV. Like
// the app, TSV has no line of headings, and CSV is held to the same.
func (r Table) Print(form string) string {
	switch form {
	case FormatJSON:
		return r.json()
	case FormatCSV:
		return r.csv()
	}
	var out strings.Builder
	out.Grow(r.size(0, len("\t")))
	for _, cells := range r.Rows {
		for i, cell := range cells {
			if i > 0 {
				out.WriteByte('\t')
			}
			if strings.ContainsAny(cell, "\t\r\n") {
				cell = oneLine.Replace(cell)
			}
			out.WriteString(cell)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// oneLine keeps a cell in its place: what would look like another cell or
// another row becomes a blank.
var oneLine = strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")

func (r Table) csv() string {
	var out strings.Builder
	w := csv.NewWriter(&out)
	_ = w.WriteAll(r.Rows) // a Builder takes everything
	return out.String()
}

// json writes an array of objects whose keys keep their order.
func (r Table) json() string {
	if len(r.Rows) == 0 {
		return "[]"
	}
	keys := make([][]byte, len(r.Columns))
	for i, name := range r.Columns {
		keys[i] = append(AppendJSON([]byte("\n    "), name), ": "...)
	}
	var out strings.Builder
	out.Grow(r.size(len("\n  {\n  },"), len("    : \"\",\n\"\"")+longest(r.Columns)))
	out.WriteByte('[')
	var quoted []byte
	for i, cells := range r.Rows {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n  {")
		first := true
		for j, cell := range cells {
			if r.Sparse && cell == "" {
				continue
			}
			if !first {
				out.WriteByte(',')
			}
			first = false
			out.Write(keys[j])
			quoted = AppendJSON(quoted[:0], cell)
			out.Write(quoted)
		}
		out.WriteString("\n  }")
	}
	out.WriteString("\n]")
	return out.String()
}

// size is how long the table is with so many bytes around each row and each cell.
func (r Table) size(row, cell int) int {
	size := len("[\n]")
	for _, cells := range r.Rows {
		size += row
		for _, text := range cells {
			size += cell + len(text)
		}
	}
	return size
}

func longest(names []string) (length int) {
	for _, name := range names {
		length = max(length, len(name))
	}
	return length
}

// Add adds a row of a name and, if they are wanted, its count.
func (r *Table) Add(counted bool, name, count string) {
	if counted {
		r.Rows = append(r.Rows, []string{name, count})
		return
	}
	r.Rows = append(r.Rows, []string{name})
}
