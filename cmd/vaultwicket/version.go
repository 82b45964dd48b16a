package main

import (
	"context"
	"fmt"

	"github.com/vaultwicket/vaultwicket/cmd/internal/doctor"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

var versionHelp = description{
	Name: "version", Usage: "[--json]", Group: groupOther, Summary: "print the version and how the program was built",
	About:    []string{"With --json it also prints all modules of the program."},
	Examples: []example{{"for a bug report", "vaultwicket version"}},
}

// printVersion runs "vaultwicket version". It also prints how the commands of the installed app differ from the
// allowlist, if that is known.
func printVersion(_ context.Context, std terminal.Streams, args []string) error {
	var asJSON bool
	rest, err := terminal.ParseFlags(
		"version",
		args,
		func(f terminal.FlagSet) { f.BoolVar(&asJSON, "json", false, "print JSON, with all modules") },
	)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("version: unexpected argument %q", excerpt.Short(rest[0])),
			Advice: "the one flag is --json",
		}
	}
	drift, isKnown := doctor.KnownDrift(std.Getenv)
	build := release.ThisBuild()
	if asJSON {
		facts := struct {
			release.Build
			Obsidian *doctor.Drift `json:"obsidian,omitempty"`
		}{Build: build}
		if isKnown {
			facts.Obsidian = &drift
		}
		return terminal.PrintJSON(std.Out, facts, terminal.ExitDone)
	}
	text := fmt.Sprintf("vaultwicket %s\n%s", build.Version, build.Lines())
	if err := terminal.Write(std.Out, terminal.Fit(std.Out, text)); err != nil {
		return err
	}
	if isKnown {
		for _, notice := range drift.Notices() {
			terminal.Notef(std.Err, "%s", notice)
		}
	}
	return nil
}
