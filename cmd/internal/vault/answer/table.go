package answer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
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
	for _, cells := range r.Rows {
		for i, cell := range cells {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(oneLine.Replace(cell))
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
	var out bytes.Buffer
	out.WriteByte('[')
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
			out.WriteString("\n    " + QuoteJSON(r.Columns[j]) + ": " + QuoteJSON(cell))
		}
		out.WriteString("\n  }")
	}
	out.WriteString("\n]")
	return out.String()
}

// QuoteJSON writes a JSON string as JavaScript does, with < > & as they are.
func QuoteJSON(s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return strings.TrimSuffix(out.String(), "\n")
}

// Add adds a row of a name and, if they are wanted, its count.
func (r *Table) Add(counted bool, name, count string) {
	if counted {
		r.Rows = append(r.Rows, []string{name, count})
		return
	}
	r.Rows = append(r.Rows, []string{name})
}
