package main

import (
	"context"
	"fmt"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/demo"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/cmd/internal/wiring"
	"vaultwicket/exec"
)

// runDemo is "vaultwicket demo".
func runDemo(ctx context.Context, std terminal.Streams, args []string) error {
	args, err := flags.Parse("demo", args, nil)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &exit.UsageError{Reason: fmt.Sprintf("demo: unexpected argument %q", quote.Short(args[0])), Advice: "demo has no arguments"}
	}
	clock, err := wiring.Clock(std)
	if err != nil {
		return err
	}
	return demo.Run(ctx, std, clock(), func(std terminal.Streams) (*exec.Runner, error) {
		return wiring.NewRunner(settings.Settings{Timeout: settings.MaxTimeout}, std, false, nil)
	})
}
