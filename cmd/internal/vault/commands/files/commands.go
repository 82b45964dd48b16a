// Package files has the commands about files and folders as a whole, and about the
// bookmarks and vaults that the app records.
package files

import (
	"slices"
	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(vaultCommands(), fileCommands(), moveCommands(), deleteCommands(), bookmarkCommands(), bookmarkAddCommands(), recentCommands(), changedCommands(), vaultsCommands())
}
