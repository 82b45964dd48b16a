package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/catalog"
	"vaultwicket/tiers"
)

// listCommands is "vaultwicket commands".
func listCommands(ctx context.Context, std terminal.Streams, args []string) error {
	var all bool
	var look screen.Options
	o, err := open("commands", std, args, func(f *settings.Flags) {
		f.BoolVar(&all, "all", false, "also the commands that are not enabled, and why not")
		look.ColorFlag(f.Set)
	})
	if err != nil {
		return err
	}
	if len(o.rest) > 0 {
		return &exit.UsageError{Reason: fmt.Sprintf("commands: unexpected argument %q", quote.Short(o.rest[0])), Advice: `"vaultwicket explain COMMAND" shows one command`}
	}
	commands := []catalog.Explained{}
	for _, c := range o.gateway.Listing() {
		if all || c.Enabled() {
			commands = append(commands, c.Explained())
		}
	}
	if all {
		commands = append(commands, o.drifted(ctx, std)...)
	}
	if o.JSON {
		return exit.JSON(std.Out, commands, exit.Done)
	}
	return commandTable(screen.New(std, look, time.Time{}), commands, all)
}

// commandTable prints the parameters of commands, or with all whether each is enabled.
func commandTable(s screen.Screen, commands []catalog.Explained, all bool) error {
	last := []screen.Column{{Title: "command and its parameters", Min: 10}}
	if all {
		last = []screen.Column{{Title: "command"}, {Title: "enabled", Min: 10}}
	}
	table := s.Table(append([]screen.Column{{Title: "tier"}, {Title: "effect"}}, last...)...)
	for _, c := range commands {
		effect := screen.Cell{Text: c.Effect, Style: effectStyles[c.Effect]}
		if all {
			table.Add(screen.Text(c.Tier), effect, screen.Text(c.Name), enabledCell(c.Why))
		} else {
			table.Add(screen.Text(c.Tier), effect, screen.Text(c.Signature))
		}
	}
	return table.Flush()
}

// effectStyles are the colours of effects that change something.
var effectStyles = map[string]screen.Style{
	tiers.Writes.String(): screen.Alert, tiers.Destroys.String(): screen.Bad, tiers.Publishes.String(): screen.Bad,
}

func enabledCell(why string) screen.Cell {
	if why == "" {
		return screen.Cell{Text: "allowed", Style: screen.Good}
	}
	return screen.Cell{Text: why, Style: screen.Faint}
}

// explain is "vaultwicket explain COMMAND".
func explain(_ context.Context, std terminal.Streams, args []string) error {
	o, err := open("explain", std, args, nil)
	if err != nil {
		return err
	}
	if len(o.rest) != 1 {
		return &exit.UsageError{Reason: "explain requires one command", Advice: `"vaultwicket commands --all" lists them`}
	}
	c, err := o.gateway.Explain(o.rest[0])
	if err != nil {
		return err
	}
	if o.JSON {
		return exit.JSON(std.Out, c.Explained(), exit.Done)
	}
	if _, err := io.WriteString(std.Out, c.Explained().Text()); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}
