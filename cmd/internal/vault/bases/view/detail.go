package view

import (
	"bytes"
	"encoding/json"

	"vaultwicket/cmd/internal/vault/bases/value"
)

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

func summariesJSON(all []Summary, cell func(value.Value) []byte) []summaryJSON {
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
