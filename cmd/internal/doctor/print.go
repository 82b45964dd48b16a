package doctor

import (
	"encoding/json"
	"fmt"
	"io"
)

var marks = map[Level]string{OK: "ok", Warning: "warning", Problem: "PROBLEM"}

// markWidth is the width of the column of marks.
const markWidth = 8

// Look is how a report is shown: Clean shows text from outside without control characters,
// Paint returns text in the colour of a level.
type Look struct {
	Clean func(string) string
	Paint func(level Level, text string) string
}

// Print writes a report as text: problems first, each finding with why it matters and how to fix
// it.
func (r *Report) Print(out io.Writer, look Look) error {
	clean := look.Clean
	for _, f := range r.Findings {
		text := fmt.Sprintf("%s%*s %s\n", look.Paint(f.Level, marks[f.Level]), markWidth-len(marks[f.Level]), "", clean(f.What))
		if f.Level != OK {
			text += fmt.Sprintf("         why: %s\n         fix: %s  (%s)\n", clean(f.Why), clean(f.Fix), f.Check)
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\n%s, %s\n", counted(r.Count(Problem), "problem"), counted(r.Count(Warning), "warning"))
	return err
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// JSON writes a report for programs, in one line.
func (r *Report) JSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		OK       bool `json:"ok"` // no problem
		Problems int  `json:"problems"`
		Warnings int  `json:"warnings"`
		*Report
	}{r.Worst() != Problem, r.Count(Problem), r.Count(Warning), r})
}
