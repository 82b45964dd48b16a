// Package files has the commands about files and folders as a whole, and about the
// bookmarks and vaults that the app records.
package files

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "vault", Run: vaultInfo},
		{Name: "read", Run: read},
		{Name: "file", Run: fileInfo},
		{Name: "files", OfFiles: true, Run: listFiles},
		{Name: "folder", Run: folderInfo},
		{Name: "folders", Run: listFolders},
		{Name: "move", Plan: move, Verify: meansMoved},
		{Name: "rename", Plan: rename, Verify: meansMoved},
		{Name: "delete", Plan: remove},
		{Name: "bookmarks", Run: listBookmarks},
		{Name: "bookmark", Plan: addBookmark, Verify: meansBookmarked},
		{Name: "recents", Run: listRecents},
		{Name: "recent", Run: listChanged},
		{Name: "vaults", Run: listVaults},
	}
}

// Recent answers the command recent, for what lists changed notes among other things.
func Recent(v *session.Vault, p grammar.Values) (answer.Reply, error) { return listChanged(v, p) }
