// Package bootstrap builds the running program from its settings: the runner, the gateways, the observers of
// their calls, the notifier and the export of the audit log. No other package does. It also contains the
// [RemoteServer] that commands can call instead of a gateway on this machine.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Opened contains the settings, the gateway and the remaining arguments of a subcommand.
type Opened struct {
	*settings.Flags
	settings.Settings
	Std     terminal.Streams
	Runner  *exec.Runner
	Gateway *gateway.Gateway
	Log     *slog.Logger
	Metrics *telemetry.Metrics // nil if nobody could read them
	Traces  *telemetry.Tracing // nil if there is no collector
	Records *audit.Exporter    // nil if the audit log is not exported
	Rest    []string           // the arguments that are not flags
	// Remote is the server to call instead of a gateway, nil for none; see [settings.Flags.CallsServer].
	// If it is set, Runner and Gateway are nil.
	Remote   *settings.Server
	Notifier *consent.Notifier // tells the owner about approval requests, nil for none
	Activity *Activity         // observes the calls of a server, nil in other commands

	common   *gateway.Common    // shared by all gateways
	messages *terminal.Messages // the output of Log and of progress
	running  *settings.Running  // the gateways that reload their settings
}

// Open reads the settings of a subcommand and builds its gateway. more adds flags of the subcommand and may be nil.
// The caller must close the runner.
func Open(name string, std terminal.Streams, args []string, more func(*settings.Flags)) (Opened, error) {
	f := settings.NewFlags(name)
	if more != nil {
		more(f)
	}
	if err := f.Parse(args); err != nil {
		return Opened{}, err
	}
	f.FindsVault = !f.Observed
	o := Opened{Flags: f, Std: std, messages: terminal.NewMessages(std.Err), Rest: f.Args()}
	var err error
	o.Remote, o.Vault.Name, err = f.Server(std)
	switch {
	case err != nil:
		return o, err
	case o.Remote != nil && o.Remote.Token == "":
		return o, &terminal.UsageError{
			Reason: "no token for the server",
			Advice: "give the file of the token with --token-file",
		}
	case o.Remote != nil:
		return o, nil
	}
	s, err := f.Settings(std)
	if err != nil {
		return Opened{}, err
	}
	o.Settings = s
	if std.Hints != nil {
		std.Hints.ForOwner = func(hint string) string { return f.OwnerHint(std, hint) }
	}
	newLogger := terminal.NewLineLogger
	if s.LogJSON {
		newLogger = terminal.NewJSONLogger
	}
	o.Log = newLogger(o.messages, std.LogLevel(s.LogLevel))
	o.common = gateway.NewCommon(s.Limits.Parallel)
	// A state folder or a CLI that an agent or another user could write to is an error. If only changes are
	// unavailable, a server logs that once. The CLI is checked again before each start; checking it here, too, makes
	// a server fail at once instead of in every call.
	warning, err := o.CheckState(std)
	if err == nil && f.Observed {
		if warning != "" {
			o.Log.Warn(warning)
		}
		err = o.CheckCLI(f, std)
	}
	if err != nil {
		return Opened{}, err
	}
	if f.Observed {
		o.openTelemetry()
		if err := o.openNotifier(); err != nil {
			return Opened{}, err
		}
	}
	options := RunnerOptions{Resident: f.Resident}
	if o.Traces != nil {
		options.Watch = o.Traces
	}
	o.Runner, err = NewRunner(s, std, options)
	if err != nil {
		return Opened{}, err
	}
	if err := o.checkVaultName(); err != nil {
		return Opened{}, err
	}
	if f.Observed {
		o.Records, err = o.startExport()
		if err != nil {
			return Opened{}, err
		}
	}
	o.Gateway = o.NewGateway()
	o.running = settings.NewRunning(f, s, std, o.Log)
	o.Follow(nil)
	return o, nil
}

// openTelemetry opens the metrics, the traces and the activity of a server.
func (o *Opened) openTelemetry() {
	if o.HTTP.Addr != "" { // otherwise nobody could read the metrics
		o.Metrics = telemetry.NewMetrics(release.Version)
	}
	config := telemetry.TracingConfig{Getenv: o.Std.Getenv, Version: release.Version, Log: o.Log}
	var err error
	o.Traces, err = telemetry.OpenTracing(config)
	// The variables of OpenTelemetry apply to every program on a machine, so an invalid one is only a warning.
	var invalid interface {
		error
		Hint() string
	}
	if errors.As(err, &invalid) {
		o.Log.Warn("tracing is off: "+invalid.Error(), "hint", invalid.Hint())
	}
	o.Activity = &Activity{}
}

// RunnerOptions are the options of [NewRunner]. The zero value is for a single command.
type RunnerOptions struct {
	Resident bool         // keeps programs running
	Watch    exec.Watcher // is notified about each start, nil for none
}

// NewRunner returns a runner for the Obsidian CLI and the embedded CLI. The caller must close it if it is resident.
func NewRunner(s settings.Settings, std terminal.Streams, options RunnerOptions) (*exec.Runner, error) {
	self, err := terminal.ThisProgram()
	if err != nil {
		return nil, err
	}
	vaults := func() []string { return s.VaultFolders(std) }
	vectors, err := embeddingsOf(s, std)
	if err != nil {
		return nil, err
	}
	return exec.New(exec.Config{
		CLI:        s.CLI,
		Self:       self,
		Timeout:    s.Timeout,
		Vaults:     vaults,
		Resident:   options.Resident,
		Session:    Session(),
		Getenv:     std.Getenv,
		Watch:      options.Watch,
		DayStart:   s.DayStart,
		Embeddings: vectors,
		SecretsKey: func() []byte { return ownerfiles.Key(ownerfiles.StateFolder(std.Getenv, ""), "secrets.key") },
	}), nil
}

// embeddingsOf returns the server that computes embeddings. It returns an error if texts would go to another machine
// although publishing is not allowed, or if an agent could read the file with the key.
func embeddingsOf(s settings.Settings, std terminal.Streams) (exec.Embeddings, error) {
	chosen := s.Embeddings
	if chosen.Elsewhere && !s.Policy.Publish {
		return exec.Embeddings{}, &terminal.UsageError{
			Reason: "embeddings-url names another machine, which requires allow-publish",
			Advice: "set allow-publish to true, or name a server on this machine",
		}
	}
	vectors := exec.Embeddings{KeyFile: chosen.KeyFile, Elsewhere: chosen.Elsewhere}
	if chosen.Address == "" {
		return vectors, nil
	}
	if file := chosen.KeyFile; file != "" {
		if vault := s.VaultAround(std, file); vault != "" {
			return exec.Embeddings{}, failure.New(
				failure.CodeBadRequest,
				"move the file out of the vault",
				"embeddings-key-file: %q is inside the vault %q, where an agent may read",
				file,
				vault,
			)
		}
		if _, err := ownerfiles.ReadToken(file, ranking.MaxEndpointKey); err != nil {
			return exec.Embeddings{}, failure.New(
				failure.CodeBadRequest,
				"use a file that only you can read, with the key alone",
				"embeddings-key-file %q: %v",
				file,
				err,
			)
		}
	}
	vectors.Server = chosen.Address + " " + chosen.Model
	return vectors, nil
}

// NewGateway returns a gateway with the settings, the runner and the observers.
func (o Opened) NewGateway() *gateway.Gateway {
	agent := o.Agent
	if len(o.Agents) == 0 {
		agent = ""
	}
	return o.gatewayOf(agent)
}

// gatewayOf returns a gateway for an agent, "" for the owner.
func (o Opened) gatewayOf(agent string) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Vaults:   vaultsOf(o.Served),
		Runner:   o.Runner,
		Backend:  gateway.Backend(o.Backend),
		Limits:   admission.Limits(o.Limits),
		Disabled: !o.Enabled,
		OwnDay:   o.DayStart > 0,
		Agent:    agent,
		Session:  Session(),
		Getenv:   o.Std.Getenv,
		Log:      o.Log,
		Observe:  o.observer(),
		Notify:   o.Notifier.Send,
		Common:   o.common,
	})
}

// vaultsOf returns the served vaults for the configuration of a gateway.
func vaultsOf(served []settings.Served) (vaults []gateway.Served) {
	for _, s := range served {
		vaults = append(vaults, gateway.Served{Vault: gateway.Vault(s.Vault), Policy: s.Policy})
	}
	return vaults
}

// tightener is a gateway that implements [settings.Tightener].
type tightener struct{ *gateway.Gateway }

// Tighten narrows the policies and limits of the gateway.
func (t tightener) Tighten(policies []policy.Policy, limits settings.Limits) {
	t.Gateway.Tighten(policies, admission.Limits(limits))
}

// OfAgent returns a gateway for an agent with the same settings and runner, which also reloads stricter
// settings. It starts with the rights that the agent had when the server was started, if it was already defined
// then. An agent that is not defined has no rights.
func (o Opened) OfAgent(agent string) (g *gateway.Gateway, err error) {
	err = o.running.AddAgent(agent, func(s settings.Settings) settings.Tightener {
		o.Settings = s
		g = o.gatewayOf(agent)
		return tightener{g}
	})
	return g, err
}

// ReloadOnChange reloads the settings while a server runs: on SIGHUP, and when one of their files has changed. It ends
// with ctx or with stop.
func (o Opened) ReloadOnChange(ctx context.Context) (stop func()) {
	return o.running.Watch(ctx, tightener{o.Gateway}, o.Settings)
}

// AgentsNow returns the agents of the settings file as of the last successful reload.
func (o Opened) AgentsNow() policy.Agents { return o.running.Agents() }

// AgentOf returns the agent to which access tokens with these values of the claim belong, "" if there is none or
// more than one.
func (o Opened) AgentOf(subjects []string) (name string) {
	for candidate, agent := range o.AgentsNow() {
		isSubject := func(subject string) bool { return slices.Contains(agent.Subjects, subject) }
		if !slices.ContainsFunc(subjects, isSubject) {
			continue
		}
		if name != "" {
			return ""
		}
		name = candidate
	}
	return name
}

// Progress starts to show the user that a command is running. The caller must stop it when there is a result.
func (o Opened) Progress(command string) *terminal.Progress {
	return terminal.StartProgress(
		o.messages,
		sanitize.Line(excerpt.Short(command))+" is running",
		"the first call in a large vault takes longer; Ctrl-C cancels",
	)
}

// Counting returns a context for a call whose progress is shown by p.
func Counting(ctx context.Context, p *terminal.Progress) context.Context {
	return protocol.WithProgress(ctx, func(c protocol.Progress) { p.Count(c.String()) })
}

// checkVaultName returns an error if the vault is given by the name of a folder in the working folder and the app
// does not list a vault with that name: the user probably meant the folder, which needs a separator. If there is a
// CLI but no list of vaults, the app decides.
func (o Opened) checkVaultName() error {
	name := o.Vault.Name
	if o.Vault.Folder != "" || FolderNamed(o.Std, name) == "" {
		return nil
	}
	if len(appvaults.VaultFolders(o.Std.Getenv)) == 0 && o.Runner.HasApp() {
		return nil
	}
	return terminal.Fail(
		terminal.ExitNotReady,
		fmt.Sprintf("unknown vault %q", name),
		fmt.Sprintf("did you mean %q? A folder needs a slash", "."+string(filepath.Separator)+name),
	)
}

// FolderNamed returns the absolute path of the folder with this name in the working folder. It returns "" if there is
// none, if the app lists a vault with this name, or if name is a path.
func FolderNamed(std terminal.Streams, name string) string {
	if name == "" || name == "." || filepath.Base(name) != name {
		return ""
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return ""
	}
	for _, folder := range appvaults.VaultFolders(std.Getenv) {
		if filepath.Base(folder) == name {
			return ""
		}
	}
	folder, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	return folder
}

// observer returns the observer of the calls, nil if there is none.
func (o Opened) observer() telemetry.Observer {
	var observers []telemetry.Observer
	if o.Metrics != nil {
		observers = append(observers, o.Metrics)
	}
	if o.Traces != nil {
		observers = append(observers, o.Traces)
	}
	if o.Activity != nil {
		observers = append(observers, o.Activity)
	}
	return telemetry.All(observers...)
}

// Follow connects the metrics to the values that they report. sessions returns the number of sessions, and is nil if
// there are none.
func (o Opened) Follow(sessions func() int) {
	if o.Metrics == nil {
		return
	}
	sources := telemetry.MetricSources{
		Load:     o.Gateway.Load,
		Children: func() telemetry.Children { return telemetry.Children(o.Runner.Children()) },
		Sessions: sessions,
		Missed:   o.Gateway.AuditMissed,
	}
	if o.Records != nil {
		sources.Dropped = o.Records.Dropped
	}
	o.Metrics.Follow(sources)
}

// Clock returns the clock that decides which day it is: that of the embedded CLI, which an environment
// variable can set for tests and scripts. Records, waiting times and limits use the clock of the machine.
func Clock(std terminal.Streams) (func() time.Time, error) {
	clock, err := date.Clock(std.Getenv(date.NowVariable))
	if err != nil {
		return nil, &terminal.UsageError{Reason: err.Error(), Advice: "unset it: it is for tests and scripts"}
	}
	return clock, nil
}

// DayClock returns a clock that is dayStart hours late, so that its date is today's date if a day begins at that
// hour.
func DayClock(clock func() time.Time, dayStart int) func() time.Time {
	return func() time.Time { return clock().Add(-time.Duration(dayStart) * time.Hour) }
}

// AtTerminal is the caller, the client and the surface of commands that are typed in a terminal. It is
// the same for all of them, so that an approval that was given with "vaultwicket approve" in one window is valid
// for the command when it is typed again in another.
const AtTerminal = "terminal"

// Session returns the session id of this process, which all its agents share.
var Session = sync.OnceValue(func() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) })
