package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/clients"
	"vaultwicket/cmd/internal/clients/program"
	"vaultwicket/cmd/internal/doctor"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/paths"
)

// runDoctor is "vaultwicket doctor": it checks the installation. The exit status is 0
// where all is well, 1 with warnings and 4 with a problem.
func runDoctor(ctx context.Context, std terminal.Streams, args []string) error {
	var look screen.Options
	m, asJSON, err := machineOf(std, args, func(f *settings.Flags) { look.ColorFlag(f.Set) })
	if err != nil {
		return err
	}
	report := doctor.Check(ctx, m)
	if err := ctx.Err(); err != nil {
		return err
	}
	if asJSON {
		err = report.JSON(std.Out)
	} else {
		s := screen.New(std, look, m.Now())
		err = report.Print(std.Out, doctor.Look{Clean: terminal.Visible, Paint: func(l doctor.Level, text string) string { return s.Paint(levelStyles[l], text) }})
	}
	if err != nil {
		return err
	}
	return exit.Silent(map[doctor.Level]int{doctor.OK: exit.Done, doctor.Warning: exit.Failed, doctor.Problem: exit.NotReady}[report.Worst()])
}

// levelStyles are the colours of findings.
var levelStyles = map[doctor.Level]screen.Style{doctor.OK: screen.Good, doctor.Warning: screen.Alert, doctor.Problem: screen.Bad}

// machineOf is this machine with the settings of a command line, which may have the flags
// that more adds. Invalid settings are what is checked; an invalid command line is an
// error.
func machineOf(std terminal.Streams, args []string, more func(*settings.Flags)) (m doctor.Machine, asJSON bool, err error) {
	f := settings.NewFlags("doctor")
	if more != nil {
		more(f)
	}
	s, rest, invalid := f.Load(std, args)
	var help *flags.Help
	var version *flags.Version
	if errors.As(invalid, &help) || errors.As(invalid, &version) {
		return m, false, invalid
	}
	if invalid == nil && len(rest) > 0 {
		return m, false, &exit.UsageError{Reason: fmt.Sprintf("doctor: unexpected argument %q", quote.Short(rest[0])), Advice: "doctor takes only flags"}
	}
	if _, _, without := settings.NewFlags("doctor").Load(std, nil); invalid != nil && without == nil {
		return m, false, invalid // it is the flags
	}
	state := paths.State(std.Getenv, "")
	executable, err := os.Executable()
	if err != nil {
		return m, false, err
	}
	project, _ := os.Getwd() // an unknown one has no settings of clients
	system := clients.System{OS: runtime.GOOS, Getenv: std.Getenv, Project: project}
	m = doctor.Machine{
		OS: runtime.GOOS, Getenv: std.Getenv, Now: time.Now, Version: release.Version, Built: committed(),
		Settings: s, Invalid: invalid, Known: gateway.AppVaultFolders(std.Getenv), State: state,
		Paused:  func() bool { return isPaused(state) },
		Clients: clients.Installer{System: system, Backups: filepath.Join(state, "clients"), Now: time.Now},
		Start:   starter(system), Free: doctor.Free, Elevated: doctor.Elevated,
		Embedded: func(ctx context.Context, folder string) (string, error) { return sandboxOf(ctx, executable, folder) },
	}
	if invalid == nil {
		m.StateReadOnly, m.StateUnsafe = s.CheckState(std)
		m.App = func(ctx context.Context) (string, *failure.Error) { return versionOfApp(ctx, s, std) }
		m.Journal = journals(s, std)
	}
	return m, f.JSON, nil
}

func isPaused(state string) bool {
	_, err := os.Lstat(admission.PauseFile(state))
	return !errors.Is(err, fs.ErrNotExist)
}

// committed is when the source was committed, as the build noted it.
func committed() (at time.Time) {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range build.Settings {
			if setting.Key == "vcs.time" {
				at, _ = time.Parse(time.RFC3339, setting.Value)
			}
		}
	}
	return at
}

// versionOfApp asks the Obsidian CLI, through the gate like every call: with a policy
// that lets nothing else through.
func versionOfApp(ctx context.Context, s settings.Settings, std terminal.Streams) (string, *failure.Error) {
	runner, err := newRunner(s, std, false, nil)
	if err != nil {
		return "", failure.Of(err)
	}
	defer runner.Close()
	g := gateway.New(gateway.Config{
		Policy: s.ForVersion(), Runner: runner, Backend: gateway.App, Session: session(), Getenv: std.Getenv, Log: slog.New(slog.DiscardHandler),
	})
	answer := g.Do(ctx, gateway.Request{Command: "version"})
	if answer.Error != nil {
		return "", answer.Error
	}
	return strings.TrimSpace(answer.Stdout), nil
}

// journals opens journals as a server of the settings would.
func journals(s settings.Settings, std terminal.Streams) func(gateway.Vault) (*journal.Journal, error) {
	return func(v gateway.Vault) (*journal.Journal, error) {
		runner, err := newRunner(s, std, false, nil)
		if err != nil {
			return nil, err
		}
		defer runner.Close()
		g := gateway.New(gateway.Config{Vault: v, Runner: runner, Backend: gateway.Embedded, Session: session(), Getenv: std.Getenv, Log: slog.New(slog.DiscardHandler)})
		return g.Journal("")
	}
}

// sandboxOf asks the embedded CLI what it is locked into for a vault.
func sandboxOf(ctx context.Context, self, folder string) (string, error) {
	printed, complaint, err := program.Ask(ctx, []string{self, rawName, folder, "--status"}, "")
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, firstLine(complaint))
	}
	for line := range strings.Lines(printed) {
		if held, found := strings.CutPrefix(line, "sandbox\t"); found {
			return strings.TrimSpace(held), nil
		}
	}
	return "", errors.New("it does not say what it is locked into")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return quote.Short(line)
}

// hello is the first message of a client.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"vaultwicket-doctor","version":"1"}}}` + "\n"

// starter returns what starts the command of an entry as a client would, and asks who
// answers.
func starter(system clients.System) func(context.Context, []string) (name, version string, err error) {
	return func(ctx context.Context, command []string) (name, version string, err error) {
		argv := slices.Clone(command)
		if !filepath.IsAbs(argv[0]) {
			if argv[0] = system.Program(argv[0]); argv[0] == "" {
				return "", "", fmt.Errorf("%q is not on the PATH", command[0])
			}
		}
		return greet(ctx, argv)
	}
}

func greet(ctx context.Context, argv []string) (name, version string, err error) {
	printed, complaint, err := program.Ask(ctx, argv, hello)
	var answer struct {
		Result struct {
			ServerInfo struct{ Name, Version string }
		}
	}
	line, _, _ := strings.Cut(printed, "\n")
	if json.Unmarshal([]byte(line), &answer) == nil && answer.Result.ServerInfo.Name != "" {
		return answer.Result.ServerInfo.Name, answer.Result.ServerInfo.Version, nil
	}
	if err == nil {
		err = errors.New("it does not answer initialize")
	}
	if said := firstLine(complaint); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return "", "", err
}
