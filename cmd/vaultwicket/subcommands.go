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

// subcommand is one of the words that can follow "vaultwicket".
type subcommand struct {
	name, usage, summary string
	run                  func(ctx context.Context, std terminal.Streams, args []string) error
}

// subcommands lists them in the order of the help text.
func subcommands() []subcommand {
	return []subcommand{
		{"run", "[flags] COMMAND [key=value | flag …]", "run a command through the gateway", runCommand},
		{"dry-run", "[flags] COMMAND [key=value | flag …]", "preview a command; nothing is changed", dryRun},
		{"batch", "[flags] FILE|-", "run several commands from a JSON file", batch},
		{"serve", "[flags]", "serve MCP over stdio or HTTP", serve},
		{"undo", "[flags] [list | ID | --batch ID | --session[=ID]]", "undo a change (default: the latest), or list what can be undone", undo},
		{"journal", "[flags] list | show ID", "list changes", showJournal},
		{"audit", "list [flags] | verify | export FILE|-", "list, verify or export the audit log", auditlog.Command},
		{"approvals", "[--json]", "list pending approvals", listApprovals},
		{"approve", "CODE", "approve a pending request, at a terminal", approve},
		{"deny", "CODE", "deny a pending request", deny},
		{"pause", "[--json]", "deny every call immediately, in every running server", pause},
		{"resume", "[--json]", "resume after a pause", resume},
		{"commands", "[flags] [--all]", "list enabled commands; with --all also the others, and why not", listCommands},
		{"explain", "[flags] COMMAND", "describe a command: parameters, tier, effect, whether it is enabled", explain},
		{"access", "[flags] PATH", "what agents can do with a note or folder, and which rule says so", showAccess},
		{"compare", "[flags]", "ask both backends the same reading commands, and show where they differ", compareBackends},
		{"prompt", "[flags] NAME [key=value …]", "print an MCP prompt, for a client without prompts", promptText},
		{"config", "[flags] show | check | path | init | schema", "show, check or create the settings", settings.Command},
		{"install", "[flags] CLIENT | --all | --list", "add vaultwicket to an MCP client, after showing the change", install},
		{"uninstall", "[flags] CLIENT | --all", "remove vaultwicket from an MCP client, after showing the change", uninstall},
		{"doctor", "[flags]", "check this installation; each problem with its fix", runDoctor},
		{"demo", "", "play an MCP session on a built-in vault", runDemo},
		{"vault", "FOLDER [--write] COMMAND [key=value | flag …]", "the embedded CLI itself, without the gateway", nil},
		{"version", "[--json]", "print the version", printVersion},
		{"completion", "bash | zsh | fish | powershell", "print the completion script of a shell", printCompletion},
		{"help", "[COMMAND]", "show this text, or the flags of a command", help},
	}
}

func unknownSubcommand(name string) error {
	var names []string
	for _, c := range subcommands() {
		names = append(names, c.name)
	}
	err := &exit.UsageError{Reason: fmt.Sprintf("unknown command %q", quote.Short(name)), Advice: `"vaultwicket help" shows the commands`}
	if near := quote.Nearest(name, names); near != "" {
		err.Advice = fmt.Sprintf("did you mean %q?", near)
	} else if _, known := allowlist.Describe(name); known == nil {
		err.Advice = fmt.Sprintf(`vault commands run as "vaultwicket run %s"`, name)
	}
	return err
}

// conventions are the flags by which other programs print their help and version.
var conventions = map[string]string{"-h": "help", "--help": "help", "-V": "version", "--version": "version"}

func subcommandNamed(name string) (subcommand, bool) {
	if convention, known := conventions[name]; known {
		name = convention
	}
	for _, c := range subcommands() {
		if c.name == name {
			return c, true
		}
	}
	return subcommand{}, false
}
