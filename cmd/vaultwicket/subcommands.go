package main

import (
	"context"
	"fmt"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/approver"
	"vaultwicket/cmd/internal/auditlog"
	"vaultwicket/cmd/internal/calls"
	"vaultwicket/cmd/internal/history"
	"vaultwicket/cmd/internal/listing"
	"vaultwicket/cmd/internal/manual"
	"vaultwicket/cmd/internal/rawvault"
	"vaultwicket/cmd/internal/servers"
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
		"run": calls.Run, "dry-run": calls.DryRun, "batch": calls.Batch, "journal": history.Journal, "undo": history.Undo, "audit": auditlog.Command,
		"serve": servers.Serve, "ui": servers.Page, "approvals": approver.List, "approve": approver.Approve, "deny": approver.Deny, "pause": pause, "resume": resume,
		"commands": listing.Commands, "explain": listing.Explain, "access": listing.Access, "compare": compareBackends, "prompt": promptText,
		"config": settings.Command, "install": install, "uninstall": uninstall, "doctor": runDoctor, "demo": runDemo,
		"version": printVersion, "completion": printCompletion, "man": printManual, "help": help,
		rawvault.Name: func(_ context.Context, _ terminal.Streams, args []string) error {
			_, err := terminal.ParseFlags(rawvault.Name, args, nil)
			return err
		},
	}
}

// unknownSubcommand explains a name that is no subcommand; after are the words after it.
func unknownSubcommand(name string, after []string) error {
	var names []string
	for _, c := range manual.Commands() {
		names = append(names, c.Name)
	}
	err := &terminal.UsageError{Reason: fmt.Sprintf("unknown command %q", quote.Short(name)), Advice: `"vaultwicket help" shows the commands`}
	spaced := ""
	if len(after) > 0 {
		if _, unknown := allowlist.Describe(name + ":" + after[0]); unknown == nil { // "daily read"
			spaced = name + ":" + after[0]
		}
	}
	if spaced != "" {
		err.Advice = fmt.Sprintf(`did you mean "vaultwicket run %s"?`, spaced)
	} else if near := quote.Nearest(name, names); near != "" {
		err.Advice = fmt.Sprintf("did you mean %q?", near)
	} else if _, known := allowlist.Describe(name); known == nil {
		err.Advice = fmt.Sprintf(`"vaultwicket run %[1]s" runs this command of a vault, "vaultwicket explain %[1]s" describes it`, name)
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
