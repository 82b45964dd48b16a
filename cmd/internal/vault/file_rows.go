package vault

import "slices"

// fileRows returns the commands about files, folders, bookmarks and vaults.
func fileRows() []command {
	return slices.Concat(vaultCommands(), fileCommands(), moveCommands(), deleteCommands(), bookmarkCommands(), bookmarkAddCommands(), recentCommands(), changedCommands(), vaultsCommands())
}
