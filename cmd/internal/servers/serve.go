// Package servers has the subcommands that run until they are stopped: serve, which is MCP
// on standard input and output or over HTTP, and ui, the local page.
package servers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/manual"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway/mcpserver"
)

// serveGrace is added to the time limit of a call for the calls that are open
// when the client closes our input: the last of them may just have started.
const serveGrace = 2 * time.Second

// serveGarbage is how much garbage a server lets come together, in percent of what
// it holds: half of what Go does by default. That is 4 MiB less after thousands of
// calls, and no call takes longer for it (measured over 4,000 calls).
const serveGarbage = 50

// serveMemory is how much memory of its own, in bytes, a server takes before it
// collects garbage more often. What it keeps at most is less: an answer of the largest
// kind beside another one that is being read. The files that are mapped, the program
// itself above all, are not in it.
const serveMemory = 42 << 20

// Serve is "vaultwicket serve": MCP on standard input and output, or over HTTP.
func Serve(ctx context.Context, std terminal.Streams, args []string) error {
	var own serveFlags
	o, err := settings.Open("serve", std, args, own.add)
	if err != nil {
		return err
	}
	defer o.Traces.Close() // behind the last call
	defer o.Runner.Close()
	defer o.Gateway.Flush()
	if std.Getenv("GOGC") == "" {
		defer collectLater()()
	}
	defer time.AfterFunc(startOver, giveBack).Stop()
	defer o.Activity.AfterPause(pauseOver, giveBack)()
	if std.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(serveMemory)
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{Reason: fmt.Sprintf("serve: unexpected argument %q", quote.Short(o.Rest[0])), Advice: `"vaultwicket help serve" shows the flags`}
	}
	if err := o.CheckVaultFolders(); err != nil {
		return err
	}
	clock, err := settings.Clock(std)
	if err != nil {
		return err
	}
	ctx, free, err := Watch(ctx, own.parent, o.Log)
	if err != nil {
		return err
	}
	defer free()
	defer register(o)()
	go exec.ReapOrphans(ctx)
	defer settings.ReloadOnChange(ctx, o.Gateway, o.Flags, o.Settings, std, o.Log)()
	// With SIGPIPE watched, a closed output is an error of the write and the
	// server ends in order; it would be killed in the middle of it otherwise.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c := mcpserver.Config{
		Gateway: o.Gateway, Version: release.Version, Toolsets: o.Toolsets,
		MaxOutput: o.MaxOutput, MarkUntrusted: o.MarkUntrusted, Text: o.ResultFormat == "text", Grace: o.Timeout + serveGrace, Log: o.Log, Now: settings.DayClock(clock, o.DayStart),
	}
	if o.HTTP.Addr != "" {
		return logged(o, ended(serveHTTP(ctx, o, c)))
	}
	if err := o.CheckWithoutHTTP(); err != nil {
		return err
	}
	explainServer(o)
	return logged(o, ended(mcpserver.ServeStdio(ctx, c, ownInput(std.In), std.Out)))
}

// startOver is when a server has surely answered "initialize", if its client is there. What
// only its start needed is given back then.
const startOver = time.Second

// pauseOver is after how long without a call a server gives back what its calls needed. The
// next call, which takes a millisecond longer for it, is then one of somebody who thinks.
const pauseOver = 10 * time.Second

// giveBack returns memory to the system that a server needs for its start or its calls alone.
func giveBack() {
	debug.FreeOSMemory()
	releaseProgram()
}

// collectLater bounds the garbage of a server once it has started. A collection before the
// first answer would be a fifth of all that the start does.
func collectLater() (stop func() bool) {
	return time.AfterFunc(startOver, func() { debug.SetGCPercent(serveGarbage) }).Stop
}

// explainServer tells a user who typed the command at a terminal what it waits for. A client
// is at a pipe, and what it does with standard error is not known: it is told nothing.
func explainServer(o settings.Opened) {
	std := o.Std
	if !terminal.IsTerminal(std.In) || !terminal.IsTerminal(std.Out) || !terminal.IsTerminal(std.Err) || o.LogJSON {
		return
	}
	onError := std
	onError.Out = std.Err
	fmt.Fprint(std.Err, manual.ServeText(terminal.DefaultScreen(onError), cmp.Or(o.Vault.Name, o.Vault.Folder, o.Vault.ID)))
}

// serveFlags are the flags of serve that are no settings.
type serveFlags struct{ parent PID }

func (s *serveFlags) add(f *settings.Flags) {
	settings.Stay(f)
	f.Observed = true
	f.Var(&s.parent, "parent-pid", "exit when this process ends; for programs that start the server")
}

// logged reports what ended a server in the form of its messages, where a program
// reads them.
func logged(o settings.Opened, err error) error {
	if err == nil || !o.LogJSON {
		return err
	}
	o.Log.Error(err.Error(), "hint", terminal.HintOf(err))
	return terminal.Silent(terminal.StatusOf(err))
}
