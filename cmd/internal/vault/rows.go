package vault

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
)

// The forms in which a table is printed.
const (
	formJSON = "json"
	formTSV  = "tsv"
	formCSV  = "csv"
)

// rows are a table to be printed. All cells are text: the app prints numbers
// as strings in JSON too.
type rows struct {
	keys  []string
	cells [][]string
}

// print writes the table in one of its forms; nothing asked for is TSV. Like
// the app, TSV has no line of headings, and CSV is held to the same.
func (r rows) print(form string) string {
	switch form {
	case formJSON:
		return r.json()
	case formCSV:
		return r.csv()
	}
	var out strings.Builder
	for _, cells := range r.cells {
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

func (r rows) csv() string {
	var out strings.Builder
	w := csv.NewWriter(&out)
	_ = w.WriteAll(r.cells) // a Builder takes everything
	return out.String()
}

// json writes an array of objects whose keys keep their order.
func (r rows) json() string {
	if len(r.cells) == 0 {
		return "[]"
	}
	var out bytes.Buffer
	out.WriteByte('[')
	for i, cells := range r.cells {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n  {")
		for j, cell := range cells {
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n    " + quoted(r.keys[j]) + ": " + quoted(cell))
		}
		out.WriteString("\n  }")
	}
	out.WriteString("\n]")
	return out.String()
}

// quoted writes a JSON string as JavaScript does, with < > & as they are.
func quoted(s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return strings.TrimSuffix(out.String(), "\n")
}

// add adds a row of a name and, if they are wanted, its count.
func (r *rows) add(counted bool, name, count string) {
	if counted {
		r.cells = append(r.cells, []string{name, count})
		return
	}
	r.cells = append(r.cells, []string{name})
}
