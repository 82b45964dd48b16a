package base

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/metadata"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// maxSet bounds the notes that one call changes: a user has to be able to look
// through the difference that is shown before.
const maxSet = 500

// setInBase changes the notes among the rows of a view, as one change that undo
// takes back as a whole. Nothing is changed if one of them cannot be.
func setInBase(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	table, err := rowsOf(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	value, err := metadata.NewValue(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	var steps []command.Step
	for _, row := range table.Rows {
		if !strings.HasSuffix(row.Path, ".md") {
			continue // only notes have properties
		}
		s, err := setting(v, row.Path, value)
		if err != nil {
			return command.Proposal{}, err
		}
		if !s.IsNoop() {
			steps = append(steps, s)
		}
		if len(steps) > maxSet {
			return command.Proposal{}, answer.Failure("More than %d notes would be changed. Narrow the view with where=<expression> or limit=<n>.", maxSet)
		}
	}
	return command.Proposal{Steps: steps, Message: fmt.Sprintf("Set %s: %s in %s", p["name"], p["value"], counted(len(steps), "note"))}, nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rowsOf answers the view that a call changes.
func rowsOf(v *session.Vault, p grammar.Values) (*bases.Table, error) {
	path, err := base(v, p)
	if err != nil {
		return nil, err
	}
	base, name, err := readBase(v, path, p["view"])
	if err != nil {
		return nil, err
	}
	q, err := parseQuery(base, name, p)
	if err != nil {
		return nil, err
	}
	q.Columns = []bases.Column{}
	files, err := baseFiles(v, path.String())
	if err != nil {
		return nil, err
	}
	table, err := base.Run(v.Ctx, files.Source(), q)
	if err != nil {
		return nil, queryFailed(err)
	}
	return table, nil
}

// setting returns the step that sets a property of a note.
func setting(v *session.Vault, name string, value metadata.Value) (command.Step, error) {
	path, err := v.PathOf(name)
	if err != nil {
		return command.Step{}, answer.FileNotFound(name)
	}
	text, err := v.Disk.Read(path)
	if err != nil {
		return command.Step{}, answer.ReadError(name, err)
	}
	edited, err := value.Set(path, text)
	return command.Step{Path: path, Before: command.Existing(text), After: command.Existing(edited)}, err
}
