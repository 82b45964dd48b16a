// Package canvas has the command that prints a canvas as an outline.
package canvas

import (
	"encoding/json"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// Commands returns the command of this package.
func Commands() []command.Command {
	return []command.Command{{Name: "canvas:read", Run: read}}
}

const extension = "canvas"

func read(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := v.Disk.Read(t.Path)
	switch {
	case err != nil:
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	case t.Path.Ext() != extension:
		return answer.Reply{}, answer.Failure("File is not a canvas: %q", answer.Verbatim(t.Path.String()))
	}
	board, err := parse(text)
	if err != nil {
		return answer.Reply{}, answer.Failure("Canvas %q cannot be read: %v", answer.Verbatim(t.Path.String()), err)
	}
	uses := budget.From(v.Ctx)
	if p["format"] != answer.FormatJSON {
		outline := board.outline()
		return answer.FromNote(t.Path, text, outline), uses.Put(int64(len(outline)))
	}
	rows := board.rows()
	for _, r := range rows {
		if err := uses.Put(int64(len(r.Text) + len(r.Group) + len(r.ID))); err != nil {
			return answer.Reply{}, err
		}
	}
	list, err := json.Marshal(rows)
	return answer.FromNote(t.Path, text, string(list)), err
}
