package harness

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// FolderCommands are the commands that a folder of notes answers, by the table of
// package allowlist: not those that need the app, that the gateway answers itself, or
// that are permanently disabled. random needs the app to open what it picks; a folder
// answers with the path alone.
func FolderCommands() []allowlist.Command {
	return slices.DeleteFunc(slices.Collect(allowlist.Commands()), func(c allowlist.Command) bool {
		return c.NeedsApp && c.Name != "random" || c.Tier == tiers.Restricted || c.Name == "undo:list" || c.Name == "approvals"
	})
}
