package main

import (
	"fmt"
	"os"

	"vaultwicket/exec"
	"vaultwicket/gateway"
)

// newGateway puts the corridor together.
func newGateway(s settings, std streams) (*gateway.Gateway, error) {
	runner, err := newRunner(s, std)
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Config{
		Policy: s.policy, Runner: runner, Backend: s.backend, Vault: s.vault,
		MaxParallel: s.maxParallel, Getenv: std.getenv, Log: std.err,
	}), nil
}

func newRunner(s settings, std streams) (*exec.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	var vaults []string
	if s.vault.Folder != "" {
		vaults = []string{s.vault.Folder}
	}
	return exec.New(exec.Config{CLI: s.cli, Self: self, Timeout: s.timeout, Vaults: vaults, Getenv: std.getenv}), nil
}

// opened is a subcommand's settings, its gateway and the rest of its words.
type opened struct {
	*flags
	settings
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
	gw, err := newGateway(s, std)
	return opened{f, s, gw, rest}, err
}
