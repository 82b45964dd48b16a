package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/state/paths"
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
		{"serve", "[flags]", "MCP on standard input and output, or over HTTP", serve},
		{"undo", "[flags] [ID | --batch ID | --session[=ID]]", "take back a change, the latest if none is named", undo},
		{"journal", "[flags] list | show ID", "what was changed", showJournal},
		{"audit", "list [flags] | verify | export FILE|-", "what was decided about each call, and how it ended", showAudit},
		{"approvals", "[--json]", "the questions that wait for a person", listApprovals},
		{"approve", "CODE", "say yes to a question, at a terminal", approve},
		{"deny", "CODE", "say no to a question", deny},
		{"pause", "[--json]", "refuse every call, at once, in every running server", pause},
		{"resume", "[--json]", "let calls through again", resume},
		{"commands", "[flags] [--all]", "what is allowed here; with --all also what is not, and why", listCommands},
		{"explain", "[flags] COMMAND", "one command: parameters, tier, effect, whether it is allowed", explain},
		{"prompt", "[flags] NAME [key=value …]", "the text of an MCP prompt, for a client without prompts", promptText},
		{"config", "[flags] show | check | path | init | schema", "the settings, each with where it comes from", configCommand},
		{"demo", "", "a whole session on a built-in vault", demo},
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
	err := &wrongUse{reason: fmt.Sprintf("%q is no command of vaultwicket", quote.Clip(name, maxQuoted)), hint: `"vaultwicket help" shows the commands`}
	if near := quote.Nearest(name, names); near != "" {
		err.hint = fmt.Sprintf("did you mean %q?", near)
	} else if _, known := allowlist.Describe(name); known == nil {
		err.hint = fmt.Sprintf(`commands of the vault run as "vaultwicket run %s"`, name)
	}
	return err
}

// words reads the flags of a subcommand that has no settings, and so works
// whatever they are. It returns the other words.
func words(name string, std streams, args []string, define func(*flags)) ([]string, error) {
	f := &flags{FlagSet: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	f.SortFlags = false
	f.Usage = func() {}
	define(f)
	err := f.Parse(args)
	if err == nil {
		return f.Args(), nil
	}
	if errors.Is(err, pflag.ErrHelp) {
		subcommand, _, _ := strings.Cut(name, " ")
		err = helpInstead(err, std, subcommand)
		if f.HasFlags() {
			fmt.Fprintf(std.out, "\n%s", f.FlagUsages())
		}
		return nil, err
	}
	return nil, f.explain(err)
}

// stateFolder returns where pause, audit log and approvals are kept. An error has
// been reported.
func stateFolder(std streams) (string, error) {
	if state := paths.State(std.getenv, ""); state != "" {
		return state, nil
	}
	return "", std.say(statusSurroundings, "there is no place for what vaultwicket keeps", "set HOME or XDG_STATE_HOME to an absolute path")
}

// maxQuoted bounds what an error repeats of a text from outside, in bytes.
const maxQuoted = 120
