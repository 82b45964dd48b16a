package serving

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
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

// ServePage serves the local page at a loopback address until ctx is done. Its link allows its reader to approve
// requests, so it is printed on the terminal that the process belongs to, not on standard output, which a program
// could read. c contains the functions that the caller provides for the page.
func ServePage(ctx context.Context, o bootstrap.Opened, address string, c ui.Config) error {
	defer o.Runner.Close()
	defer o.Gateway.Flush()
	if len(o.Rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("ui: unexpected argument %q", excerpt.Short(o.Rest[0])),
			Advice: `"vaultwicket help ui" shows the flags`,
		}
	}
	state, err := settings.StateFolder(o.Std)
	if err != nil {
		return err
	}
	console, err := o.Std.OpenConsole()
	if err != nil {
		return terminal.FailureOf(
			&failure.Error{
				Code:    failure.CodeUnconfirmed,
				Message: "ui requires a terminal, which shows the link: " + err.Error(),
				Hint:    "run it in a terminal window",
			},
		)
	}
	defer console.Close()
	l, err := listenLoopback(ctx, address)
	if err != nil {
		return err
	}
	defer o.ReloadOnChange(ctx)()
	c.Gateway = o.Gateway
	c.State = state
	c.Session = bootstrap.Session()
	c.Version = release.Version
	c.Log = o.Log
	c.Settings = func() (ui.Settings, error) {
		rows, file, err := o.Flags.List(o.Std)
		shown := ui.Settings{File: file}
		for _, row := range rows {
			shown.Rows = append(shown.Rows, ui.Setting(row))
		}
		return shown, err
	}
	c.OfAgent = o.OfAgent
	c.Advise = func(r ui.Refusal) (ui.Advice, error) {
		advice, err := o.Flags.Advise(o.Std, settings.Refusal(r))
		advised := ui.Advice{
			File: advice.File, Setting: advice.Setting, Origin: advice.Origin, Opens: advice.Opens, Folder: advice.Folder,
		}
		for _, edit := range advice.Edits {
			advised.Edits = append(advised.Edits, ui.Edit(edit))
		}
		return advised, err
	}
	page := ui.New(c)
	if o.Std.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage) // the page may stay open all day
	}
	remove, err := ownerfiles.RegisterServer(consent.Pages(state), ownerfiles.Server{
		Session:   bootstrap.Session(),
		PID:       os.Getpid(),
		Since:     time.Now().UTC(),
		Version:   release.Version,
		Transport: consent.LocalPage,
		URL:       "http://" + l.Addr().String(),
	})
	if err != nil {
		o.Log.Warn("links to questions cannot lead to this page: " + err.Error())
	} else {
		defer remove()
	}
	go exec.ReapOrphans(ctx)
	go func() { // prints a link, and another one for each line that is typed
		link := func() string { return "http://" + l.Addr().String() + page.Open() }
		fmt.Fprintf(
			console,
			"%s\nOpen it in a browser. It works once, within %d minutes; press Enter for another one. Ctrl-C ends the page.\n",
			link(),
			int(ui.LinkLife/time.Minute),
		)
		for lines := bufio.NewScanner(console); lines.Scan(); {
			fmt.Fprintln(console, link())
		}
	}()
	if err := page.Serve(ctx, l); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// listenLoopback listens on an address that only this machine can reach.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	usageError := func(reason string) error {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("--listen %q %s", excerpt.Short(address), reason),
			Advice: `use one such as "127.0.0.1:8766" or "[::1]:8766"`,
		}
	}
	host, port, err := net.SplitHostPort(address)
	isPort := port == "0" || httpguard.IsPort(port)
	if err != nil || !isPort {
		return nil, usageError("is not an address with a port")
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return nil, usageError("is not a loopback address: the page is for this machine only")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("cannot listen on %s: %v", address, err),
			"choose another port, or leave --listen out for a free one",
		)
	}
	return l, nil
}
