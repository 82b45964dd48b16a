package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/vault"
)

var helpOfVault = description{
	Name: "vault", Usage: "FOLDER [--write] COMMAND [key=value | flag …]", Group: groupUse, Summary: "the embedded CLI itself, without the gateway",
	About: []string{"It has no tiers, no approvals and no audit log: do not give it to an agent. It only reads unless --write is given, and keeps the access rules of the settings file."},
	Examples: []example{
		{"its commands", "vaultwicket vault ~/Notes help"},
		{"read a note", "vaultwicket vault ~/Notes read path=Plan.md"},
	},
}

// accessVariable gives the embedded program the access rules of a vault.
const accessVariable = "VAULTWICKET_ACCESS"

// vaultName is the subcommand that is not the gateway.
const vaultName = "vault"

// runVault runs the embedded CLI, another program in the same binary, with the words after
// "vaultwicket vault", and returns the exit status.
//
// The gateway starts it for each call it has decided about; then it reads no settings, which
// keeps the start short. Typed by hand it is not the gateway: there are no tiers, no approvals
// and no audit log. It still obeys the pause and the access rules that the settings have for the
// vault, and on a terminal prints no control characters.
func runVault(args []string, std terminal.Streams) int {
	getenv := std.Getenv
	if !exec.StartedByGateway(getenv) {
		rules, err := rulesByHand(args, std)
		if err != nil {
			return terminal.PrintError(std.Err, err)
		}
		// The rules are in addition to those of the environment. Invalid ones stay, and then every call is denied.
		if given, err := access.Parse(getenv(accessVariable)); err == nil && rules.Restrict() {
			text := given.Meet(rules).String()
			getenv = func(name string) string {
				if name == accessVariable {
					return text
				}
				return std.Getenv(name)
			}
		}
	}
	if !terminal.IsTerminal(std.Out) {
		return vault.Main(args, std.In, std.Out, std.Err, getenv)
	}
	out := sanitize.NewStream(std.Out)
	status := vault.Main(args, std.In, out, std.Err, getenv)
	if err := out.Flush(); err != nil && status == terminal.ExitDone {
		status = terminal.ExitFailed
	}
	return status
}

// vaultFlags answers --help and --version of the subcommand; [runVault] runs everything else of it.
func vaultFlags(_ context.Context, _ terminal.Streams, args []string) error {
	_, err := terminal.ParseFlags(vaultName, args, nil)
	return err
}

// rulesByHand returns the access rules that the settings and the machine have for the folder of a
// command line. The error is that vaultwicket is paused or may be, that the machine does not allow changes, or
// that the folder is within a vault that has rules, or around one: its paths are not those of the rules.
func rulesByHand(args []string, std terminal.Streams) (access.Rules, error) {
	if state := ownerfiles.StateFolder(std.Getenv, ""); state != "" { // otherwise nothing can be paused
		paused, err := admission.IsPaused(state)
		switch {
		case err != nil:
			return access.Rules{}, terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("state folder %q: %v", state, err), "the pause state is kept there; make it a folder that only you can access")
		case paused:
			return access.Rules{}, terminal.Fail(terminal.ExitDenied, "vaultwicket is paused", `"vaultwicket resume" ends the pause`)
		}
	}
	if len(args) == 0 {
		return access.Rules{}, nil
	}
	flags := settings.NewFlags(vaultName)
	s, _, err := flags.Load(std, nil)
	if err != nil {
		return access.Rules{}, err
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return access.Rules{}, err
	}
	if slices.Contains(args, "--write") && !flags.ManagedMutations() {
		return access.Rules{}, terminal.Fail(terminal.ExitDenied, "the managed settings of this machine do not allow changes", "the administrator of this machine can change allow-mutations")
	}
	rules := flags.ManagedAccess(std, s, settings.Vault{Folder: folder})
	for _, served := range s.Served {
		if !served.Policy.Access.Restrict() {
			continue
		}
		possible := []string{served.Folder}
		if served.Folder == "" {
			possible = nil
			for _, listed := range appvaults.Read(std.Getenv) {
				if served.ID != "" && served.ID == listed.ID || served.ID == "" && served.Name == listed.Name() {
					possible = append(possible, listed.Folder)
				}
			}
		}
		for _, folder := range possible {
			switch {
			case appvaults.SameFolder(folder, args[0]):
				rules = rules.Meet(served.Policy.Access)
			case ownerfiles.VaultAround(args[0], []string{folder}) != "", ownerfiles.VaultAround(folder, []string{args[0]}) != "":
				return access.Rules{}, terminal.Fail(terminal.ExitDenied,
					fmt.Sprintf("folder %q: overlaps the vault %q, which has access rules", args[0], folder), "use the folder of the vault itself")
			}
		}
	}
	return rules, nil
}
