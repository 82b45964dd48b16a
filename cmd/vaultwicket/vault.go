package main

import (
	"context"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/vault"
)

var vaultHelp = description{
	Name: "vault", Usage: "FOLDER [--write] COMMAND [key=value | flag …]", Group: groupUse, Summary: "the embedded CLI itself, without the gateway",
	About: []string{
		"It has no tiers, no approvals and no audit log: do not give it to an agent. It only reads unless --write is given, and obeys the access rules of the settings file.",
	},
	Examples: []example{
		{"its commands", "vaultwicket vault ~/Notes help"},
		{"read a note", "vaultwicket vault ~/Notes read path=Plan.md"},
	},
}

// vaultName is the subcommand that bypasses the gateway.
const vaultName = "vault"

// runVault runs the embedded CLI, another program in the same binary, with the arguments after
// "vaultwicket vault", and returns the exit status.
//
// The gateway starts it for each permitted call. It then reads no settings, which
// keeps the start short. Typed by a user it bypasses the gateway: there are no tiers, no approvals
// and no audit log. It still obeys the pause and the access rules of the settings for the
// vault, and on a terminal it prints no control characters.
func runVault(args []string, std terminal.Streams) int {
	getenv, err := bootstrap.VaultEnvironment(std, args)
	if err != nil {
		return terminal.PrintError(std.Err, err)
	}
	if len(args) > 0 && args[0] == "--json" {
		err := terminal.NoJSON(vaultName)
		err.Advice = "its commands have format=json"
		return terminal.PrintError(std.Err, err)
	}
	out := terminal.NewOutput(std.Out)
	status := 0
	if terminal.IsTerminal(out) {
		cleaned := sanitize.NewStream(out)
		status = vault.Main(args, std.In, cleaned, std.Err, getenv)
		_ = cleaned.Flush() // out remembers the error
	} else {
		status = vault.Main(args, std.In, out, std.Err, getenv)
	}
	if err := out.CheckDone(nil, lookAtNotes); err != nil {
		return terminal.PrintError(std.Err, err)
	}
	return status
}

// vaultFlags handles --help and --version of the subcommand; [runVault] handles everything else.
func vaultFlags(_ context.Context, _ terminal.Streams, args []string) error {
	_, err := terminal.ParseFlags(vaultName, args, nil)
	return err
}
