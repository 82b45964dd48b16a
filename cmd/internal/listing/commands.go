// Package listing tells what is enabled, and why the rest is not: commands, explain and
// access. Nothing is carried out.
package listing

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
	"vaultwicket/cmd/internal/wiring"
	"vaultwicket/gateway/catalog"
)

// Commands is "vaultwicket commands".
func Commands(ctx context.Context, std terminal.Streams, args []string) error {
	var all bool
	var look screen.Options
	o, err := wiring.Open("commands", std, args, func(f *settings.Flags) {
		f.BoolVar(&all, "all", false, "also the commands that are not enabled, and why not")
		look.ColorFlag(f.Set)
	})
	if err != nil {
		return err
	}
	if len(o.Rest) > 0 {
		return &exit.UsageError{Reason: fmt.Sprintf("commands: unexpected argument %q", quote.Short(o.Rest[0])), Advice: `"vaultwicket explain COMMAND" shows one command`}
	}
	commands := []catalog.Explained{}
	for _, c := range o.Gateway.Listing() {
		if all || c.Enabled() {
			commands = append(commands, c.Explained())
		}
	}
	if all {
		commands = append(commands, drifted(ctx, o)...)
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
		effect := screen.Cell{Text: c.Effect, Style: screen.EffectStyles[c.Effect]}
		if all {
			table.Add(screen.Text(c.Tier), effect, screen.Text(c.Name), enabledCell(c.Why))
		} else {
			table.Add(screen.Text(c.Tier), effect, screen.Text(c.Signature))
		}
	}
	return table.Flush()
}

func enabledCell(why string) screen.Cell {
	if why == "" {
		return screen.Cell{Text: "allowed", Style: screen.Good}
	}
	return screen.Cell{Text: why, Style: screen.Faint}
}

// Explain is "vaultwicket explain COMMAND".
func Explain(_ context.Context, std terminal.Streams, args []string) error {
	o, err := wiring.Open("explain", std, args, nil)
	if err != nil {
		return err
	}
	if len(o.Rest) != 1 {
		return &exit.UsageError{Reason: "explain requires one command", Advice: `"vaultwicket commands --all" lists them`}
	}
	c, err := o.Gateway.Explain(o.Rest[0])
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
