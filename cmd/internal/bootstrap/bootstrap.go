// Package bootstrap builds the running program from its settings: the runner, the gateways, who
// observes their calls, and what tells the owner and exports the audit log. Nothing else does. A
// [RemoteServer] is what commands call in place of the gateway of this machine.
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

// Opened is a subcommand's settings, its gateway and the rest of its words.
type Opened struct {
	*settings.Flags
	settings.Settings
	Std     terminal.Streams
	Runner  *exec.Runner
	Gateway *gateway.Gateway
	Log     *slog.Logger
	Metrics *telemetry.Metrics // nil if no one could read them
	Traces  *telemetry.Tracing // nil where there is no collector
	Records *audit.Exporter    // nil where the audit log is not exported
	Rest    []string
	// Remote is the server to call in place of the gateway, nil for none; see [settings.Flags.CallsServer].
	// There is neither a runner nor a gateway then.
	Remote   *settings.Server
	Notifier *consent.Notifier // tells the owner of questions, nil for none
	Activity *Activity         // told of the calls of a server

	common   *gateway.Common    // of all its gateways
	messages *terminal.Messages // where Log writes, and where progress is shown
	running  *settings.Running  // the gateways that take stricter settings
}

// Open reads the settings of a subcommand and builds its gateway. more adds flags of its
// own, nil for none. The caller closes the runner.
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
	if o.Remote, o.Vault.Name, err = f.Server(std); err != nil || o.Remote != nil {
		if err == nil && o.Remote.Token == "" {
			err = &terminal.UsageError{
				Reason: "no token for the server",
				Advice: "give the file of the token with --token-file",
			}
		}
		return o, err
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
	// Refuse places that an agent or another user could write to. What only keeps changes from being made
	// is told once, by a server. The client is looked at again before each start of it, and here so that
	// a server says at once what every call would.
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
		if o.HTTP.Addr != "" { // otherwise no one could read them
			o.Metrics = telemetry.NewMetrics(release.Version)
		}
		// The variables of OpenTelemetry are of every program of a machine: a wrong one does not keep from serving.
		var wrong interface {
			error
			Hint() string
		}
		if o.Traces, err = telemetry.OpenTracing(telemetry.TracingConfig{Getenv: std.Getenv, Version: release.Version, Log: o.Log}); errors.As(
			err,
			&wrong,
		) {
			o.Log.Warn("tracing is off: "+wrong.Error(), "hint", wrong.Hint())
		}
		o.Activity = &Activity{}
		if err := o.openNotifier(); err != nil {
			return Opened{}, err
		}
	}
	how := RunnerOptions{Resident: f.Resident}
	if o.Traces != nil {
		how.Watch = o.Traces
	}
	if o.Runner, err = NewRunner(s, std, how); err != nil {
		return Opened{}, err
	}
	if err := o.checkVaultName(); err != nil {
		return Opened{}, err
	}
	if f.Observed {
		if o.Records, err = o.startExport(); err != nil {
			return Opened{}, err
		}
	}
	o.Gateway = o.NewGateway()
	o.running = settings.NewRunning(f, s, std, o.Log)
	o.Follow(nil)
	return o, nil
}

// RunnerOptions say how a runner differs from the one for a single command.
type RunnerOptions struct {
	Resident bool         // keeps programs running
	Watch    exec.Watcher // is notified of each start, nil for none
}

// NewRunner returns what starts programs. One that is resident is closed by the caller.
func NewRunner(s settings.Settings, std terminal.Streams, how RunnerOptions) (*exec.Runner, error) {
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
		CLI: s.CLI, Self: self, Timeout: s.Timeout, Vaults: vaults, Resident: how.Resident, Session: Session(), Getenv: std.Getenv, Watch: how.Watch,
		DayStart: s.DayStart, Embeddings: vectors, SecretsKey: func() []byte { return ownerfiles.Key(ownerfiles.StateFolder(std.Getenv, ""), "secrets.key") },
	}), nil
}

// embeddingsOf returns the server that makes vectors. Texts go to another machine only where they may be
// published, and its key is in a file that no agent can read.
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

// NewGateway returns a gateway of the settings and the programs, whose calls are told to whoever observes.
func (o Opened) NewGateway() *gateway.Gateway {
	agent := o.Agent
	if len(o.Agents) == 0 {
		agent = ""
	}
	return o.gatewayOf(agent)
}

func (o Opened) gatewayOf(agent string) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Vaults: vaultsOf(
			o.Served,
		), Runner: o.Runner, Backend: gateway.Backend(o.Backend), Limits: admission.Limits(o.Limits), Disabled: !o.Enabled, OwnDay: o.DayStart > 0,
		Agent: agent, Session: Session(), Getenv: o.Std.Getenv, Log: o.Log, Observe: o.observer(), Notify: o.Notifier.Send,
		Common: o.common,
	})
}

func vaultsOf(served []settings.Served) (vaults []gateway.Served) {
	for _, one := range served {
		vaults = append(vaults, gateway.Served{Vault: gateway.Vault(one.Vault), Policy: one.Policy})
	}
	return vaults
}

// tightener is a gateway as the settings take what became stricter into it.
type tightener struct{ *gateway.Gateway }

// Tighten takes what is stricter.
func (t tightener) Tighten(policies []policy.Policy, limits settings.Limits) {
	t.Gateway.Tighten(policies, admission.Limits(limits))
}

// OfAgent returns a gateway of the same settings and programs for an agent, which takes stricter
// settings as the one of the server does: it begins with the rights that the agent had when the
// server was started, if it was defined then. An agent that is not defined is allowed nothing.
func (o Opened) OfAgent(agent string) (g *gateway.Gateway, err error) {
	err = o.running.AddAgent(agent, func(s settings.Settings) settings.Tightener {
		o.Settings = s
		g = o.gatewayOf(agent)
		return tightener{g}
	})
	return g, err
}

// ReloadOnChange has the settings read again while a server runs: at SIGHUP, and when a file of theirs
// has changed and stays as it is for a moment. It returns what ends that.
func (o Opened) ReloadOnChange(ctx context.Context) (stop func()) {
	return o.running.Watch(ctx, tightener{o.Gateway}, o.Settings)
}

// AgentsNow returns the agents of the settings file as it is now, if it can be read.
func (o Opened) AgentsNow() policy.Agents { return o.running.Agents() }

// AgentOf returns the agent that access tokens with these values of the claim are of, "" for
// none or if they are of several.
func (o Opened) AgentOf(subjects []string) (name string) {
	for other, agent := range o.AgentsNow() {
		if !slices.ContainsFunc(
			subjects,
			func(subject string) bool { return slices.Contains(agent.Subjects, subject) },
		) {
			continue
		}
		if name != "" {
			return ""
		}
		name = other
	}
	return name
}

// Progress tells the user that a command takes time, and when that is to be expected. The
// caller stops it when there is a result.
func (o Opened) Progress(command string) *terminal.Progress {
	return terminal.StartProgress(
		o.messages,
		sanitize.Line(excerpt.Short(command))+" is running",
		"the first call in a large vault takes longer; Ctrl-C cancels",
	)
}

// Counting is ctx for a call of which p shows how far it has come.
func Counting(ctx context.Context, p *terminal.Progress) context.Context {
	return protocol.WithProgress(ctx, func(c protocol.Progress) { p.Count(c.String()) })
}

// checkVaultName refuses a vault that is given by the name of a folder here and that the
// app does not know: a folder needs a separator, or it is the name of a vault of the app.
// Where there is a CLI and no list of vaults to look into, the app decides.
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

// FolderNamed returns the absolute path of the folder in the working folder that has this name, if the app has no
// vault of the name; "" otherwise, and for a path.
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

// observer returns who is told of the calls, nil if no one is.
func (o Opened) observer() telemetry.Observer {
	var all []telemetry.Observer
	if o.Metrics != nil {
		all = append(all, o.Metrics)
	}
	if o.Traces != nil {
		all = append(all, o.Traces)
	}
	if o.Activity != nil {
		all = append(all, o.Activity)
	}
	return telemetry.All(all...)
}

// Follow has the metrics ask what is running. sessions is nil where there are none.
func (o Opened) Follow(sessions func() int) {
	if o.Metrics != nil {
		children := func() telemetry.Children { return telemetry.Children(o.Runner.Children()) }
		sources := telemetry.MetricSources{
			Load:     o.Gateway.Load,
			Children: children,
			Sessions: sessions,
			Missed:   o.Gateway.AuditMissed,
		}
		if o.Records != nil {
			sources.Dropped = o.Records.Dropped
		}
		o.Metrics.Follow(sources)
	}
}

// Clock returns the clock by which a day has its name: the one of the embedded CLI, which an environment
// variable sets for tests and scripts. What is recorded, awaited or limited goes by the machine's clock.
func Clock(std terminal.Streams) (func() time.Time, error) {
	clock, err := date.Clock(std.Getenv(date.NowVariable))
	if err != nil {
		return nil, &terminal.UsageError{Reason: err.Error(), Advice: "unset it: it is for tests and scripts"}
	}
	return clock, nil
}

// DayClock returns a clock whose day is the one that counts as today where a day begins at
// an hour: it is that much late.
func DayClock(clock func() time.Time, dayStart int) func() time.Time {
	return func() time.Time { return clock().Add(-time.Duration(dayStart) * time.Hour) }
}

// AtTerminal is the caller, the client and the surface of a command that is typed in a terminal. It is
// the same for all of them, so that an approval given with "vaultwicket approve" in one window is valid
// for the command that is typed again in another.
const AtTerminal = "terminal"

// Session names what this process does, for whichever of its agents.
var Session = sync.OnceValue(func() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) })
