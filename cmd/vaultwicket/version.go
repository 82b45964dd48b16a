package main

import (
	"context"
	"fmt"
	"runtime"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/drift"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/terminal"
)

// printVersion is "vaultwicket version".
func printVersion(_ context.Context, std terminal.Streams, args []string) error {
	switch {
	case len(args) == 0:
		fmt.Fprintf(std.Out, "vaultwicket %s\n", release.Version)
		if known, ok := drift.Known(std.Getenv); ok {
			noteDrift(std, known)
		}
		return nil
	case len(args) == 1 && args[0] == "--json":
		facts := map[string]any{
			"version": release.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		}
		if known, ok := drift.Known(std.Getenv); ok {
			facts["obsidian"] = known
		}
		return exit.JSON(std.Out, facts, exit.Done)
	}
	return &exit.UsageError{Reason: fmt.Sprintf("version: unexpected argument %q", quote.Short(args[0])), Advice: "the one flag is --json"}
}
