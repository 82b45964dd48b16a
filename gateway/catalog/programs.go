package catalog

import (
	"vaultwicket/allowlist"
	"vaultwicket/gateway/failure"
)

// Programs says which programs can be started for a vault. Whether the app runs is not
// known without asking it: where its CLI is installed, it counts.
type Programs struct{ App, Embedded bool }

// missing says why no program can answer a command, nil if one can. If there is no
// program at all, the answer to a call says more about it than a short list of commands.
func (p Programs) missing(c allowlist.Command) *failure.Error {
	switch {
	case p.App == p.Embedded:
		return nil
	case !p.App && c.NeedsApp:
		return &failure.Error{
			Code: failure.CodeNeedsApp, Message: "requires the Obsidian app, which is not used here",
			Hint: "the user can install the Obsidian CLI, open the vault in Obsidian and set backend to auto",
		}
	case !p.Embedded && c.EmbeddedOnly:
		return &failure.Error{
			Code: failure.CodeVaultNotFound, Message: "requires the embedded backend, which needs the folder of the vault",
			Hint: "the user can set vault to the folder of the vault",
		}
	}
	return nil
}
