package vault

import (
	"slices"

	"vaultwicket/cmd/internal/vault/edit"
)

// noteEditCommands change a part of a note in place of the whole. The app has
// none of them. They work on no note that is not named: a focused note is the
// person's, not the caller's.
func noteEditCommands() []command {
	text := param{name: "content", hint: "text", kind: content, required: true, about: "The text"}
	within := append(targetParams(), param{name: "daily", kind: flag, about: "In today's note, made if it is missing"})
	return []command{
		{
			name: "note:replace", about: "Replace a text that stands in a note once",
			params: slices.Concat(within, []param{
				{name: "old", hint: "text", kind: content, required: true, about: "What stands there, exactly"},
				{name: "new", hint: "text", kind: content, required: true, about: "What shall stand there"},
			}),
			plan: replaceText,
		},
		{
			name: "note:insert", about: "Insert text before or after a part of a note",
			params: slices.Concat(within, partParams(), []param{
				{name: "position", oneOf: []string{"before", "after"}, required: true, about: "On which side of the part"}, text,
			}),
			plan: insertText,
		},
		{
			name: "note:set-section", about: "Replace a part of a note",
			params: slices.Concat(within, partParams(), []param{text}),
			plan:   setSection,
		},
	}
}

func replaceText(v *vault, p params) (proposal, error) {
	return v.editNamed(p, "Replaced in: ", func(text []byte) ([]byte, error) { return edit.Replace(text, p["old"], p["new"]) })
}

// insertText puts content on lines of its own. After a heading means after its
// whole section; append heading= puts text right below the heading's own.
func insertText(v *vault, p params) (proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return proposal{}, err
	}
	where := edit.Before
	if p["position"] == "after" {
		where = edit.After
	}
	return v.editNamed(p, "Inserted into: ", func(text []byte) ([]byte, error) { return edit.Insert(text, where, part, p["content"]) })
}

// setSection replaces a part. Content of nothing but a line break empties a
// section: an empty value is more often a slip.
func setSection(v *vault, p params) (proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return proposal{}, err
	}
	return v.editNamed(p, "Section set in: ", func(text []byte) ([]byte, error) { return edit.SetSection(text, part, p["content"]) })
}

// partOf reads which part of a note a request means.
func partOf(p params) (edit.Target, error) {
	if err := onePart(p); err != nil {
		return edit.Target{}, err
	}
	switch {
	case p.has("heading"):
		return edit.Heading(p["heading"]), nil
	case p.has("block"):
		return edit.Block(p["block"]), nil
	}
	first, last, err := parseLines(p["lines"])
	return edit.Lines(first, last), err
}

// editNamed returns the proposal to change the note that a request names.
func (v *vault) editNamed(p params, said string, edit func(text []byte) ([]byte, error)) (proposal, error) {
	change := func(text []byte) ([]byte, error) {
		return located(text, func() ([]byte, error) { return edit(text) })
	}
	named := p.has("file") || p.has("path")
	switch {
	case p.has("daily") && named:
		return proposal{}, misuse("Use file=<name>, path=<path> or daily, not several.")
	case p.has("daily"):
		today, err := v.today()
		if err != nil {
			return proposal{}, err
		}
		return v.dailyNote(today, said+today.path.String(), change)
	case !named:
		return proposal{}, misuse("Missing required parameter: path=<path>, file=<name> or daily")
	}
	return v.editMarkdown(p, said, change)
}

// editMarkdown is editing of notes that have parts.
func (v *vault) editMarkdown(p params, said string, edit func(text []byte) ([]byte, error)) (proposal, error) {
	t, before, err := v.markdownNote(p)
	if err != nil {
		return proposal{}, err
	}
	after, err := edit(before)
	if err != nil {
		return proposal{}, err
	}
	return changing(t.path, before, after, said+t.path.String()), nil
}
