package bases

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
)

// The formats in which a table is printed, as by the command of the app.
const (
	JSON     = "json"
	CSV      = "csv"
	TSV      = "tsv"
	Markdown = "md"
	Paths    = "paths"
)

// Print returns the rows in a format. In JSON every value is a text or null. As in the app, groups and
// summaries are omitted.
func (t *Table) Print(format string) string {
	var lines []string
	switch format {
	case CSV:
		for _, record := range t.texts() {
			for i, cell := range record {
				if strings.ContainsAny(cell, ",\"\r\n") {
					record[i] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
				}
			}
			lines = append(lines, strings.Join(record, ","))
		}
	case TSV:
		for _, record := range t.texts() {
			for i, cell := range record {
				record[i] = inLine.Replace(cell)
			}
			lines = append(lines, strings.Join(record, "\t"))
		}
	case Paths:
		for _, row := range t.Rows {
			lines = append(lines, row.Path)
		}
	case Markdown:
		lines = markdownTable(t.texts())
	default:
		return t.json(textJSON)
	}
	return strings.Join(lines, "\n")
}

// markdownTable returns the lines of a Markdown table. Its first record has the labels.
func markdownTable(records [][]string) (lines []string) {
	widths := make([]int, len(records[0]))
	for _, record := range records {
		for i, cell := range record {
			record[i] = inTable.Replace(cell)
			widths[i] = max(widths[i], minWidth, displayWidth(record[i]))
		}
	}
	dashes := make([]string, len(widths))
	for i, w := range widths {
		dashes[i] = strings.Repeat("-", w)
	}
	for _, record := range slices.Insert(records, 1, dashes) {
		var line strings.Builder
		line.WriteByte('|')
		for i, cell := range record { // centred; an odd blank goes to the right
			free := widths[i] - displayWidth(cell)
			line.WriteString(" " + strings.Repeat(" ", free/2) + cell + strings.Repeat(" ", free-free/2) + " |")
		}
		lines = append(lines, line.String())
	}
	return lines
}

// texts returns the labels, followed by the cells of each row.
func (t *Table) texts() [][]string {
	records := make([][]string, 0, len(t.Rows)+1)
	labels := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		labels[i] = c.Label
	}
	records = append(records, labels)
	for _, row := range t.Rows {
		cells := make([]string, len(row.Cells))
		for i, cell := range row.Cells {
			cells[i] = cell.Text()
		}
		records = append(records, cells)
	}
	return records
}

// inLine replaces line breaks and tabs in a cell.
var inLine = strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")

// inTable escapes a cell of a Markdown table.
var inTable = strings.NewReplacer("|", `\|`, "\r\n", " ", "\n", " ", "\r", " ")

const minWidth = 3 // of a column, because Markdown needs three dashes below its label

// displayWidth returns how many columns a text takes in a terminal.
func displayWidth(text string) int {
	n := 0
	for _, r := range text {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// textJSON returns a cell as a JSON string, or null.
func textJSON(v formula.Value) []byte {
	if v.IsNull() {
		return []byte("null")
	}
	return quoted(v.Text())
}

// json returns the rows as a JSON array of objects. cell returns a value as JSON.
func (t *Table) json(cell func(formula.Value) []byte) string {
	if len(t.Rows) == 0 {
		return "[]"
	}
	// If two columns have the same label, the later value replaces the earlier one.
	keys := [][]byte{quoted("path")}
	places := make([]int, len(t.Columns)) // index in keys of each column
	known := map[string]int{"path": 0}
	for i, c := range t.Columns {
		place, ok := known[c.Label]
		if !ok {
			place = len(keys)
			known[c.Label] = place
			keys = append(keys, quoted(c.Label))
		}
		places[i] = place
	}
	values := make([][]byte, len(keys))
	var out bytes.Buffer
	out.WriteByte('[')
	for i, row := range t.Rows {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n  {")
		values[0] = quoted(row.Path)
		for j, place := range places {
			values[place] = cell(row.Cells[j])
		}
		for j, value := range values {
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n    ")
			out.Write(keys[j])
			out.WriteString(": ")
			out.Write(value)
		}
		out.WriteString("\n  }")
	}
	out.WriteString("\n]")
	return out.String()
}

// quoted returns a text as a JSON string.
func quoted(text string) []byte { return frontmatter.AppendQuoted(nil, text) }

// Details select what an answer in JSON contains in addition to rows.
type Details struct {
	Typed             bool // values have their own types and are not texts
	Groups, Summaries bool
	Explain           bool
}

// JSON returns the rows as [Table.Print] does. If d selects more parts, it returns an object with the rows,
// the total and the selected parts.
func (t *Table) JSON(d Details) string {
	cell := textJSON
	if d.Typed {
		cell = formula.Value.JSON
	}
	rows := t.json(cell)
	if !d.Groups && !d.Summaries && !d.Explain {
		return rows
	}
	answer := detailed{Rows: json.RawMessage(rows), Total: t.Total}
	if d.Groups {
		for _, g := range t.Groups {
			answer.Groups = append(
				answer.Groups,
				groupJSON{Key: cell(g.Key), Rows: g.Rows, Summaries: summariesJSON(g.Summaries, cell)},
			)
		}
	}
	if d.Summaries {
		answer.Summaries = summariesJSON(t.Summaries, cell)
	}
	if d.Explain {
		answer.Explain = t.Explain
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(answer) // cannot fail: its parts are valid JSON
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// detailed is the JSON object of an answer with details.
type detailed struct {
	Rows      json.RawMessage `json:"rows"`
	Total     int             `json:"total"` // rows without limit and offset
	Groups    []groupJSON     `json:"groups,omitempty"`
	Summaries []summaryJSON   `json:"summaries,omitempty"`
	Explain   *Explanation    `json:"explain,omitempty"`
}

// groupJSON is a group in an answer.
type groupJSON struct {
	Key       json.RawMessage `json:"key"`
	Rows      int             `json:"rows"`
	Summaries []summaryJSON   `json:"summaries,omitempty"`
}

// summaryJSON is a summary in an answer.
type summaryJSON struct {
	Column  string          `json:"column"`
	Summary string          `json:"summary"`
	Value   json.RawMessage `json:"value"`
}

// summariesJSON converts summaries for an answer.
func summariesJSON(summaries []Summary, cell func(formula.Value) []byte) []summaryJSON {
	var out []summaryJSON
	for _, s := range summaries {
		out = append(out, summaryJSON{s.ID, s.Name, cell(s.Value)})
	}
	return out
}
