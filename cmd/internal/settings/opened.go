package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist/day"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/notify"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry/export"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry/signals"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/vault/embeddings"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Opened is a subcommand's settings, its gateway and the rest of its words.
type Opened struct {
	*Flags
	Settings
	Std     terminal.Streams
	Runner  *exec.Runner
	Gateway *gateway.Gateway
	Log     *slog.Logger
	Metrics *signals.Metrics // nil if no one could read them
	Traces  *signals.Tracing // nil where there is no collector
	Records *export.Exporter // nil where the audit log is not exported
	Rest    []string
	// Remote is the server to call in place of the gateway, nil for none; see [Flags.CallsServer].
	// There is neither a runner nor a gateway then.
	Remote   *Server
	Notifier *notify.Notifier // tells the owner of questions, nil for none
	Activity *Activity        // told of the calls of a server

	messages *terminal.Messages // where Log writes, and where progress is shown
	running  *running           // the gateways that take stricter settings
}

// Open reads the settings of a subcommand and builds its gateway. more adds flags of its
// own, nil for none. The caller closes the runner.
func Open(name string, std terminal.Streams, args []string, more func(*Flags)) (Opened, error) {
	f := NewFlags(name)
	if more != nil {
		more(f)
	}
	if err := f.parse(args); err != nil {
		return Opened{}, err
	}
	o := Opened{Flags: f, Std: std, messages: terminal.NewMessages(std.Err), Rest: f.Args(), running: &running{}}
	var err error
	if o.Remote, o.Vault.Name, err = f.Server(std); err != nil || o.Remote != nil {
		if err == nil && o.Remote.Token == "" {
			err = &terminal.UsageError{Reason: "no token for the server", Advice: "give the file of the token with --token-file"}
		}
		return o, err
	}
	s, err := f.load(std)
	if err != nil {
		return Opened{}, err
	}
	o.Settings, o.Log = s, NewLogger(o.messages, s.logLevel, s.LogJSON)
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
			o.Metrics = signals.NewMetrics(release.Version)
		}
		// The variables of OpenTelemetry are of every program of a machine: a wrong one does not keep from serving.
		var wrong interface {
			error
			Hint() string
		}
		if o.Traces, err = signals.OpenTracing(signals.TracingConfig{Getenv: std.Getenv, Version: release.Version, Log: o.Log}); errors.As(err, &wrong) {
			o.Log.Warn("tracing is off: "+wrong.Error(), "hint", wrong.Hint())
		}
		o.Activity = &Activity{}
		if err := o.openNotifier(); err != nil {
			return Opened{}, err
		}
	}
	var watch exec.Watcher
	if o.Traces != nil {
		watch = o.Traces
	}
	if o.Runner, err = NewRunner(s, std, f.Resident, watch); err != nil {
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
	o.Follow(nil)
	return o, nil
}

// NewRunner returns what starts programs. With resident set it keeps them running, and is closed by the caller.
func NewRunner(s Settings, std terminal.Streams, resident bool, watch exec.Watcher) (*exec.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	vaults := func() []string { return s.VaultFolders(std) }
	vectors := s.Embeddings
	if vectors.Elsewhere && !s.Policy.Publish {
		return nil, &terminal.UsageError{Reason: "embeddings-url names another machine, which requires allow-publish", Advice: "set allow-publish to true, or name a server on this machine"}
	}
	if file := vectors.KeyFile; vectors.Server != "" && file != "" {
		if vault := s.VaultAround(std, file); vault != "" {
			return nil, failure.New(failure.CodeBadRequest, "move the file out of the vault", "embeddings-key-file: %q is inside the vault %q, where an agent may read", file, vault)
		}
		if _, err := ownerfiles.ReadToken(file, embeddings.MaxKey); err != nil {
			return nil, failure.New(failure.CodeBadRequest, "use a file that only you can read, with the key alone", "embeddings-key-file %q: %v", file, err)
		}
	}
	if vectors.Server != "" {
		vectors.Server += " " + s.model
	}
	return exec.New(exec.Config{
		CLI: s.CLI, Self: self, Timeout: s.Timeout, Vaults: vaults, Resident: resident, Session: Session(), Getenv: std.Getenv, Watch: watch,
		DayStart: s.DayStart, Embeddings: vectors, SecretsKey: func() []byte { return ownerfiles.Key(ownerfiles.StateFolder(std.Getenv, ""), "secrets.key") },
	}), nil
}

// NewGateway returns a gateway of the settings and the programs, whose calls are told to whoever observes.
func (o Opened) NewGateway() *gateway.Gateway {
	agent := o.Agent
	if len(o.Agents) == 0 {
		agent = ""
	}
	return o.gatewayOf(agent, Session())
}

func (o Opened) gatewayOf(agent, session string) *gateway.Gateway {
	return gateway.New(gateway.Config{
		Vaults: o.Served, Runner: o.Runner, Backend: o.Backend, Limits: o.Limits, Disabled: !o.Enabled, OwnDay: o.DayStart > 0,
		Agent: agent, Session: session, Getenv: o.Std.Getenv, Log: o.Log, Observe: o.observer(), Notify: o.Notifier.Send,
	})
}

// OfAgent returns a gateway of the same settings and programs for an agent, which takes stricter
// settings as the one of the server does: it begins with the rights that the agent had when the
// server was started, if it was defined then. An agent that is not defined is allowed nothing.
func (o Opened) OfAgent(agent string) (*gateway.Gateway, error) {
	f := o.Flags.again()
	f.agent = &agent
	o.running.mu.Lock() // no change is missed between reading the settings and following them
	defer o.running.mu.Unlock()
	_, early := o.Settings.Agents[agent]
	read := o.running.read
	if read != nil && !same(lookAt(read.file.name, read.bounds.name)(), []fs.FileInfo{read.file.info, read.bounds.info}) {
		read = nil // the files have changed since
	}
	if f.source = read; early {
		f.source = o.Flags.source
	}
	s, err := f.load(o.Std)
	if err != nil {
		return nil, err
	}
	o.Settings = s
	g := o.gatewayOf(agent, newSession())
	r := newReloader(g, f, s, o.Std, o.Log.With("agent", agent))
	if o.running.read = f.source; early {
		o.running.read = r.reload(read)
	}
	o.running.all = append(o.running.all, r)
	return g, nil
}

// AgentsNow returns the agents of the settings file as it is now, if it can be read.
func (o Opened) AgentsNow() policy.Agents {
	if now := o.running.agents.Load(); now != nil {
		return *now
	}
	return o.Settings.Agents
}

// AgentOf returns the agent that access tokens with these values of the claim are of, "" for
// none or if they are of several.
func (o Opened) AgentOf(subjects []string) (name string) {
	for other, agent := range o.AgentsNow() {
		if !slices.ContainsFunc(subjects, func(subject string) bool { return slices.Contains(agent.Subjects, subject) }) {
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
	return terminal.StartProgress(o.messages, sanitize.Line(excerpt.Short(command))+" is running", "the first call in a large vault takes longer; Ctrl-C cancels")
}

// checkVaultName refuses a vault that is given by the name of a folder here and that the
// app does not know: a folder needs a separator, or it is the name of a vault of the app.
// Where there is a CLI and no list of vaults to look into, the app decides.
func (o Opened) checkVaultName() error {
	name := o.Vault.Name
	if name == "" || o.Vault.Folder != "" {
		return nil
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil
	}
	known := appvaults.VaultFolders(o.Std.Getenv)
	if slices.ContainsFunc(known, func(folder string) bool { return filepath.Base(folder) == name }) {
		return nil
	}
	if len(known) == 0 && o.Runner.HasApp() {
		return nil
	}
	return terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("unknown vault %q", name), fmt.Sprintf("did you mean .%c%s? A folder is given with a separator", filepath.Separator, name))
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
		sources := signals.Sources{Load: o.Gateway.Load, Children: o.Runner.Children, Sessions: sessions}
		if o.Records != nil {
			sources.Dropped = o.Records.Dropped
		}
		o.Metrics.Follow(sources)
	}
}

// Clock returns the clock by which a day has its name: the one of the embedded CLI, which an environment
// variable sets for tests and scripts. What is recorded, awaited or limited goes by the machine's clock.
func Clock(std terminal.Streams) (func() time.Time, error) {
	clock, err := day.Clock(std.Getenv(day.NowVariable))
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

// Session names what this process does.
var Session = sync.OnceValue(newSession)

func newSession() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) }

// Activity notices when a server has had no call for a while. It is told of the calls as an
// [telemetry.Observer], and costs them next to nothing. The zero Activity is ready for use.
type Activity struct{ paused atomic.Pointer[pause] }

type pause struct {
	length time.Duration
	timer  *time.Timer
}

// Begin puts off the end of the pause. It wants to hear nothing more of the call.
func (a *Activity) Begin(ctx context.Context, _ telemetry.CallStart) (context.Context, telemetry.CallObserver) {
	if p := a.paused.Load(); p != nil {
		p.timer.Reset(p.length)
	}
	return ctx, nil
}

// AfterPause calls do once no call has begun for so long, and again after the next calls. A call
// may still be running. stop ends it.
func (a *Activity) AfterPause(length time.Duration, do func()) (stop func()) {
	p := &pause{length, time.AfterFunc(length, do)}
	a.paused.Store(p)
	return func() {
		a.paused.Store(nil)
		p.timer.Stop()
	}
}

// TokenVariable contains a bearer token for HTTP, where a file is inconvenient, such as in containers.
const TokenVariable = "VAULTWICKET_TOKEN"

const maxTokenFile = 16 << 10

// Server is a server over HTTP: the address of its endpoint, and a bearer token or "".
type Server struct{ URL, Token string }

// CallsServer adds the flag with which a subcommand calls a server in place of the gateway of this
// machine: [Opened.Remote] is set then.
func (f *Flags) CallsServer() {
	f.StringVar(&f.url, "url", "", "call this server over HTTP, with the token of --token-file or "+TokenVariable)
}

// Server returns the server to call, nil for none, and the vault there, "" for its default one. The settings of
// this machine do not apply: a flag that could only mean them is refused. The token may be missing.
func (f *Flags) Server(std terminal.Streams) (server *Server, vault string, err error) {
	if f.url == "" {
		return nil, "", nil
	}
	usage := func(reason, advice string) error { return &terminal.UsageError{Reason: reason, Advice: advice} }
	if err := httpguard.CheckURL(f.url); err != nil {
		return nil, "", usage(fmt.Sprintf("flag \"--url\": %q %v", excerpt.Short(f.url), err), "use the address of the endpoint, such as https://notes.example/mcp")
	}
	token := std.Getenv(TokenVariable)
	for _, r := range f.raws {
		switch {
		case !r.byFlag():
		case r.name == "token-file":
			text, err := ownerfiles.Read(r.text, maxTokenFile)
			if err != nil {
				return nil, "", usage(fmt.Sprintf("token-file %q: %v", excerpt.Short(r.text), err), "use a file that only you can read")
			}
			token = strings.TrimSpace(string(text))
		case r.name == "vault":
			vault = r.text
		default:
			return nil, "", usage(fmt.Sprintf("flag %q has no effect with --url", "--"+r.name), "the server has its own settings")
		}
	}
	if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, "", usage("the token has characters that a header cannot carry", "give the file of the token with --token-file")
	}
	return &Server{URL: f.url, Token: token}, vault, nil
}
