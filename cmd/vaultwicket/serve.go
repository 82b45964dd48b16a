package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

var helpOfServe = description{
	Name: "serve", Usage: "[flags]", Group: groupStart, Summary: "serve MCP over stdio or HTTP",
	About: []string{
		"An MCP client starts this and speaks JSON-RPC with it on standard input and output. Messages for you go to standard error.",
		"With --http one server is for several clients; each needs the token from the token file.",
	},
	Examples: []example{
		{"a read-only server for one folder", "vaultwicket serve --vault ~/Notes"},
		{"let agents search and change notes", "vaultwicket serve --vault ~/Notes --tier v2 --allow-mutations"},
		{"over HTTP, on this machine only", "vaultwicket serve --vault ~/Notes --http 127.0.0.1:8765"},
	},
}

// serveGrace is added to the time limit of a call for the calls that are open
// when the client closes our input: the last of them may just have started.
const serveGrace = 2 * time.Second

// serveGarbage is the GC percentage of a server: half of Go's default. It saves 4 MiB after
// thousands of calls, and no call takes longer (measured over 4,000 calls).
const serveGarbage = 50

// serveMemory is the soft memory limit of a server, in bytes. It is above what a server keeps at most: a
// response of maximum size and one that is being read. Mapped files, such as the program itself, do not count.
const serveMemory = 42 << 20

// serve is "vaultwicket serve": MCP on standard input and output, or over HTTP.
func serve(ctx context.Context, std terminal.Streams, args []string) error {
	parent := 0 // no process
	o, err := bootstrap.Open("serve", std, args, func(f *settings.Flags) {
		f.Resident = true
		f.Observed = true
		f.Func("parent-pid", "exit when this process ends; for programs that start the server", func(text string) (err error) {
			parent, err = parseProcessID(text)
			return err
		})
	})
	if err != nil {
		return err
	}
	defer o.Records.Close() // after the last line
	defer o.Traces.Close()  // after the last call
	defer o.Runner.Close()
	defer o.Notifier.Close()
	defer o.Gateway.Flush()
	if std.Getenv("GOGC") == "" {
		// Not now: a collection before the first answer would take a fifth of the start.
		defer time.AfterFunc(startOver, func() { debug.SetGCPercent(serveGarbage) }).Stop()
	}
	defer time.AfterFunc(startOver, giveBack).Stop()
	defer o.Activity.AfterPause(pauseOver, giveBack)()
	if std.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(serveMemory)
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{Reason: fmt.Sprintf("serve: unexpected argument %q", excerpt.Short(o.Rest[0])), Advice: `"vaultwicket help serve" shows the flags`}
	}
	for _, served := range o.Served { // otherwise the user would see a missing folder only in the answers to calls
		if served.Folder == "" {
			continue
		}
		if _, err := o.Runner.Embedded(served.Folder); err != nil {
			return err
		}
	}
	clock, err := bootstrap.Clock(std)
	if err != nil {
		return err
	}
	ctx, free, err := watchParent(ctx, parent, o.Log)
	if err != nil {
		return err
	}
	defer free()
	defer registerServer(o)()
	go exec.ReapOrphans(ctx)
	defer o.ReloadOnChange(ctx)()
	// With SIGPIPE caught, a closed output is an error of the write and the server shuts down;
	// otherwise it would be killed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c := mcpserver.Config{
		Gateway: o.Gateway, Version: release.Version, Toolsets: o.Toolsets,
		MaxOutput: o.MaxOutput, MarkUntrusted: o.MarkUntrusted, Text: o.ResultFormat == "text", App: mcpserver.App{Page: ui.AppPage, View: ui.AppView}, Grace: o.Timeout + serveGrace, Log: o.Log, Now: bootstrap.DayClock(clock, o.DayStart),
	}
	if o.HTTP.Addr != "" {
		return endedServer(o, serveHTTP(ctx, o, c))
	}
	if err := o.CheckWithoutHTTP(); err != nil {
		return err
	}
	// Tell a user who typed the command at a terminal what it waits for. A client is at a pipe, and may
	// do anything with standard error.
	if terminal.IsTerminal(std.In) && terminal.IsTerminal(std.Out) && terminal.IsTerminal(std.Err) && !o.LogJSON {
		onError := std
		onError.Out = std.Err
		fmt.Fprint(std.Err, serveText(terminal.DefaultScreen(onError), cmp.Or(o.Vault.Name, o.Vault.Folder, o.Vault.ID)))
	}
	return endedServer(o, mcpserver.ServeStdio(ctx, c, ownInput(std.In), std.Out))
}

// startOver is the time after which a server has surely answered "initialize", if there is a
// client. Memory that only the start needed is returned then.
const startOver = time.Second

// pauseOver is the idle time after which a server returns the memory that its calls needed. The
// next call, which takes a millisecond longer, is then one of a user who was thinking.
const pauseOver = 10 * time.Second

// giveBack returns memory to the system that only the start or calls needed.
func giveBack() {
	debug.FreeOSMemory()
	releaseProgram()
}

// endedServer returns the error of a server, nil after a signal, which is the ordinary end. It is logged if
// messages are JSON.
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

// plainWord is a value that every shell takes as it is.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:@~+-]+$`) })

// serveText explains a server to a user who started it in a terminal: what it waits for, how clients
// start it, how to try it and how to stop it. vault is the given name, id or folder, "" for none.
func serveText(s terminal.Screen, vault string) string {
	flag := ""
	if plainWord().MatchString(vault) {
		flag = " --vault " + vault
	}
	p := helpWriter{screen: s, width: min(s.Width(pipeWidth), maxHelpWidth)}
	p.wrap("", "This is an MCP server. It waits for messages of an MCP client on standard input, which is your keyboard now. Clients start it themselves: you do not need to keep it running.")
	p.heading("To connect a client")
	p.commandLines([]example{{"which clients are here", "vaultwicket install --list"}, {"add it to one", "vaultwicket install claude-code" + flag}})
	p.heading("To try it without a client")
	p.commandLines([]example{
		{"one command", "vaultwicket run" + flag + " daily:read"},
		{"a whole session with a built-in vault", "vaultwicket demo"},
		{"one server for several clients, over HTTP", "vaultwicket serve" + flag + " --http 127.0.0.1:8765"},
	})
	p.line("")
	p.line("Press Ctrl-C to stop.")
	return p.text.String()
}

// registerServer adds this server to the list of running servers in the state folder, until end is called. It
// works in the background, so that the first answer does not wait, and the server runs without it.
func registerServer(o bootstrap.Opened) (end func()) {
	state := ownerfiles.StateFolder(o.Std.Getenv, "")
	if state == "" || o.VaultAround(o.Std, state) != "" {
		return func() {}
	}
	s := ownerfiles.Server{
		Session: bootstrap.Session(), PID: os.Getpid(), Since: time.Now().UTC(), Version: release.Version, Transport: "stdio", Vaults: o.Gateway.VaultNames(),
		CallsMinute: o.Limits.Calls, ChangesMinute: o.Limits.Mutations, ChangesHour: o.Limits.MutationsHour,
	}
	if o.HTTP.Addr != "" {
		s.Transport = "http"
	}
	registered := make(chan func(), 1)
	go func() {
		remove, err := ownerfiles.RegisterServer(ownerfiles.ServersFolder(state), s)
		if err != nil {
			o.Log.Debug("this server is not in the list of running servers", "error", err.Error())
			remove = func() {}
		}
		registered <- remove
	}()
	return func() { (<-registered)() }
}

const firstPassed = 3

// passedListener returns the socket that was passed to this process by socket activation, nil if there
// is none. pid is the id of this process: variables that were meant for a parent are ignored. The error
// is a [*terminal.UsageError] if the number of sockets is not one, or the descriptor cannot listen.
func passedListener(getenv func(string) string, pid int) (net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, &terminal.UsageError{Reason: fmt.Sprintf("the service manager passes %q sockets, want 1", n), Advice: "give the socket unit one ListenStream"}
	}
	return listener(firstPassed)
}

// listener takes a descriptor over. Programs that are started later do not get it.
func listener(descriptor uintptr) (l net.Listener, err error) {
	file := os.NewFile(descriptor, "socket of the service manager")
	if err = os.ErrInvalid; file != nil {
		defer file.Close()
		l, err = net.FileListener(file)
	}
	if err != nil {
		return nil, &terminal.UsageError{Reason: fmt.Sprintf("the socket of the service manager cannot be used: %v", err), Advice: "use ListenStream in the socket unit"}
	}
	return l, nil
}
