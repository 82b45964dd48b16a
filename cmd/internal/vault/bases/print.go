package bases

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

// The forms in which a table prints, as the app's command does.
const (
	JSON     = "json"
	CSV      = "csv"
	TSV      = "tsv"
	Markdown = "md"
	Paths    = "paths"
)

// Formats are all of them.
func Formats() []string { return []string{JSON, CSV, TSV, Markdown, Paths} }

// Print writes the rows in one of the forms; in JSON every value is a text or
// null. Groups and summaries are not printed, as in the app.
func (t *Table) Print(format string) string {
	switch format {
	case CSV:
		return t.csv()
	case TSV:
		return t.tsv()
	case Markdown:
		return t.markdown()
	case Paths:
		return t.paths()
	}
	return t.json(textJSON)
}

func (t *Table) paths() string {
	var out strings.Builder
	for _, row := range t.Rows {
		out.WriteString(row.Path + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// texts are the labels and then the cells of the rows.
func (t *Table) texts() [][]string {
	all := make([][]string, 0, len(t.Rows)+1)
	labels := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		labels[i] = c.Label
	}
	all = append(all, labels)
	for _, row := range t.Rows {
		cells := make([]string, len(row.Cells))
		for i, cell := range row.Cells {
			cells[i] = cell.Text()
		}
		all = append(all, cells)
	}
	return all
}

func (t *Table) csv() string {
	var out strings.Builder
	for _, record := range t.texts() {
		for i, cell := range record {
			if i > 0 {
				out.WriteByte(',')
			}
			if strings.ContainsAny(cell, ",\"\r\n") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			out.WriteString(cell)
		}
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// inLine keeps a cell in its line and its column.
var inLine = strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")

func (t *Table) tsv() string {
	var lines []string
	for _, record := range t.texts() {
		for i, cell := range record {
			record[i] = inLine.Replace(cell)
		}
		lines = append(lines, strings.Join(record, "\t"))
	}
	return strings.Join(lines, "\n")
}

// inTable keeps a cell in its place of a Markdown table.
var inTable = strings.NewReplacer("|", `\|`, "\r\n", " ", "\n", " ", "\r", " ")

const minWidth = 3 // of a column, so that its dashes are a delimiter

func (t *Table) markdown() string {
	records := t.texts()
	widths := make([]int, len(t.Columns))
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
	var lines []string
	for n, record := range records {
		lines = append(lines, tableLine(record, widths))
		if n == 0 {
			lines = append(lines, tableLine(dashes, widths))
		}
	}
	return strings.Join(lines, "\n")
}

// tableLine centres the cells; what does not divide goes to the right.
func tableLine(cells []string, widths []int) string {
	var out strings.Builder
	out.WriteByte('|')
	for i, cell := range cells {
		free := widths[i] - displayWidth(cell)
		out.WriteString(" " + strings.Repeat(" ", free/2) + cell + strings.Repeat(" ", free-free/2) + " |")
	}
	return out.String()
}

// displayWidth returns how many columns of a terminal a text takes.
func displayWidth(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func isWide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}

// textJSON is a cell in which everything is a text.
func textJSON(v formula.Value) []byte {
	if v.IsNull() {
		return []byte("null")
	}
	return quoted(v.Text())
}

// TypedJSON is a cell in its own type; what JSON does not know is a text.
func TypedJSON(v formula.Value) []byte {
	if v.IsError() {
		return quoted(v.Text())
	}
	return v.JSON()
}

func (t *Table) json(cell func(formula.Value) []byte) string {
	if len(t.Rows) == 0 {
		return "[]"
	}
	var out bytes.Buffer
	out.WriteByte('[')
	for i, row := range t.Rows {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n  {")
		for j, field := range t.fields(row, cell) {
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n    ")
			out.Write(quoted(field.key))
			out.WriteString(": ")
			out.Write(field.json)
		}
		out.WriteString("\n  }")
	}
	out.WriteString("\n]")
	return out.String()
}

type field struct {
	key  string
	json []byte
}

// fields are the path and the cells of a row. Of two with one label the later one
// is the value, in the place of the earlier.
func (t *Table) fields(row Row, cell func(formula.Value) []byte) []field {
	fields := []field{{"path", quoted(row.Path)}}
	at := map[string]int{"path": 0}
	for i, c := range t.Columns {
		json := cell(row.Cells[i])
		if place, known := at[c.Label]; known {
			fields[place].json = json
			continue
		}
		at[c.Label] = len(fields)
		fields = append(fields, field{c.Label, json})
	}
	return fields
}

func quoted(text string) []byte { return frontmatter.AppendQuoted(nil, text) }

// Details say what more than rows an answer in JSON has.
type Details struct {
	Typed             bool // values in their own types, not as texts
	Groups, Summaries bool
	Explain           bool
}

// JSON writes the rows as [Table.Print] does, or, where more is wanted, an object
// with rows, total and what is wanted.
func (t *Table) JSON(d Details) string {
	cell := textJSON
	if d.Typed {
		cell = TypedJSON
	}
	rows := t.json(cell)
	if !d.Groups && !d.Summaries && !d.Explain {
		return rows
	}
	answer := detailed{Rows: json.RawMessage(rows), Total: t.Total}
	if d.Groups {
		answer.Groups = []groupJSON{}
		for _, g := range t.Groups {
			answer.Groups = append(answer.Groups, groupJSON{Key: cell(g.Key), Rows: g.Rows, Summaries: summariesJSON(g.Summaries, cell)})
		}
	}
	if d.Summaries {
		answer.Summaries = summariesJSON(t.Summaries, cell)
	}
	if d.Explain && t.Explain != nil {
		answer.Explain = t.Explain.json()
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(answer) // its parts are JSON already
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// detailed is the object that has the rows in it.
type detailed struct {
	Rows      json.RawMessage `json:"rows"`
	Total     int             `json:"total"` // rows without limit and offset
	Groups    []groupJSON     `json:"groups,omitempty"`
	Summaries []summaryJSON   `json:"summaries,omitempty"`
	Explain   *explainJSON    `json:"explain,omitempty"`
}

type groupJSON struct {
	Key       json.RawMessage `json:"key"`
	Rows      int             `json:"rows"`
	Summaries []summaryJSON   `json:"summaries,omitempty"`
}

type summaryJSON struct {
	Column  string          `json:"column"`
	Summary string          `json:"summary"`
	Value   json.RawMessage `json:"value"`
}

func summariesJSON(all []Summary, cell func(formula.Value) []byte) []summaryJSON {
	var out []summaryJSON
	for _, s := range all {
		out = append(out, summaryJSON{s.ID, s.Name, cell(s.Value)})
	}
	return out
}

// explainJSON says how an answer came about.
type explainJSON struct {
	Files   int          `json:"files"`
	Filters []filterJSON `json:"filters"`
	Steps   int          `json:"steps"`
}

type filterJSON struct {
	Filter  string `json:"filter"`
	Asked   int    `json:"asked"`
	Dropped int    `json:"dropped"`
	Failed  int    `json:"failed,omitempty"`
	Error   string `json:"error,omitempty"`
}

func (e *Explanation) json() *explainJSON {
	out := &explainJSON{Files: e.Files, Steps: e.Steps, Filters: []filterJSON{}}
	for _, f := range e.Filters {
		out.Filters = append(out.Filters, filterJSON{f.Statement, f.Asked, f.Dropped, f.Failed, f.Error})
	}
	return out
}
