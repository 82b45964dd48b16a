// Package history has the commands that show the versions of notes that the journal
// keeps, and that take changes back.
package history

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(historyCommands(), undoCommands())
}
