package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/pflag"
)

// help is "vaultwicket help".
func help(_ context.Context, std streams, args []string) error {
	if len(args) == 0 {
		printHelp(std.out)
		return nil
	}
	for _, c := range subcommands() {
		if c.name == args[0] {
			printUsage(std.out, c)
			return nil
		}
	}
	return unknownSubcommand(args[0])
}

// helpInstead answers -h on standard output; other errors go on.
func helpInstead(err error, std streams, name string) error {
	if !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	for _, c := range subcommands() {
		if c.name == name {
			printUsage(std.out, c)
		}
	}
	return statusError(statusDone)
}

func printHelp(out io.Writer) {
	fmt.Fprint(out, "vaultwicket lets an AI agent use an Obsidian vault through one guarded door.\n\n")
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range subcommands() {
		if c.name == rawName { // not for somebody who begins; see docs/vault.md
			continue
		}
		fmt.Fprintf(w, "  vaultwicket %s\t%s\n", c.name+" "+c.usage, c.summary)
	}
	w.Flush()
	fmt.Fprint(out, "\n\"vaultwicket help COMMAND\" shows the flags of a command. Every flag is also a setting of the\n"+
		"environment (VAULTWICKET_ALLOW_MUTATIONS) and of the settings file (allow-mutations = true).\n")
}

func printUsage(out io.Writer, c subcommand) {
	fmt.Fprintf(out, "vaultwicket %s %s\n  %s\n", c.name, c.usage, c.summary)
	switch c.name {
	case "run", "dry-run", "batch", "serve", "undo", "journal", "commands", "explain", "prompt", "config":
		f := newFlags(c.name)
		if c.name == "serve" {
			new(serveFlags).add(f)
		}
		if c.name == "undo" {
			new(undoFlags).add(f)
		}
		fmt.Fprintf(out, "\n%s", f.FlagUsages())
	}
}
