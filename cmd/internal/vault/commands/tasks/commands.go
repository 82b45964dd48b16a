// Package tasks has the commands about tasks: lists with filters, and changes of one task.
package tasks

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(listCommands(), markCommands(), addCommands())
}
