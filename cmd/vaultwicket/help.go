package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

var helpOfHelp = description{
	Name: "help", Usage: "[COMMAND]", Group: groupOther, Summary: "show this text, or the flags and examples of a command",
	Examples: []example{{"one command", "vaultwicket help run"}},
}

// help is "vaultwicket help": the list of commands, or the same as COMMAND --help.
func help(_ context.Context, std terminal.Streams, args []string) error {
	args, err := terminal.ParseFlags("help", args, nil)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		// The embedded CLI bypasses the gateway; see docs/vault.md.
		_, err := io.WriteString(std.Out, overviewText(terminal.DefaultScreen(std), vaultName))
		return err
	}
	c, found := subcommandNamed(args[0])
	if !found {
		return unknownSubcommand(args[0], args[1:])
	}
	return terminal.Silent(run([]string{c.Name, "--help"}, std))
}

// ownAndSettings separates the flags of a subcommand from the settings.
func ownAndSettings(list []terminal.Flag) (f flagLists) {
	names := append(settings.Names(), settings.FileFlag)
	if !slices.ContainsFunc(list, func(one terminal.Flag) bool { return one.Name == settings.FileFlag }) {
		return flagLists{Own: list} // it has no settings, and a flag of that name is another
	}
	for _, one := range list {
		if slices.Contains(names, one.Name) {
			f.Settings = append(f.Settings, one)
		} else {
			f.Own = append(f.Own, one)
		}
	}
	return f
}

// flagsOf returns the flags of a subcommand as its help has them.
func flagsOf(name string) []terminal.Flag {
	c, found := subcommandNamed(name)
	if !found {
		return nil
	}
	quiet := terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }, Environ: func() []string { return nil }}
	var asked *terminal.HelpRequested
	if !errors.As(c.run(context.Background(), quiet, []string{"--help"}), &asked) {
		return nil
	}
	return asked.Flags
}
