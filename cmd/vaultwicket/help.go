package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/manual"
	"vaultwicket/cmd/internal/rawvault"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

// help is "vaultwicket help": the list of commands, or what COMMAND --help prints.
func help(_ context.Context, std terminal.Streams, args []string) error {
	args, err := flags.Parse("help", args, nil)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		// The embedded CLI bypasses the gateway; see docs/vault.md.
		_, err := io.WriteString(std.Out, manual.OverviewText(screen.Default(std), rawvault.Name))
		return err
	}
	c, found := subcommandNamed(args[0])
	if !found {
		return unknownSubcommand(args[0], args[1:])
	}
	return exit.Silent(run([]string{c.Name, "--help"}, std))
}

// printUsage prints what is told of a subcommand.
func printUsage(std terminal.Streams, c subcommand, list []flags.Flag) {
	_, _ = io.WriteString(std.Out, c.Text(screen.Default(std), ownAndSettings(list)))
}

// ownAndSettings tells the flags of one subcommand from those that are settings.
func ownAndSettings(list []flags.Flag) (f manual.Flags) {
	names := append(settings.Names(), settings.FileFlag)
	if !slices.ContainsFunc(list, func(one flags.Flag) bool { return one.Name == settings.FileFlag }) {
		return manual.Flags{Own: list} // it has no settings, and a flag of that name is another
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
func flagsOf(name string) []flags.Flag {
	c, found := subcommandNamed(name)
	if !found {
		return nil
	}
	quiet := terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }, Environ: func() []string { return nil }}
	var asked *flags.Help
	if !errors.As(c.run(context.Background(), quiet, []string{"--help"}), &asked) {
		return nil
	}
	return asked.Flags
}
