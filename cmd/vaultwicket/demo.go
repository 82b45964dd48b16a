package main

import (
	"context"
	"fmt"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/demo"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
)

// runDemo is "vaultwicket demo".
func runDemo(ctx context.Context, std terminal.Streams, args []string) error {
	args, err := terminal.ParseFlags("demo", args, nil)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &terminal.UsageError{Reason: fmt.Sprintf("demo: unexpected argument %q", quote.Short(args[0])), Advice: "demo has no arguments"}
	}
	clock, err := settings.Clock(std)
	if err != nil {
		return err
	}
	return demo.Run(ctx, std, clock(), func(std terminal.Streams) (*exec.Runner, error) {
		return settings.NewRunner(settings.Settings{Timeout: settings.MaxTimeout}, std, false, nil)
	})
}
