package notes

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

func replaceText(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	return EditNamed(v, p, "Replaced in: ", func(text []byte) ([]byte, error) { return edit.Replace(text, p["old"], p["new"]) })
}

// insertText puts content on lines of its own. After a heading means after its
// whole section; append heading= puts text right below the heading's own.
func insertText(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return command.Proposal{}, err
	}
	where := edit.Before
	if p["position"] == "after" {
		where = edit.After
	}
	return EditNamed(v, p, "Inserted into: ", func(text []byte) ([]byte, error) { return edit.Insert(text, where, part, p["content"]) })
}

// setSection replaces a part. Content of nothing but a line break empties a
// section: an empty value is more often a slip.
func setSection(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return command.Proposal{}, err
	}
	return EditNamed(v, p, "Section set in: ", func(text []byte) ([]byte, error) { return edit.SetSection(text, part, p["content"]) })
}

// partOf reads which part of a note a request means.
func partOf(p grammar.Values) (edit.Target, error) {
	if err := onePart(p); err != nil {
		return edit.Target{}, err
	}
	switch {
	case p.Has("heading"):
		return edit.Heading(p["heading"]), nil
	case p.Has("block"):
		return edit.Block(p["block"]), nil
	}
	first, last, err := parseLines(p["lines"])
	return edit.Lines(first, last), err
}

// EditNamed returns the proposal to change the note that a request names.
func EditNamed(v *session.Vault, p grammar.Values, said string, edit func(text []byte) ([]byte, error)) (command.Proposal, error) {
	change := func(text []byte) ([]byte, error) {
		return Edit(text, func() ([]byte, error) { return edit(text) })
	}
	named := p.Has("file") || p.Has("path")
	switch {
	case p.Has("daily") && named:
		return command.Proposal{}, answer.Misuse("Use file=<name>, path=<path> or daily, not several.")
	case p.Has("daily"):
		today, err := Today(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return dailyNote(v, today, said+today.Path.String(), change)
	case !named:
		return command.Proposal{}, answer.Misuse("Missing required parameter: path=<path>, file=<name> or daily")
	}
	return command.ProposeEdit(v, p, said, change)
}
