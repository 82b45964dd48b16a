package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/doctor"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/agents"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

var helpOfUI = description{
	Name: "ui", Usage: "[flags] [--listen ADDRESS]", Group: groupReview, Summary: "open a local page: activity, approvals, changes, policy",
	About: []string{
		"The link is shown at your terminal and works once, within 15 minutes; Enter shows another one. The page is for this machine only, and ends with the command.",
	},
	Examples: []example{
		{"on a free port", "vaultwicket ui"},
		{"on a port of your choice", "vaultwicket ui --listen 127.0.0.1:8766"},
	},
}

// anyPort has the system choose a port that is free.
const anyPort = "127.0.0.1:0"

// servePage is "vaultwicket ui": the local page, until the command ends. Its link is printed on
// the terminal that the process belongs to, not on standard output, which a program can read:
// the link allows to approve requests.
func servePage(ctx context.Context, std terminal.Streams, args []string) error {
	o, err := bootstrap.Open("ui", std, args, pageFlags)
	if err != nil {
		return err
	}
	defer o.Runner.Close()
	defer o.Gateway.Flush()
	if len(o.Rest) > 0 {
		return &terminal.UsageError{Reason: fmt.Sprintf("ui: unexpected argument %q", excerpt.Short(o.Rest[0])), Advice: `"vaultwicket help ui" shows the flags`}
	}
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	console, err := std.OpenConsole()
	if err != nil {
		return terminal.FailureOf(&failure.Error{Code: failure.CodeUnconfirmed, Message: "ui requires a terminal, which shows the link: " + err.Error(), Hint: "run it in a terminal window"})
	}
	defer console.Close()
	l, err := listenLoopback(ctx, o.Flags.Lookup("listen").Value.String())
	if err != nil {
		return err
	}
	defer o.ReloadOnChange(ctx)()
	page := ui.New(ui.Config{
		Gateway: o.Gateway, State: state, Session: bootstrap.Session(), Version: release.Version, Log: o.Log,
		Settings: func() (ui.Settings, error) {
			rows, file, err := o.Flags.List(o.Std)
			shown := ui.Settings{File: file}
			for _, row := range rows {
				shown.Rows = append(shown.Rows, ui.Setting(row))
			}
			return shown, err
		}, Agents: func() ([]ui.Agent, error) {
			f := settings.NewFlags("ui")
			f.Reviews = true
			pageFlags(f)
			s, _, err := f.Load(std, args)
			if err != nil {
				return nil, err
			}
			a, err := newAgentAction(std, f, s, state)
			if err != nil {
				return nil, err
			}
			all, err := a.all()
			list := []ui.Agent{}
			for _, one := range all {
				list = append(list, ui.Agent{Name: one.Name, State: one.State, Tier: one.Tier, Mutations: one.Mutations, Vaults: one.Vaults, Expires: one.Expires})
			}
			return list, err
		}, Revoke: func(name string) error {
			if err := admission.RevokeAgent(state, name, time.Now()); err != nil {
				return err
			}
			_, err := agents.Open(state).Remove(name)
			return err
		}, Health: func(ctx context.Context) []ui.Finding { // of doctor, with the settings of this command
			m, _, err := doctor.ThisMachine(std, args, pageFlags)
			if err != nil {
				return []ui.Finding{{Check: "doctor", Level: string(doctor.Problem), What: err.Error()}}
			}
			var list []ui.Finding
			for _, f := range doctor.Check(ctx, m).Findings {
				list = append(list, ui.Finding{Check: f.Check, Level: string(f.Level), What: f.What, Why: f.Why, Fix: f.Fix})
			}
			return list
		},
	})
	if std.Getenv("GOGC") == "" {
		debug.SetGCPercent(serveGarbage) // it stays open all day
	}
	remove, err := ownerfiles.RegisterServer(consent.Pages(state), ownerfiles.Server{
		Session: bootstrap.Session(), PID: os.Getpid(), Since: time.Now().UTC(), Version: release.Version, Transport: consent.LocalPage, URL: "http://" + l.Addr().String(),
	})
	if err != nil {
		o.Log.Warn("links to questions cannot lead to this page: " + err.Error())
	} else {
		defer remove()
	}
	go exec.ReapOrphans(ctx)
	go func() { // a link, and another one for each line that is typed
		link := func() string { return "http://" + l.Addr().String() + page.Open() }
		fmt.Fprintf(console, "%s\nOpen it in a browser. It works once, within %d minutes; press Enter for another one. Ctrl-C ends the page.\n", link(), int(ui.LinkLife/time.Minute))
		for lines := bufio.NewScanner(console); lines.Scan(); {
			fmt.Fprintln(console, link())
		}
	}()
	if err := page.Serve(ctx, l); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// pageFlags adds the flags of ui that are no settings.
func pageFlags(f *settings.Flags) {
	f.String("listen", anyPort, "loopback address and port, such as 127.0.0.1:8766 (port 0: any that is free)")
}

// listenLoopback listens on an address that only this machine can reach.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	refused := func(reason string) error {
		return &terminal.UsageError{Reason: fmt.Sprintf("--listen %q %s", excerpt.Short(address), reason), Advice: `use one such as "127.0.0.1:8766" or "[::1]:8766"`}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != "0" && !httpguard.IsPort(port) {
		return nil, refused("is not an address with a port")
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return nil, refused("is not a loopback address: the page is for this machine only")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("cannot listen on %s: %v", address, err), "choose another port, or leave --listen out for a free one")
	}
	return l, nil
}
