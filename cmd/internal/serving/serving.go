// Package serving runs the servers: MCP on standard input and output, MCP over HTTP with a token for each
// agent, and the local page. A server ends with its client, its parent or a signal, and
// returns memory that it does not need to the system.
package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

// grace is added to the time limit of a call for calls that are still running when the client closes our input: the
// last one may just have started.
const grace = 2 * time.Second

// garbage is the GC percentage of a server: half of Go's default. It saves 4 MiB after
// thousands of calls, and no call takes longer (measured over 4,000 calls).
const garbage = 50

// memory is the soft memory limit of a server, in bytes. It is more than a server needs for a
// response of maximum size and another one that is being read. Mapped files, such as the program itself, do not count.
const memory = 42 << 20

// Serve serves MCP on standard input and output, or over HTTP, until ctx is done, the input ends, or the process with
// the id parent ends (0 for no process). greet is called before the first message of standard input is read.
func Serve(ctx context.Context, o bootstrap.Opened, parent int, greet func()) error {
	defer o.Records.Close() // after the last line of the audit log
	defer o.Traces.Close()  // after the last call
	defer o.Runner.Close()
	defer o.Notifier.Close()
	defer o.Gateway.Flush()
	if o.Std.Getenv("GOGC") == "" {
		// Later, because a collection before the first answer would take a fifth of the time to start.
		defer time.AfterFunc(startOver, func() { debug.SetGCPercent(garbage) }).Stop()
	}
	defer time.AfterFunc(startOver, giveBack).Stop()
	defer o.Activity.AfterPause(pauseOver, giveBack)()
	if o.Std.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("serve: unexpected argument %q", excerpt.Short(o.Rest[0])),
			Advice: `"vaultwicket help serve" shows the flags`,
		}
	}
	for _, served := range o.Served { // otherwise a missing folder would only show in the answers to calls
		if served.Folder == "" {
			continue
		}
		if _, err := o.Runner.Embedded(served.Folder); err != nil {
			return err
		}
	}
	clock, err := bootstrap.Clock(o.Std)
	if err != nil {
		return err
	}
	ctx, stopWatching, err := watchParent(ctx, parent, o.Log)
	if err != nil {
		return err
	}
	defer stopWatching()
	defer registerServer(o)()
	go exec.ReapOrphans(ctx)
	var settling sync.WaitGroup
	defer settling.Wait()
	settling.Go(func() {
		if err := o.Gateway.Settle(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn("a change was broken off", "error", err)
		}
	})
	defer o.ReloadOnChange(ctx)()
	// Without this, writing to a closed output would kill the process. Now the write fails and the server shuts
	// down.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	config := mcpserver.Config{
		Gateway:       o.Gateway,
		Version:       release.Version,
		Toolsets:      o.Toolsets,
		MaxOutput:     o.MaxOutput,
		MarkUntrusted: o.MarkUntrusted,
		Text:          o.ResultFormat == "text",
		App:           mcpserver.App{Page: ui.AppPage, View: ui.AppView},
		Grace:         o.Timeout + grace,
		Log:           o.Log,
		Now:           bootstrap.DayClock(clock, o.DayStart),
	}
	if o.HTTP.Addr != "" {
		return endedServer(o, serveHTTP(ctx, o, config))
	}
	if err := o.CheckWithoutHTTP(); err != nil {
		return err
	}
	defer showQuestions(ctx, o)()
	greet()
	return endedServer(o, mcpserver.ServeStdio(ctx, config, ownInput(o.Std.In), o.Std.Out))
}

// startOver is the time after which a server has usually answered "initialize" and listed its tools, which takes
// about 10 ms. Then memory that was only needed at the start is returned.
const startOver = 250 * time.Millisecond

// pauseOver is the idle time after which a server returns the memory that its calls needed. The
// next call takes a millisecond longer, which does not matter after such a pause.
const pauseOver = 2 * time.Second

// giveBack returns unused memory to the system.
func giveBack() {
	debug.FreeOSMemory()
	releaseProgram()
}

// endedServer returns the error of a server. It is nil after a signal, which is the normal end. If the log format is
// JSON, the error is logged instead, and the result only sets the exit status.
func endedServer(o bootstrap.Opened, err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return nil
	case !o.LogJSON:
		return err
	}
	o.Log.Error(err.Error(), "hint", terminal.HintOf(err))
	return terminal.Silent(terminal.StatusOf(err))
}

// showQuestions makes the gateway show pending questions on a page of this server, unless another page is
// open. The returned function closes the page and waits until it is closed.
func showQuestions(ctx context.Context, o bootstrap.Opened) (closed func()) {
	state := ownerfiles.StateFolder(o.Std.Getenv, "")
	if state == "" || o.VaultAround(o.Std, state) != "" {
		return func() {}
	}
	pageCtx, cancel := context.WithCancel(ctx)
	page := ui.NewOwnPage(state, bootstrap.Session(), o.Log)
	o.Gateway.ShowQuestionsOn(func() string { return page.Open(pageCtx) })
	return func() {
		cancel()
		page.Wait()
	}
}

// registerServer adds this server to the list of running servers in the state folder until end is called. It
// works in the background, so that the first answer does not wait for it. If it fails, the server runs all the same.
func registerServer(o bootstrap.Opened) (end func()) {
	state := ownerfiles.StateFolder(o.Std.Getenv, "")
	if state == "" || o.VaultAround(o.Std, state) != "" {
		return func() {}
	}
	server := ownerfiles.Server{
		Session:       bootstrap.Session(),
		PID:           os.Getpid(),
		Since:         time.Now().UTC(),
		Version:       release.Version,
		Transport:     "stdio",
		Vaults:        o.Gateway.VaultNames(),
		CallsMinute:   o.Limits.Calls,
		ChangesMinute: o.Limits.Mutations,
		ChangesHour:   o.Limits.MutationsHour,
	}
	if o.HTTP.Addr != "" {
		server.Transport = "http"
	}
	registered := make(chan func(), 1)
	go func() {
		remove, err := ownerfiles.RegisterServer(ownerfiles.ServersFolder(state), server)
		if err != nil {
			o.Log.Debug("this server is not in the list of running servers", "error", err.Error())
			remove = func() {}
		}
		registered <- remove
	}()
	return func() { (<-registered)() }
}
