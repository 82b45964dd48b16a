package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/doctor"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// callPrefix is the beginning of a command line that runs a command of a vault.
const callPrefix = "vaultwicket run"

var commandsHelp = description{
	Name: "commands", Usage: "[flags] [--all]", Group: groupUse, Summary: "list enabled commands; with --all also the others, and why not",
	Examples: []example{
		{"what is enabled by default", "vaultwicket commands"},
		{"everything, with the reason for each that is not enabled", "vaultwicket commands --all"},
	},
}

var explainHelp = description{
	Name: "explain", Usage: "[flags] COMMAND", Group: groupUse, Summary: "describe a command: parameters, tier, effect, whether it is enabled",
	Examples: []example{{"the parameters of a command", "vaultwicket explain tasks"}},
}

// listCommands runs "vaultwicket commands", which lists the enabled commands, or all of them.
func listCommands(ctx context.Context, std terminal.Streams, args []string) error {
	var showAll bool
	var screenOptions terminal.ScreenOptions
	o, err := bootstrap.Open("commands", std, args, func(f *settings.Flags) {
		f.BoolVar(&showAll, "all", false, "also the commands that are not enabled, and why not")
		f.CallsServer()
		screenOptions.ColorFlag(f.FlagSet)
	})
	if err != nil {
		return err
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("commands: unexpected argument %q", excerpt.Short(o.Rest[0])),
			Advice: `"vaultwicket explain COMMAND" shows one command`,
		}
	}
	commands := []gateway.ExplainedCommand{}
	if o.Remote != nil {
		list, err := serverOf(o, nil).Commands(ctx)
		if err != nil {
			return err
		}
		for _, c := range list {
			if showAll || c.Allowed {
				commands = append(
					commands,
					gateway.ExplainedCommand{CommandEntry: c, Why: c.Hint, Params: []gateway.ExplainedParam{}},
				)
			}
		}
	} else {
		for _, c := range o.Gateway.Listing() {
			if showAll || c.Enabled() {
				commands = append(commands, c.Explained())
			}
		}
		if showAll {
			commands = append(commands, drifted(ctx, o)...)
		}
		if why := o.Gateway.WhyEnded(); why != "" {
			terminal.Notef(std.Err, "no command is enabled: %s", why)
		}
	}
	if o.JSON {
		return terminal.PrintJSON(std.Out, commands, terminal.ExitDone)
	}
	screen := terminal.NewScreen(std, screenOptions, time.Time{})
	columns := []terminal.Column{{Title: "command and its parameters", Min: 10}}
	if showAll {
		columns = []terminal.Column{{Title: "command"}, {Title: "enabled", Min: 10}}
	}
	table := screen.Table(append([]terminal.Column{{Title: "tier"}, {Title: "effect"}}, columns...)...)
	for _, c := range commands {
		effect := terminal.Cell{Text: c.Effect, Style: terminal.EffectStyles[c.Effect]}
		switch {
		case !showAll:
			table.Add(terminal.Text(c.Tier), effect, terminal.Text(c.Signature))
		case c.Why == "":
			table.Add(
				terminal.Text(c.Tier),
				effect,
				terminal.Text(c.Name),
				terminal.Cell{Text: "allowed", Style: terminal.Good},
			)
		default:
			table.Add(
				terminal.Text(c.Tier),
				effect,
				terminal.Text(c.Name),
				terminal.Cell{Text: c.Why, Style: terminal.Faint},
			)
		}
	}
	return table.Flush()
}

// explain runs "vaultwicket explain", which describes a command.
func explain(ctx context.Context, std terminal.Streams, args []string) error {
	o, err := bootstrap.Open("explain", std, args, (*settings.Flags).CallsServer)
	if err != nil {
		return err
	}
	if len(o.Rest) != 1 {
		return &terminal.UsageError{
			Reason: "explain requires one command",
			Advice: `"vaultwicket commands --all" lists them`,
		}
	}
	var text string
	if o.Remote != nil {
		if o.JSON {
			return &terminal.UsageError{
				Reason: "explain: --json cannot be combined with --url",
				Advice: "leave one of them out",
			}
		}
		text, err = serverOf(o, nil).Help(ctx, o.Rest[0])
		text = withTypedExample(terminal.Visible(text), o.Rest[0])
	} else {
		var c gateway.CommandListing
		if c, err = o.Gateway.Explain(o.Rest[0]); err == nil {
			explained := c.Explained()
			explained.Hint = o.OwnerHint(std, explained.Hint)
			for i := range explained.Also {
				explained.Also[i].Hint = o.OwnerHint(std, explained.Also[i].Hint)
			}
			text = terminal.ForOwner(explained.TextAtTerminal(callPrefix))
		}
		if err == nil && o.JSON {
			return terminal.PrintJSON(std.Out, c.Explained(), terminal.ExitDone)
		}
	}
	if err != nil {
		return err
	}
	return terminal.Write(std.Out, terminal.Fit(std.Out, text))
}

// withTypedExample replaces the example in a server's description of a command, which is written for agents, by one
// that can be typed in a terminal.
func withTypedExample(text, command string) string {
	const label = "\n  Example: "
	before, after, hasExample := strings.Cut(text, label)
	_, rest, _ := strings.Cut(after, "\n")
	typed := callPrefix + " " + allowlist.ExampleLine(command)
	if !hasExample {
		return text
	}
	return before + label + typed + "\n" + rest
}

// drifted returns the commands of the installed app that are not in the allowlist, which nothing can enable. It
// returns none if the app is not used or does not answer.
func drifted(ctx context.Context, o bootstrap.Opened) (unknown []gateway.ExplainedCommand) {
	if o.Backend == settings.Embedded {
		return nil
	}
	drift, err := doctor.CheckDrift(ctx, o.Std.Getenv, o.Gateway)
	if err != nil {
		return nil
	}
	for _, notice := range drift.Notices() {
		terminal.Notef(o.Std.Err, "%s", notice)
	}
	for _, name := range drift.New {
		unknown = append(unknown, gateway.ExplainedCommand{
			CommandEntry: gateway.CommandEntry{
				Name:      name,
				Tier:      "unknown",
				Effect:    "unknown",
				Signature: name,
				Code:      allowlist.CodeUnknownCommand,
			},
			Why:     "new in Obsidian " + drift.Version + " and not known to vaultwicket; permanently disabled",
			Summary: "unknown", MaxEffect: "unknown", Since: "unknown", Params: []gateway.ExplainedParam{},
		})
	}
	return unknown
}
