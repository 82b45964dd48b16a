// Package canvas has the command that prints a canvas as an outline.
package canvas

import (
	"encoding/json"

	"vaultwicket/cmd/internal/vault/answer"
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
		return answer.Reply{}, answer.Failure("File is not a canvas: %s", t.Path)
	}
	board, err := parse(text)
	if err != nil {
		return answer.Reply{}, answer.Failure("Canvas %s cannot be read: %v", t.Path, err)
	}
	if p["format"] != answer.FormatJSON {
		return answer.FromNote(t.Path, text, board.outline()), nil
	}
	rows, err := json.Marshal(board.rows())
	return answer.FromNote(t.Path, text, string(rows)), err
}
