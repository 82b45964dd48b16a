// Package files has the commands about files and folders as a whole, and about the
// bookmarks and vaults that the app records.
package files

import (
	"slices"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(vaultCommands(), fileCommands(), moveCommands(), deleteCommands(), bookmarkCommands(), bookmarkAddCommands(), recentCommands(), changedCommands(), vaultsCommands())
}

// Recent answers the command recent, for what lists changed notes among other things.
func Recent(v *session.Vault, p grammar.Values) (answer.Reply, error) { return listChanged(v, p) }
