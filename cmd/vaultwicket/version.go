package main

import (
	"context"
	"fmt"
	"runtime"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/terminal"
)

// printVersion is "vaultwicket version".
func printVersion(_ context.Context, std terminal.Streams, args []string) error {
	switch {
	case len(args) == 0:
		fmt.Fprintf(std.Out, "vaultwicket %s\n", release.Version)
		return nil
	case len(args) == 1 && args[0] == "--json":
		return exit.JSON(std.Out, map[string]string{
			"version": release.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		}, exit.Done)
	}
	return &exit.UsageError{Reason: fmt.Sprintf("version: unexpected argument %q", quote.Short(args[0])), Advice: "the one flag is --json"}
}
