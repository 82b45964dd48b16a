package base

import (
	"encoding/json"
	"errors"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// checkBase lists all that is wrong with a base.
func checkBase(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	path, err := base(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := v.Disk.Read(path)
	if disk.IsMissing(err) {
		return answer.Reply{}, answer.BaseNotFound(path.String())
	}
	if err != nil {
		return answer.Reply{}, answer.ReadError(path.String(), err)
	}
	problems, err := problemsOf(text)
	if err != nil {
		return answer.Reply{}, err
	}
	if p["format"] == answer.FormatJSON {
		return answer.FromNote(path, text, problemsJSON(problems)), nil
	}
	if len(problems) == 0 {
		return answer.FromNote(path, text, "No problems found."), nil
	}
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	return answer.FromNote(path, text, strings.Join(lines, "\n")), nil
}

// problemsOf returns what is wrong with a base, also where it is no YAML.
func problemsOf(text []byte) ([]bases.Problem, error) {
	base, err := bases.Read(text)
	var malformed *frontmatter.Malformed
	switch {
	case errors.As(err, &malformed):
		return []bases.Problem{{Line: malformed.Line, Fatal: true, Text: malformed.Reason, Position: -1}}, nil
	case err != nil:
		return nil, err
	}
	return base.Problems, nil
}

func problemsJSON(problems []bases.Problem) string {
	type row struct {
		Line       int    `json:"line,omitempty"`
		Severity   string `json:"severity"`
		Problem    string `json:"problem"`
		Expression string `json:"expression,omitempty"`
		Position   *int   `json:"position,omitempty"`
	}
	rows := []row{}
	for _, problem := range problems {
		r := row{Line: problem.Line, Severity: problem.Severity(), Problem: problem.Text, Expression: problem.Expression}
		if problem.Position >= 0 {
			r.Position = &problem.Position
		}
		rows = append(rows, r)
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return "[]" // strings and numbers always marshal
	}
	return string(text)
}
