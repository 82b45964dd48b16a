package main

import (
	"fmt"
	"math/rand/v2"
	"os"

	"vaultwicket/exec"
	"vaultwicket/gateway"
)

// newGateway puts the corridor together.
func newGateway(s settings, std streams, runner *exec.Runner) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Policy: s.policy, Runner: runner, Backend: s.backend, Vault: s.vault,
		Limits: gateway.Limits{Parallel: s.maxParallel}, Session: newSession(), Getenv: std.getenv, Log: std.err,
	})
}

// newRunner returns what starts programs. With resident set it keeps them
// running, and is closed by the caller.
func newRunner(s settings, std streams, resident bool) (*exec.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	vaults := func() []string {
		known := gateway.AppVaultFolders(std.getenv)
		if s.vault.Folder != "" {
			known = append(known, s.vault.Folder)
		}
		return known
	}
	return exec.New(exec.Config{
		CLI: s.cli, Self: self, Timeout: s.timeout, Vaults: vaults, Resident: resident, Session: newSession(), Getenv: std.getenv,
	}), nil
}

// newSession names what this process does, for the journal.
func newSession() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) }

// opened is a subcommand's settings, its gateway and the rest of its words.
type opened struct {
	*flags
	settings
	runner  *exec.Runner
	gateway *gateway.Gateway
	rest    []string
}

// open reads the settings of a subcommand and builds its gateway. more adds
// flags of its own.
func open(name string, std streams, args []string, more func(*flags)) (opened, error) {
	f := newFlags(name)
	if more != nil {
		more(f)
	}
	s, rest, err := f.load(std, args)
	if err != nil {
		return opened{}, helpInstead(err, std, name)
	}
	runner, err := newRunner(s, std, f.resident)
	if err != nil {
		return opened{}, err
	}
	return opened{f, s, runner, newGateway(s, std, runner), rest}, nil
}

// stay is for a subcommand that serves many calls: the embedded program stays
// with it, until it closes its runner.
func stay(f *flags) { f.resident = true }
