// Package notes has the commands that read, make and edit the texts of notes: daily
// and random notes, templates, and edits of a part of a note.
package notes

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(createCommands(), dailyCommands(), periodicCommands(), randomCommands(), templateCommands(), insertCommands(), uniqueCommands(), sectionCommands(), noteEditCommands())
}
