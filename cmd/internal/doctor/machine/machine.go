// Package machine is the machine on which doctor runs, as doctor checks it: the settings of
// a command line, the programs that it starts, the clients that are installed. Package
// doctor itself knows no machine.
package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/clients"
	"vaultwicket/cmd/internal/doctor"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/registry"
	"vaultwicket/gateway/state/private"
)

// Of is this machine with the settings of a command line, which may have the flags
// that more adds. Invalid settings are what is checked; an invalid command line is an
// error.
func Of(std terminal.Streams, args []string, more func(*settings.Flags)) (m doctor.Machine, asJSON bool, err error) {
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
		return m, false, &terminal.UsageError{Reason: fmt.Sprintf("doctor: unexpected argument %q", quote.Short(rest[0])), Advice: "doctor takes only flags"}
	}
	var file []string // a file that is no good is a finding, also when a flag names it
	if given := f.Lookup(settings.FileFlag); given.Changed {
		file = []string{"--" + settings.FileFlag, given.Value.String()}
	}
	if _, _, without := settings.NewFlags("doctor").Load(std, file); invalid != nil && without == nil {
		return m, false, invalid // it is the other flags
	}
	state := private.StateFolder(std.Getenv, "")
	executable, err := os.Executable()
	if err != nil {
		return m, false, err
	}
	project, _ := os.Getwd() // an unknown one has no settings of clients
	system := clients.System{OS: runtime.GOOS, Getenv: std.Getenv, Project: project}
	m = doctor.Machine{
		OS: runtime.GOOS, Getenv: std.Getenv, Now: time.Now, Version: release.Version, Built: committed(),
		Settings: s, Invalid: invalid, Known: registry.VaultFolders(std.Getenv), State: state,
		Paused:  func() bool { paused, err := admission.IsPaused(state); return paused || err != nil },
		Clients: clients.Installer{System: system, Backups: filepath.Join(state, "clients"), Now: time.Now},
		Listen: func(ctx context.Context, addr string) error {
			l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
			if err != nil {
				return err
			}
			return l.Close()
		},
		Start: starter(system), Free: doctor.Free, Elevated: doctor.Elevated,
		Embedded: func(ctx context.Context, folder string) (string, error) { return sandboxOf(ctx, executable, folder) },
	}
	if invalid == nil {
		m.StateReadOnly, m.StateUnsafe = s.CheckState(std)
		m.App = func(ctx context.Context) (string, *failure.Error) { return versionOfApp(ctx, s, std) }
		m.Journal = journals(s, std)
	}
	return m, f.JSON, nil
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
