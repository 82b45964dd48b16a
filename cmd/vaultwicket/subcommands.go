package main

import (
	"context"
	"fmt"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/auditlog"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

// subcommand is one of the words that can stand behind "vaultwicket".
type subcommand struct {
	name, usage, summary string
	run                  func(ctx context.Context, std terminal.Streams, args []string) error
}

// subcommands lists them in the order of the help text.
func subcommands() []subcommand {
	return []subcommand{
		{"run", "[flags] COMMAND [key=value | flag …]", "one command through the gateway", runCommand},
		{"dry-run", "[flags] COMMAND [key=value | flag …]", "what would happen; nothing is changed", dryRun},
		{"batch", "[flags] FILE|-", "several commands from a file of JSON", batch},
		{"serve", "[flags]", "MCP on standard input and output, or over HTTP", serve},
		{"undo", "[flags] [ID | --batch ID | --session[=ID]]", "take back a change, the latest if none is named", undo},
		{"journal", "[flags] list | show ID", "what was changed", showJournal},
		{"audit", "list [flags] | verify | export FILE|-", "what was decided about each call, and how it ended", auditlog.Command},
		{"approvals", "[--json]", "the questions that wait for a person", listApprovals},
		{"approve", "CODE", "say yes to a question, at a terminal", approve},
		{"deny", "CODE", "say no to a question", deny},
		{"pause", "[--json]", "refuse every call, at once, in every running server", pause},
		{"resume", "[--json]", "let calls through again", resume},
		{"commands", "[flags] [--all]", "what is allowed here; with --all also what is not, and why", listCommands},
		{"explain", "[flags] COMMAND", "one command: parameters, tier, effect, whether it is allowed", explain},
		{"prompt", "[flags] NAME [key=value …]", "the text of an MCP prompt, for a client without prompts", promptText},
		{"config", "[flags] show | check | path | init | schema", "the settings, each with where it comes from", settings.Command},
		{"demo", "", "a whole session on a built-in vault", runDemo},
		{"vault", "FOLDER [--write] COMMAND [key=value | flag …]", "the embedded vault CLI itself, which is not the gateway", nil},
		{"version", "[--json]", "the version of vaultwicket", printVersion},
		{"help", "[COMMAND]", "this text, or the flags of one command", help},
	}
}

func unknownSubcommand(name string) error {
	var names []string
	for _, c := range subcommands() {
		names = append(names, c.name)
	}
	err := &exit.UsageError{Reason: fmt.Sprintf("%q is no command of vaultwicket", quote.Clip(name, quote.Limit)), Advice: `"vaultwicket help" shows the commands`}
	if near := quote.Nearest(name, names); near != "" {
		err.Advice = fmt.Sprintf("did you mean %q?", near)
	} else if _, known := allowlist.Describe(name); known == nil {
		err.Advice = fmt.Sprintf(`commands of the vault run as "vaultwicket run %s"`, name)
	}
	return err
}

func subcommandNamed(name string) (subcommand, bool) {
	for _, c := range subcommands() {
		if c.name == name {
			return c, true
		}
	}
	return subcommand{}, false
}
