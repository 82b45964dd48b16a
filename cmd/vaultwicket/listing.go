package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/catalog"
)

// listCommands is "vaultwicket commands".
func listCommands(ctx context.Context, std terminal.Streams, args []string) error {
	var all bool
	o, err := open("commands", std, args, func(f *settings.Flags) {
		f.BoolVar(&all, "all", false, "also the commands that are not enabled, and why not")
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
	w := tabwriter.NewWriter(std.Out, 0, 8, 2, ' ', 0)
	for _, c := range commands {
		line := c.Tier + "\t" + c.Effect + "\t" + c.Signature
		if all {
			line = c.Tier + "\t" + c.Effect + "\t" + c.Name + "\t" + allowedOr(c.Why)
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

func allowedOr(why string) string {
	if why == "" {
		return "allowed"
	}
	return why
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
