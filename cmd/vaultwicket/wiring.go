package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"

	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/observe/metrics"
	"vaultwicket/gateway/observe/tracing"
)

// newGateway puts the corridor together.
func newGateway(s settings.Settings, std terminal.Streams, runner *exec.Runner, log *slog.Logger, observe gateway.Observer) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Vaults: s.Served, Runner: runner, Backend: s.Backend, Limits: s.Limits, Disabled: !s.Enabled, OwnDay: s.DayStart > 0,
		Session: session(), Getenv: std.Getenv, Log: log, Observe: observe,
	})
}

// newRunner returns what starts programs. With resident set it keeps them
// running, and is closed by the caller.
func newRunner(s settings.Settings, std terminal.Streams, resident bool, watch exec.Watcher) (*exec.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	vaults := func() []string { return s.VaultFolders(std) }
	return exec.New(exec.Config{
		CLI: s.CLI, Self: self, Timeout: s.Timeout, Vaults: vaults, Resident: resident, Session: session(), Getenv: std.Getenv, Watch: watch,
		DayStart: s.DayStart,
	}), nil
}

// session names what this process does, for the journal and the audit log.
var session = sync.OnceValue(func() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) })

// opened is a subcommand's settings, its gateway and the rest of its words.
type opened struct {
	*settings.Flags
	settings.Settings
	runner  *exec.Runner
	gateway *gateway.Gateway
	log     *slog.Logger
	// messages is where log writes, and where progress is shown.
	messages *screen.Messages
	metrics  *metrics.Metrics // nil where nobody could read them
	traces   *tracing.Tracing // nil where there is no collector
	rest     []string
}

// open reads the settings of a subcommand and builds its gateway. more adds
// flags of its own.
func open(name string, std terminal.Streams, args []string, more func(*settings.Flags)) (opened, error) {
	f := settings.NewFlags(name)
	if more != nil {
		more(f)
	}
	s, rest, err := f.Load(std, args)
	if err != nil {
		return opened{}, err
	}
	messages := screen.NewMessages(std.Err)
	o := opened{Flags: f, Settings: s, log: s.Logger(messages), messages: messages, rest: rest}
	if err := o.checkPlaces(std); err != nil {
		return opened{}, err
	}
	if f.Observed {
		o.openObservers(std)
	}
	if o.runner, err = newRunner(s, std, f.Resident, o.watcher()); err != nil {
		return opened{}, err
	}
	if err := o.checkVaultName(std); err != nil {
		return opened{}, err
	}
	o.gateway = newGateway(s, std, o.runner, o.log, o.observer())
	o.follow(nil)
	return o, nil
}

// checkPlaces refuses places that an agent or somebody else could write to. What only
// keeps changes from being made is told once, by a server. The client is looked at
// again before each start of it, and here so that a server says at once what every
// call would.
func (o opened) checkPlaces(std terminal.Streams) error {
	warning, err := o.CheckState(std)
	if err != nil || !o.Observed {
		return err
	}
	if warning != "" {
		o.log.Warn(warning)
	}
	return o.CheckCLI(o.Flags, std)
}

// stay is for a subcommand that serves many calls: the embedded program stays
// with it, until it closes its runner.
func stay(f *settings.Flags) { f.Resident = true }
