package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// ThisMachine returns this machine with the settings of a command line. more adds flags and may be nil. Invalid
// settings become findings; an invalid command line is an error.
func ThisMachine(std terminal.Streams, args []string, more func(*settings.Flags)) (m Machine, asJSON bool, err error) {
	f := settings.NewFlags("doctor")
	if more != nil {
		more(f)
	}
	s, rest, invalid := f.Load(std, args)
	var help *terminal.HelpRequested
	var version *terminal.VersionRequested
	if errors.As(invalid, &help) || errors.As(invalid, &version) {
		return m, false, invalid
	}
	if invalid == nil && len(rest) > 0 {
		return m, false, &terminal.UsageError{
			Reason: fmt.Sprintf("doctor: unexpected argument %q", excerpt.Short(rest[0])),
			Advice: "doctor takes only flags",
		}
	}
	var file []string // an invalid file is a finding, even if a flag names it
	if given := f.Lookup(settings.FileFlag); given.Changed {
		file = []string{"--" + settings.FileFlag, given.Value.String()}
	}
	if _, _, fileErr := settings.NewFlags("doctor").Load(std, file); invalid != nil && fileErr == nil {
		return m, false, invalid // another flag is invalid
	}
	server, _, err := f.Server(std)
	if err != nil {
		return Machine{}, f.JSON, err
	}
	if server != nil {
		remote := &bootstrap.RemoteServer{URL: server.URL, Token: server.Token}
		return Machine{Remote: remote, Now: time.Now}, f.JSON, nil
	}
	m, err = localMachine(std)
	if err != nil {
		return Machine{}, false, err
	}
	m.Settings = s
	m.Invalid = invalid
	if invalid == nil {
		m.useSettings(s, std)
	}
	return m, f.JSON, nil
}

// localMachine returns this machine without settings.
func localMachine(std terminal.Streams) (Machine, error) {
	executable, err := terminal.ThisProgram()
	if err != nil {
		return Machine{}, err
	}
	state := ownerfiles.StateFolder(std.Getenv, "")
	project, _ := os.Getwd() // if it is unknown, clients of the project are not checked
	system := clients.System{OS: runtime.GOOS, Getenv: std.Getenv, Project: project}
	built, _ := time.Parse(time.RFC3339, release.ThisBuild().Time)
	return Machine{
		OS:      runtime.GOOS,
		Getenv:  std.Getenv,
		Now:     time.Now,
		Version: release.Version,
		Built:   built,
		Known:   appvaults.VaultFolders(std.Getenv),
		Nearest: settings.NearestVault(),
		System:  appvaults.ThisSystem(std.Getenv),
		State:   state,
		Paused:  func() (bool, error) { return admission.IsPaused(state) },
		Clients: clients.Installer{System: system, Backups: filepath.Join(state, "clients"), Now: time.Now},
		Listen: func(ctx context.Context, addr string) error {
			l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
			if err != nil {
				return err
			}
			return l.Close()
		},
		Start:    starter(system),
		TryRead:  tryRead,
		Free:     Free,
		Elevated: Elevated,
		Embedded: func(ctx context.Context, folder string) (string, error) { return sandboxOf(ctx, executable, folder) },
	}, nil
}

// useSettings sets the fields that need valid settings.
func (m *Machine) useSettings(s settings.Settings, std terminal.Streams) {
	m.StateReadOnly, m.StateUnsafe = s.CheckState(std)
	m.App = func(ctx context.Context) (string, *failure.Error) {
		return askApp(ctx, s, std, gateway.Vault{}, gateway.Request{Command: "version"})
	}
	m.AppFolder = func(ctx context.Context, vault string) (string, *failure.Error) {
		getPath := gateway.Request{Command: "vault", Params: allowlist.Params{"info": allowlist.Text("path")}}
		return askApp(ctx, s, std, gateway.Vault{Name: vault}, getPath)
	}
	m.Journal = func(v settings.Vault) (changes *journal.Journal, err error) {
		err = inVault(v, s, std, func(g *gateway.Gateway) (err error) {
			changes, err = g.Journal("")
			return err
		})
		return changes, err
	}
	m.Settle = func(ctx context.Context, v settings.Vault) error {
		return inVault(v, s, std, func(g *gateway.Gateway) error { return g.Settle(ctx) })
	}
}

// inVault calls do with a gateway that uses the embedded CLI in a vault.
func inVault(v settings.Vault, s settings.Settings, std terminal.Streams, do func(g *gateway.Gateway) error) error {
	runner, err := bootstrap.NewRunner(s, std, bootstrap.RunnerOptions{})
	if err != nil {
		return err
	}
	defer runner.Close()
	return do(gateway.New(
		gateway.Config{
			Policy:  s.Policy,
			Vault:   gateway.Vault(v),
			Runner:  runner,
			Backend: gateway.Embedded,
			Session: bootstrap.Session(),
			Getenv:  std.Getenv,
			Log:     slog.New(slog.DiscardHandler),
		},
	))
}

// askApp runs one command of the Obsidian CLI in a vault, through a gateway whose policy allows nothing else.
func askApp(
	ctx context.Context,
	s settings.Settings,
	std terminal.Streams,
	vault gateway.Vault,
	question gateway.Request,
) (string, *failure.Error) {
	runner, err := bootstrap.NewRunner(s, std, bootstrap.RunnerOptions{})
	if err != nil {
		return "", failure.Of(err)
	}
	defer runner.Close()
	p := s.Policy // the tier does not matter: the user asks, not an agent
	p.Ceiling = tiers.V3
	p.EnableOnly = []string{question.Command}
	p.Disable = nil
	p.Mutations = false
	p.Publish = false
	p.UI = false
	p.Disabled = false
	g := gateway.New(gateway.Config{
		Policy:  p,
		Vault:   vault,
		Runner:  runner,
		Backend: gateway.App,
		Session: bootstrap.Session(),
		Getenv:  std.Getenv,
		Log:     slog.New(slog.DiscardHandler),
	})
	answer := g.Do(ctx, question)
	if answer.Error != nil {
		return "", answer.Error
	}
	return strings.TrimSpace(answer.Stdout), nil
}

// sandboxOf asks the embedded CLI for its sandbox on a vault. self is the path of this program.
func sandboxOf(ctx context.Context, self, folder string) (string, error) {
	stdout, stderr, err := clients.Ask(ctx, []string{self, "vault", folder, "--status"}, "")
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, firstLine(stderr))
	}
	for line := range strings.Lines(stdout) {
		if sandbox, isSandbox := strings.CutPrefix(line, "sandbox\t"); isSandbox {
			return strings.TrimSpace(sandbox), nil
		}
	}
	return "", errors.New("it does not say what it is locked into")
}

// hello is the first message of an MCP client.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"vaultwicket-doctor","version":"1"}}}` + "\n"

// starter returns a function that starts the command of an entry as a client would, and returns
// the name and version of the server.
func starter(system clients.System) func(context.Context, []string) (name, version string, err error) {
	return func(ctx context.Context, command []string) (name, version string, err error) {
		argv := slices.Clone(command)
		if !filepath.IsAbs(argv[0]) {
			argv[0] = system.Program(argv[0])
		}
		if argv[0] == "" {
			return "", "", fmt.Errorf("%q is not on the PATH", command[0])
		}
		stdout, stderr, err := clients.Ask(ctx, argv, hello)
		var answer struct {
			Result struct {
				ServerInfo struct{ Name, Version string }
			}
		}
		line, _, _ := strings.Cut(stdout, "\n")
		if json.Unmarshal([]byte(line), &answer) == nil && answer.Result.ServerInfo.Name != "" {
			return answer.Result.ServerInfo.Name, answer.Result.ServerInfo.Version, nil
		}
		if err == nil {
			err = errors.New("it does not answer initialize")
		}
		if message := firstLine(stderr); message != "" {
			err = fmt.Errorf("%w: %s", err, message)
		}
		return "", "", err
	}
}

// firstLine returns the beginning of the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return excerpt.Short(line)
}
