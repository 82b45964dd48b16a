package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/terminal"
)

// help is "vaultwicket help": the list of commands, or what COMMAND --help prints.
func help(ctx context.Context, std terminal.Streams, args []string) error {
	args, err := flags.Parse("help", args, nil)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		printHelp(std.Out)
		return nil
	}
	c, found := subcommandNamed(args[0])
	switch {
	case !found:
		return unknownSubcommand(args[0])
	case c.run == nil:
		printUsage(std.Out, c, "")
		return nil
	}
	return exit.Silent(run([]string{c.name, "--help"}, std))
}

func printHelp(out io.Writer) {
	fmt.Fprint(out, "vaultwicket is a policy-enforcing gateway (MCP server) for Obsidian vaults.\n\n")
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range subcommands() {
		if c.name == rawName { // bypasses the gateway; see docs/vault.md
			continue
		}
		fmt.Fprintf(w, "  vaultwicket %s\t%s\n", c.name+" "+c.usage, c.summary)
	}
	w.Flush()
	fmt.Fprint(out, "\n\"vaultwicket help COMMAND\" shows the flags of a command. Every setting is a flag (--allow-mutations),\n"+
		"an environment variable (VAULTWICKET_ALLOW_MUTATIONS) and a key of the settings file (allow-mutations = true).\n")
}

// printUsage prints the usage of a subcommand. usages describes its flags, "" for none.
func printUsage(out io.Writer, c subcommand, usages string) {
	fmt.Fprintf(out, "vaultwicket %s %s\n  %s\n", c.name, c.usage, c.summary)
	if usages != "" {
		fmt.Fprintf(out, "\n%s", usages)
	}
}
