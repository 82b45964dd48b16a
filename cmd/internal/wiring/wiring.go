// Package wiring puts the gateway together from the settings of a subcommand: what starts
// programs, what observes calls, the vaults with their policies. It is the one place where
// a setting becomes a part of the gateway.
package wiring

import (
	"fmt"
	"log/slog"
	"os"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/identity"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/observe/telemetry"
)

// Opened is a subcommand's settings, its gateway and the rest of its words.
type Opened struct {
	*settings.Flags
	settings.Settings
	Std     terminal.Streams
	Runner  *exec.Runner
	Gateway *gateway.Gateway
	Log     *slog.Logger
	Metrics *telemetry.Metrics // nil where nobody could read them
	Traces  *telemetry.Tracing // nil where there is no collector
	Rest    []string
	// Activity is told of the calls of a server.
	Activity *Activity

	messages *screen.Messages // where Log writes, and where progress is shown
}

// Open reads the settings of a subcommand and builds its gateway. more adds flags of its
// own, nil for none. The caller closes the runner.
func Open(name string, std terminal.Streams, args []string, more func(*settings.Flags)) (Opened, error) {
	f := settings.NewFlags(name)
	if more != nil {
		more(f)
	}
	s, rest, err := f.Load(std, args)
	if err != nil {
		return Opened{}, err
	}
	messages := screen.NewMessages(std.Err)
	o := Opened{Flags: f, Settings: s, Std: std, Log: s.Logger(messages), messages: messages, Rest: rest}
	if err := o.checkPlaces(); err != nil {
		return Opened{}, err
	}
	if f.Observed {
		o.openObservers()
	}
	if o.Runner, err = NewRunner(s, std, f.Resident, o.watcher()); err != nil {
		return Opened{}, err
	}
	if err := o.checkVaultName(); err != nil {
		return Opened{}, err
	}
	o.Gateway = NewGateway(s, std, o.Runner, o.Log, o.observer())
	o.Follow(nil)
	return o, nil
}

// Stay is for a subcommand that serves many calls: the embedded program stays
// with it, until it closes its runner.
func Stay(f *settings.Flags) { f.Resident = true }

// checkPlaces refuses places that an agent or somebody else could write to. What only
// keeps changes from being made is told once, by a server. The client is looked at
// again before each start of it, and here so that a server says at once what every
// call would.
func (o Opened) checkPlaces() error {
	warning, err := o.CheckState(o.Std)
	if err != nil || !o.Observed {
		return err
	}
	if warning != "" {
		o.Log.Warn(warning)
	}
	return o.CheckCLI(o.Flags, o.Std)
}

// NewRunner returns what starts programs. With resident set it keeps them
// running, and is closed by the caller.
func NewRunner(s settings.Settings, std terminal.Streams, resident bool, watch exec.Watcher) (*exec.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	vaults := func() []string { return s.VaultFolders(std) }
	return exec.New(exec.Config{
		CLI: s.CLI, Self: self, Timeout: s.Timeout, Vaults: vaults, Resident: resident, Session: identity.Session(), Getenv: std.Getenv, Watch: watch,
		DayStart: s.DayStart,
	}), nil
}

// NewGateway returns a gateway of settings with a runner. observer is nil where nobody is
// told of the calls.
func NewGateway(s settings.Settings, std terminal.Streams, runner *exec.Runner, log *slog.Logger, observer observe.Observer) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Vaults: s.Served, Runner: runner, Backend: s.Backend, Limits: s.Limits, Disabled: !s.Enabled, OwnDay: s.DayStart > 0,
		Session: identity.Session(), Getenv: std.Getenv, Log: log, Observe: observer,
	})
}

// Progress tells the user that a command takes time, and when that is to be expected. The
// caller stops it when there is a result.
func (o Opened) Progress(command string) *screen.Progress {
	return screen.StartProgress(o.messages, clean.Line(quote.Short(command))+" is running", "the first call in a large vault takes longer; Ctrl-C cancels")
}
