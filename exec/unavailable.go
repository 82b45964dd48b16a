package exec

import "vaultwicket/allowlist/quote"

// The answers of the client that tell of its surroundings, with what mends
// them.

func notRunning() *Unavailable {
	return &Unavailable{
		code: CodeNotRunning, reason: "the client cannot reach the Obsidian app",
		hint: "the user can start Obsidian; if it runs, this process may be kept from it by a sandbox, " +
			"or may have another HOME or XDG_RUNTIME_DIR than the app",
	}
}

func cliDisabled() *Unavailable {
	return &Unavailable{
		code: CodeDisabled, reason: "the command line interface of the Obsidian app is switched off",
		hint: "the user can switch it on in Obsidian under Settings > General > Advanced > Command line interface",
	}
}

func vaultNotFound() *Unavailable {
	return &Unavailable{
		code: CodeVaultNotFound, reason: "the Obsidian app does not know the vault, or has none open",
		hint: "compare the name with the output of the command vaults (names are case-sensitive); the user can open the vault in Obsidian",
	}
}

func vaultStarting() *Unavailable {
	return &Unavailable{
		code: CodeVaultStarting, reason: "the vault is being opened and does not know its commands yet",
		hint: "nothing was run; ask again in a few seconds",
	}
}

// firstCommands are registered by the app itself and not by a plugin. A vault
// that does not know them is not ready.
var firstCommands = [...]string{
	"version", "help", "vault", "vaults", "file", "files", "folder", "folders", "open", "create", "read",
	"append", "prepend", "move", "rename", "delete",
}

// afterColdStart judges a call that was asked twice and not known by the client
// either time. The same answer for a command that a plugin brings means that
// the plugin is off; anything else means that the vault is still changing.
func afterColdStart(name, first, second string) (*Failure, *Unavailable) {
	for _, known := range firstCommands {
		if name == known {
			return nil, vaultStarting()
		}
	}
	if first != second {
		return nil, vaultStarting()
	}
	return &Failure{
		code: CodeCLIError, reason: "the client answered " + quote.Quoted(firstLine(second)),
		hint: "the user can switch on the core plugin that brings this command, in Obsidian under Settings > Core plugins",
	}, nil
}
