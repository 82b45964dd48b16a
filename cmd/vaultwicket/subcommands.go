package main

import (
	"context"
	"fmt"

	"vaultwicket/allowlist"
)

// subcommand is one of the words that can stand behind "vaultwicket".
type subcommand struct {
	name, usage, summary string
	run                  func(ctx context.Context, std streams, args []string) error
}

// subcommands lists them in the order of the help text.
func subcommands() []subcommand {
	return []subcommand{
		{"run", "[flags] COMMAND [key=value | flag …]", "one command through the gateway", runCommand},
		{"dry-run", "[flags] COMMAND [key=value | flag …]", "what would happen; nothing is changed", dryRun},
		{"batch", "[flags] FILE|-", "several commands from a file of JSON", batch},
		{"serve", "[flags]", "MCP on standard input and output", serve},
		{"undo", "[flags] [ID]", "take back a change, the last one if none is named", undo},
		{"journal", "[flags] list | show ID", "what was changed", showJournal},
		{"commands", "[flags] [--all]", "what is allowed here; with --all also what is not, and why", listCommands},
		{"explain", "[flags] COMMAND", "one command: parameters, tier, effect, whether it is allowed", explain},
		{"demo", "", "a whole session on a built-in vault", demo},
		{"vault", "FOLDER COMMAND [key=value | flag …]", "the embedded vault CLI itself", nil},
		{"version", "[--json]", "the version of vaultwicket", printVersion},
		{"help", "[COMMAND]", "this text, or the flags of one command", help},
	}
}

func unknownSubcommand(name string) error {
	var names []string
	for _, c := range subcommands() {
		names = append(names, c.name)
	}
	err := &wrongUse{reason: fmt.Sprintf("%q is no command of vaultwicket", clip(name)), hint: `"vaultwicket help" shows the commands`}
	if near := allowlist.Nearest(name, names); near != "" {
		err.hint = fmt.Sprintf("did you mean %q?", near)
	} else if _, known := allowlist.Describe(name); known == nil {
		err.hint = fmt.Sprintf(`commands of the vault run as "vaultwicket run %s"`, name)
	}
	return err
}

const maxQuoted = 120 // of a text from the command line in one of our messages

func clip(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	return s[:maxQuoted] + "…"
}
