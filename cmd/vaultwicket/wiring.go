package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"

	"vaultwicket/cmd/internal/release"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/metrics"
)

// newGateway puts the corridor together.
func newGateway(s settings, std streams, runner *exec.Runner, log *slog.Logger, observe gateway.Observer) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Vaults: s.served, Runner: runner, Backend: s.backend, Limits: s.limits, Disabled: !s.enabled,
		Session: session(), Getenv: std.getenv, Log: log, Observe: observe,
	})
}

// newRunner returns what starts programs. With resident set it keeps them
// running, and is closed by the caller.
func newRunner(s settings, std streams, resident bool) (*exec.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	vaults := func() []string { return append(s.folders(), gateway.AppVaultFolders(std.getenv)...) }
	return exec.New(exec.Config{
		CLI: s.cli, Self: self, Timeout: s.timeout, Vaults: vaults, Resident: resident, Session: session(), Getenv: std.getenv,
	}), nil
}

// session names what this process does, for the journal and the audit log.
var session = sync.OnceValue(func() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) })

// opened is a subcommand's settings, its gateway and the rest of its words.
type opened struct {
	*flags
	settings
	runner  *exec.Runner
	gateway *gateway.Gateway
	log     *slog.Logger
	metrics *metrics.Metrics // nil where nobody could read them
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
	log := s.logger(std.err)
	o := opened{flags: f, settings: s, runner: runner, log: log, rest: rest}
	if f.observed {
		o.metrics = metrics.New(release.Version)
	}
	o.gateway = newGateway(s, std, runner, log, o.observer())
	o.follow()
	return o, nil
}

// stay is for a subcommand that serves many calls: the embedded program stays
// with it, until it closes its runner.
func stay(f *flags) { f.resident = true }
