package main

import (
	"context"
	"fmt"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/auditlog"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/manual"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

// subcommand is one of the words that can follow "vaultwicket". Package manual has what is
// told of it.
type subcommand struct {
	manual.Command
	run runner
}

// runner runs a subcommand with the words behind it.
type runner = func(ctx context.Context, std terminal.Streams, args []string) error

// runners are the subcommands. The embedded CLI is another program; of it only the help
// comes from here.
func runners() map[string]runner {
	return map[string]runner{
		"run": runCommand, "dry-run": dryRun, "batch": batch, "serve": serve, "undo": undo, "journal": showJournal, "audit": auditlog.Command,
		"approvals": listApprovals, "approve": approve, "deny": deny, "pause": pause, "resume": resume,
		"commands": listCommands, "explain": explain, "access": showAccess, "compare": compareBackends, "prompt": promptText,
		"config": settings.Command, "install": install, "uninstall": uninstall, "doctor": runDoctor, "ui": showPage, "demo": runDemo,
		"version": printVersion, "completion": printCompletion, "man": printManual, "help": help,
		rawName: func(_ context.Context, _ terminal.Streams, args []string) error {
			_, err := flags.Parse(rawName, args, nil)
			return err
		},
	}
}

func unknownSubcommand(name string) error {
	var names []string
	for _, c := range manual.Commands() {
		names = append(names, c.Name)
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
	for _, c := range manual.Commands() {
		if c.Name == name {
			return subcommand{c, runners()[name]}, true
		}
	}
	return subcommand{}, false
}
