package main

import (
	"context"
	"fmt"
	"runtime"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/release"
)

// printVersion is "vaultwicket version".
func printVersion(_ context.Context, std streams, args []string) error {
	switch {
	case len(args) == 0:
		fmt.Fprintf(std.out, "vaultwicket %s\n", release.Version)
		return nil
	case len(args) == 1 && args[0] == "--json":
		return printJSON(std.out, map[string]string{
			"version": release.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		}, statusDone)
	}
	return &wrongUse{reason: fmt.Sprintf("version takes no %q", quote.Clip(args[0], maxQuoted)), hint: "the one flag is --json"}
}
