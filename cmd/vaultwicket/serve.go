package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway/mcpserver"
	"vaultwicket/gateway/state/private"
)

var helpOfServe = description{
	Name: "serve", Usage: "[flags]", Group: groupStart,
	Summary: "serve MCP over stdio or HTTP",
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

// serveGarbage is how much garbage a server lets come together, in percent of what
// it holds: half of what Go does by default. That is 4 MiB less after thousands of
// calls, and no call takes longer for it (measured over 4,000 calls).
const serveGarbage = 50

// serveMemory is how much memory of its own, in bytes, a server takes before it
// collects garbage more often. What it keeps at most is less: an answer of the largest
// kind beside another one that is being read. The files that are mapped, the program
// itself above all, are not in it.
const serveMemory = 42 << 20

// serve is "vaultwicket serve": MCP on standard input and output, or over HTTP.
func serve(ctx context.Context, std terminal.Streams, args []string) error {
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
	ctx, free, err := watchParent(ctx, own.parent, o.Log)
	if err != nil {
		return err
	}
	defer free()
	defer registerServer(o)()
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
		return loggedEnd(o, endedServer(serveHTTP(ctx, o, c)))
	}
	if err := o.CheckWithoutHTTP(); err != nil {
		return err
	}
	explainServer(o)
	return loggedEnd(o, endedServer(mcpserver.ServeStdio(ctx, c, ownInput(std.In), std.Out)))
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
	fmt.Fprint(std.Err, serveText(terminal.DefaultScreen(onError), cmp.Or(o.Vault.Name, o.Vault.Folder, o.Vault.ID)))
}

// serveFlags are the flags of serve that are no settings.
type serveFlags struct{ parent processID }

func (s *serveFlags) add(f *settings.Flags) {
	settings.Stay(f)
	f.Observed = true
	f.Var(&s.parent, "parent-pid", "exit when this process ends; for programs that start the server")
}

// loggedEnd reports what ended a server in the form of its messages, where a program
// reads them.
func loggedEnd(o settings.Opened, err error) error {
	if err == nil || !o.LogJSON {
		return err
	}
	o.Log.Error(err.Error(), "hint", terminal.HintOf(err))
	return terminal.Silent(terminal.StatusOf(err))
}

// plainWord is a value that every shell takes as it is.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:@~+-]+$`) })

// serveText explains a server to a user who started it by hand: what it waits for, how a
// client comes to start it, how to try it out, how to stop it. vault is the name, id or folder
// that was given, "" for none.
func serveText(s terminal.Screen, vault string) string {
	flag := ""
	if plainWord().MatchString(vault) {
		flag = " --vault " + vault
	}
	p := helpWriter{screen: s, width: min(s.Width(pipeWidth), maxHelpWidth)}
	p.wrap("", "This is an MCP server. It waits for messages of an MCP client on standard input, which is your keyboard now. Clients start it themselves: you do not need to keep it running.")
	p.heading("To connect a client")
	p.commandLines([]example{
		{"which clients are here", "vaultwicket install --list"},
		{"add it to one", "vaultwicket install claude-code" + flag},
	})
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

// registerServer notes in the state folder that this server runs, until end is called. It does
// not keep the first answer waiting, and a server without a place for it serves all the
// same.
func registerServer(o settings.Opened) (end func()) {
	state := private.StateFolder(o.Std.Getenv, "")
	if state == "" || o.VaultAround(o.Std, state) != "" {
		return func() {}
	}
	s := private.Server{
		Session: settings.Session(), PID: os.Getpid(), Since: time.Now().UTC(), Version: release.Version, Transport: "stdio", Vaults: o.Gateway.VaultNames(),
		CallsMinute: o.Limits.Calls, ChangesMinute: o.Limits.Mutations, ChangesHour: o.Limits.MutationsHour,
	}
	if o.HTTP.Addr != "" {
		s.Transport = "http"
	}
	registered := make(chan func(), 1)
	go func() {
		remove, err := private.RegisterServer(private.ServersFolder(state), s)
		if err != nil {
			o.Log.Debug("this server is not in the list of running servers", "error", err.Error())
			remove = func() {}
		}
		registered <- remove
	}()
	return func() { (<-registered)() }
}
