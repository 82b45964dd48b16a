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

// callPrefix is what a call of a command begins with at a terminal.
const callPrefix = "vaultwicket run"

var helpOfCommands = description{
	Name: "commands", Usage: "[flags] [--all]", Group: groupUse, Summary: "list enabled commands; with --all also the others, and why not",
	Examples: []example{
		{"what is enabled by default", "vaultwicket commands"},
		{"everything, with the reason for each that is not enabled", "vaultwicket commands --all"},
	},
}

var helpOfExplain = description{
	Name: "explain", Usage: "[flags] COMMAND", Group: groupUse, Summary: "describe a command: parameters, tier, effect, whether it is enabled",
	Examples: []example{{"the parameters of a command", "vaultwicket explain tasks"}},
}

func listCommands(ctx context.Context, std terminal.Streams, args []string) error {
	var all bool
	var look terminal.ScreenOptions
	o, err := bootstrap.Open("commands", std, args, func(f *settings.Flags) {
		f.BoolVar(&all, "all", false, "also the commands that are not enabled, and why not")
		f.CallsServer()
		look.ColorFlag(f.FlagSet)
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
			if all || c.Allowed {
				commands = append(
					commands,
					gateway.ExplainedCommand{CommandEntry: c, Why: c.Hint, Params: []gateway.ExplainedParam{}},
				)
			}
		}
	} else {
		for _, c := range o.Gateway.Listing() {
			if all || c.Enabled() {
				commands = append(commands, c.Explained())
			}
		}
		if all {
			commands = append(commands, drifted(ctx, o)...)
		}
		if why := o.Gateway.WhyEnded(); why != "" {
			terminal.Notef(std.Err, "no command is enabled: %s", why)
		}
	}
	if o.JSON {
		return terminal.PrintJSON(std.Out, commands, terminal.ExitDone)
	}
	// Print the parameters of commands, or with all whether each is enabled.
	s := terminal.NewScreen(std, look, time.Time{})
	last := []terminal.Column{{Title: "command and its parameters", Min: 10}}
	if all {
		last = []terminal.Column{{Title: "command"}, {Title: "enabled", Min: 10}}
	}
	table := s.Table(append([]terminal.Column{{Title: "tier"}, {Title: "effect"}}, last...)...)
	for _, c := range commands {
		effect := terminal.Cell{Text: c.Effect, Style: terminal.EffectStyles[c.Effect]}
		switch {
		case !all:
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

// withTypedExample returns the description of a command by a server with the example as it is typed here: the server
// gives it as agents write it.
func withTypedExample(text, command string) string {
	const label = "\n  Example: "
	before, after, found := strings.Cut(text, label)
	_, rest, _ := strings.Cut(after, "\n")
	typed := callPrefix + " " + allowlist.ExampleLine(command)
	if !found {
		return text
	}
	return before + label + typed + "\n" + rest
}

// drifted compares the commands of the installed app with the table, and returns the unknown
// ones, which nothing enables. It returns none if the app is not used or does not answer.
func drifted(ctx context.Context, o bootstrap.Opened) (unknown []gateway.ExplainedCommand) {
	if o.Backend == settings.Embedded {
		return nil
	}
	d, err := doctor.CheckDrift(ctx, o.Std.Getenv, o.Gateway)
	if err != nil {
		return nil
	}
	for _, notice := range d.Notices() {
		terminal.Notef(o.Std.Err, "%s", notice)
	}
	for _, name := range d.New {
		unknown = append(unknown, gateway.ExplainedCommand{
			CommandEntry: gateway.CommandEntry{
				Name:      name,
				Tier:      "unknown",
				Effect:    "unknown",
				Signature: name,
				Code:      allowlist.CodeUnknownCommand,
			},
			Why:     "new in Obsidian " + d.Version + " and not known to vaultwicket; permanently disabled",
			Summary: "unknown", MaxEffect: "unknown", Since: "unknown", Params: []gateway.ExplainedParam{},
		})
	}
	return unknown
}
