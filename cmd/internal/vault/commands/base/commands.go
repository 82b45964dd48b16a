// Package base has the commands that read and change the rows of bases.
package base

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(baseCommands(), baseQueryCommands(), baseCreateCommands(), baseSetCommands())
}
