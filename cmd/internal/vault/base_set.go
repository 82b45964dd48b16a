package vault

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/view"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

// maxSet bounds the notes that one call changes: a user has to be able to look
// through the difference that is shown before.
const maxSet = 500

func baseSetCommands() []command {
	return []command{{
		name: "base:set", about: "Set a property of all notes in a view of a base",
		params: []param{
			{name: "file", hint: "name", about: "Base by its name, resolved like a link"},
			{name: "path", hint: "path", about: "Base by its path from the vault's folder"},
			{name: "view", hint: "name", about: "View by its name or number, default: the first"},
			{name: "where", hint: "expression", about: "One more filter"},
			{name: "limit", hint: "n", about: "Maximum number of notes"},
			{name: "name", hint: "name", required: true, about: "The property"},
			{name: "value", hint: "value", required: true, about: "Its value; commas separate the items of a list"},
			{name: "type", oneOf: []string{"text", "list", "number", "checkbox", "date", "datetime"}, about: "Its type, default: the vault's, or what the value looks like"},
		},
		plan: setInBase,
	}}
}

// setInBase changes the notes among the rows of a view, as one change that undo
// takes back as a whole. Nothing is changed if one of them cannot be.
func setInBase(v *vault, p params) (proposal, error) {
	table, err := v.rowsOf(p)
	if err != nil {
		return proposal{}, err
	}
	value, err := v.typedValue(p)
	if err != nil {
		return proposal{}, err
	}
	var steps []step
	for _, row := range table.Rows {
		if !strings.HasSuffix(row.Path, ".md") {
			continue // only notes have properties
		}
		s, err := v.setting(row.Path, p["name"], value)
		if err != nil {
			return proposal{}, err
		}
		if !s.idle() {
			steps = append(steps, s)
		}
		if len(steps) > maxSet {
			return proposal{}, failure("More than %d notes would be changed. Narrow the view with where=<expression> or limit=<n>.", maxSet)
		}
	}
	return proposal{steps: steps, said: fmt.Sprintf("Set %s: %s in %s", p["name"], p["value"], counted(len(steps), "note"))}, nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rowsOf answers the view that a call changes.
func (v *vault) rowsOf(p params) (*view.Table, error) {
	path, err := v.base(p)
	if err != nil {
		return nil, err
	}
	base, name, err := v.readBase(path, p["view"])
	if err != nil {
		return nil, err
	}
	q, err := parseQuery(base, name, p)
	if err != nil {
		return nil, err
	}
	q.Columns = []view.Column{}
	files, err := v.baseFiles(path.String())
	if err != nil {
		return nil, err
	}
	table, err := base.Run(v.ctx, files.Source(), q)
	if err != nil {
		return nil, queryFailed(err)
	}
	return table, nil
}

// setting returns the step that sets a property of a note.
func (v *vault) setting(name, property string, value frontmatter.Value) (step, error) {
	path, err := v.pathOf(name)
	if err != nil {
		return step{}, fileNotFound(name)
	}
	text, err := v.disk.Read(path)
	if err != nil {
		return step{}, unreadable(name, err)
	}
	edited, err := frontmatter.Set(text, property, value)
	if err != nil {
		return step{}, unset(target{path: path, typed: name}, text, err)
	}
	return step{path: path, before: holding(text), after: holding(edited)}, nil
}
