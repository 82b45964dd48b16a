package process

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// busyServer is a server in the middle of its work: its resident worker lives, and a
// call is open on a client of the app that hangs.
type busyServer struct {
	t             *testing.T
	vault         string
	stdio         *harness.StdioServer // nil over HTTP
	http          *harness.HTTPServer  // nil on standard input and output
	process       *osexec.Cmd
	socket        string // "" without one
	worker, child int
	answer        chan string // of the open call over HTTP
	unread        io.Reader   // of the answer that is not read, over HTTP
}

// The ways to a server.
const (
	onStdio  = "stdio"
	onTCP    = "http"
	onSocket = "socket"
)

// Limits of time of the open call: one that ends it soon, but not before a slow machine has started
// its client, and one that is longer than a test waits for anything.
const (
	short   = "3s"
	endless = "40s"
)

// newBusyServer starts a server with a limit of time for its calls.
func newBusyServer(t *testing.T, way, timeout string, flags ...string) *busyServer {
	t.Helper()
	client, pidFile := harness.HangingClient(t)
	h := &busyServer{t: t, vault: harness.SampleVault(t), answer: make(chan string, 1)}
	home := t.TempDir()
	known := map[string]any{"vaults": map[string]any{"0123456789abcdef": map[string]any{"path": h.vault, "ts": 1, "open": true}}}
	harness.WriteFile(t, filepath.Join(home, ".config", "obsidian", "obsidian.json"), []byte(harness.JSON(t, known)))
	flags = append(flags, "--tier=v1", "--cli="+client, "--vault="+h.vault, "--timeout="+timeout, "--max-output=1MiB")
	if way == onStdio {
		h.stdio = harness.StartServerIn(t, home, flags...)
		h.process = h.stdio.Process
		h.stdio.Send(harness.Handshake("{}"))
		h.stdio.Read()
		h.stdio.Send(harness.ToolCall(1, warmUp))
		h.stdio.Read()
		h.stdio.Send(harness.ToolCall(2, hanging))
	} else {
		if way == onSocket {
			h.socket = filepath.Join(shortFolder(t), "s")
			flags = append(flags, "--http=unix:"+h.socket)
		}
		h.http = harness.ServeHTTPIn(t, home, flags...)
		h.process = h.http.Process
		h.openOverHTTP()
	}
	h.child = harness.WaitForChild(t, pidFile)
	harness.WaitFor(t, "the server has a worker and the client as children", func() bool { // one that asked the app may end yet
		pids := slices.DeleteFunc(harness.WorkersOf(t, h.process.Process.Pid), func(pid int) bool { return pid == h.child })
		if len(pids) != 1 {
			return false
		}
		h.worker = pids[0]
		return true
	})
	if timeout == endless { // so that the client is still there
		// A terminal sends Ctrl-C to all processes of a group. With groups of their own the children
		// are ended by the server, in order.
		groups := map[int]bool{}
		for _, pid := range []int{h.process.Process.Pid, h.worker, h.child} {
			groups[require.Value(syscall.Getpgid(pid))(t)] = true
		}
		assert.Equal(t, len(groups), 3, "groups of the processes")
	}
	return h
}

// warmUp is a call that the worker answers, hanging one that the app is asked.
const (
	warmUp  = `{"command":"recent"}`
	hanging = `{"command":"daily:path"}`
)

// shortFolder is for sockets, whose paths have to be short.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder := require.Value(os.MkdirTemp("", "vw"))(t)
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func (h *busyServer) openOverHTTP() {
	h.t.Helper()
	a, err := h.http.Connect(h.t.Context())
	require.NoError(h.t, err)
	if answer, err := h.http.Send(h.t.Context(), http.MethodPost, harness.ToolCall(1, warmUp), "Mcp-Session-Id",
		a.Session); err != nil || answer.Status != http.StatusOK {
		h.t.Fatalf("%+v, %v", answer, err)
	}
	go func() {
		answer, err := h.http.Send(context.Background(), http.MethodPost, harness.ToolCall(2, hanging), "Mcp-Session-Id", a.Session)
		h.answer <- fmt.Sprint(answer.Body, err)
	}()
}

func (h *busyServer) signal(all ...os.Signal) {
	h.t.Helper()
	for _, s := range all {
		require.NoError(h.t, h.process.Process.Signal(s))
	}
}

// ends waits for the end of the server and returns its exit status, -1 for a
// signal. Everything that it has started must end with it.
func (h *busyServer) ends() int {
	h.t.Helper()
	var err error
	if h.http != nil {
		err = h.http.Wait()
	} else {
		err = h.process.Wait()
	}
	var exit *osexec.ExitError
	require.That(h.t, err == nil || errors.As(err, &exit), "%v", err)
	harness.WaitFor(h.t, "the worker ends", func() bool { return harness.Gone(h.worker) })
	harness.WaitFor(h.t, "the client of the app ends", func() bool { return harness.Gone(h.child) })
	left := naming(h.t, h.vault)
	assert.That(h.t, len(left) == 0, "what still runs: %q", left)
	return h.process.ProcessState.ExitCode()
}

// naming returns the command lines of the processes that name a folder.
func naming(t *testing.T, folder string) (left []string) {
	t.Helper()
	all := require.Value(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, name := range all {
		line, _ := os.ReadFile(name) // it may have ended meanwhile
		if strings.Contains(string(line), folder) && !strings.Contains(string(line), "-test.") {
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return left
}

// usable checks that nothing is locked: another process changes a note, and
// listens at the same socket.
func (h *busyServer) usable() {
	h.t.Helper()
	run := osexec.Command(harness.Binary, "run", "--config=none", "--backend=embedded", "--vault="+h.vault, "--tier=v1",
		"--allow-mutations", "append", "path=Tides.md", "content=more")
	run.Env = h.process.Env
	if out, err := run.CombinedOutput(); err != nil {
		h.t.Errorf("after the end: %v, %s", err, out)
	}
	if h.socket == "" {
		return
	}
	again := harness.ServeHTTP(h.t, "--backend=embedded", "--vault="+h.vault, "--http=unix:"+h.socket)
	_, err := again.Connect(h.t.Context())
	assert.That(h.t, err == nil, "another server at the socket: %v", err)
}

// killed is the status of a process that a signal ended.
const killed = -1

// A client may stop reading in the middle of an answer of some megabytes, and go on
// to live. The server waits for it for five seconds, so that this test is the first one.
func TestAClientStopsReading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, way, timeout string
		end                func(h *busyServer)
		status             int
	}{
		{"SIGTERM over a socket", onSocket, short, func(h *busyServer) { h.signal(syscall.SIGTERM) }, 5},
		{"SIGTERM on stdio", onStdio, short, func(h *busyServer) { h.signal(syscall.SIGTERM) }, 0},
		{"SIGTERM twice on stdio", onStdio, endless, func(h *busyServer) {
			h.signal(syscall.SIGTERM)
			harness.WaitFor(h.t, "the open call is stopped", func() bool { return harness.Gone(h.child) })
			h.signal(syscall.SIGTERM)
		}, 128 + 15},
		{"the end of the input", onStdio, short, func(h *busyServer) { h.stdio.In.Close() }, 5},
		{"SIGKILL on stdio", onStdio, endless, func(h *busyServer) { h.signal(os.Kill) }, killed},
		{"SIGTERM over HTTP", onTCP, short, func(h *busyServer) { h.signal(syscall.SIGTERM) }, 5},
		{"SIGKILL over HTTP", onTCP, endless, func(h *busyServer) { h.signal(os.Kill) }, killed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "the end of the input" {
				testenv.OnlyLong(t) // it waits for eight seconds
			}
			t.Parallel()
			h := newBusyServer(t, c.way, c.timeout)
			h.stopReading()
			c.end(h)
			status := h.ends()
			if status != 0 || !h.allLeft() {
				assert.Equal(t, status, c.status, "status")
			}
			h.usable()
		})
	}
}

func TestNothingIsLeftOfAServer(t *testing.T) {
	t.Parallel()
	ways := []string{onStdio, onTCP, onSocket}
	for _, c := range []struct {
		name, timeout string
		ways          []string
		end           func(h *busyServer)
		status        int
		answered      bool // the open call
		socket        bool // the file is left
	}{
		{name: "SIGTERM", timeout: short, ways: ways, status: 0, answered: true, end: func(h *busyServer) { h.signal(syscall.SIGTERM) }},
		{name: "Ctrl-C", timeout: short, ways: []string{onStdio}, status: 0, answered: true, end: func(h *busyServer) { h.signal(os.Interrupt) }},
		{name: "SIGKILL", timeout: endless, ways: ways, status: killed, socket: true, end: func(h *busyServer) { h.signal(os.Kill) }},
		{name: "the end of the input", timeout: short, ways: []string{onStdio}, status: 0, answered: true, end: func(h *busyServer) { h.stdio.In.Close() }},
		{name: "a second SIGTERM", timeout: endless, ways: []string{onSocket}, status: 128 + 15, end: func(h *busyServer) {
			h.signal(syscall.SIGTERM)
			h.refusing()
			h.signal(syscall.SIGTERM)
		}},
		{name: "a second Ctrl-C", timeout: endless, ways: []string{onTCP}, status: 128 + 2, end: func(h *busyServer) {
			h.signal(os.Interrupt)
			h.refusing()
			h.signal(os.Interrupt)
		}},
		{name: "an output that is closed", timeout: short, ways: []string{onStdio}, status: 5, end: func(h *busyServer) {
			h.stdio.Stdout.Close()
			// On a slow machine the call may have been answered before: then the answer to this cannot be written.
			time.AfterFunc(10*time.Second, func() { _, _ = io.WriteString(h.stdio.In, `{"jsonrpc":"2.0","method":"ping","id":"late"}`+"\n") })
		}},
		{name: "an output that is closed, and a message", timeout: endless, ways: []string{onStdio}, status: 5, end: func(h *busyServer) {
			h.stdio.Stdout.Close()
			// A process that another test starts at this moment may hold the closed end for a while.
			harness.WaitFor(h.t, "the server ends", func() bool {
				_, err := io.WriteString(h.stdio.In, `{"jsonrpc":"2.0","method":"ping","id":"`+rand.Text()+"\"}\n")
				return err != nil
			})
		}},
		{name: "the end of the input and SIGKILL", timeout: endless, ways: []string{onStdio}, status: killed, end: func(h *busyServer) {
			h.stdio.In.Close()
			h.signal(os.Kill)
		}},
	} {
		for _, way := range c.ways {
			t.Run(c.name+" over "+way, func(t *testing.T) {
				t.Parallel()
				h := newBusyServer(t, way, c.timeout)
				c.end(h)
				got := h.said()
				assert.That(t, !c.answered || strings.Contains(got, `"id":2`), "the open call is answered with %q", got)
				status := h.ends()
				assert.That(t, status == c.status, "status %d, want %d", status, c.status)
				_, err := os.Lstat(h.socket)
				assert.That(t, h.socket == "" || (err == nil) == c.socket, "the socket is there: %v", err == nil)
				h.usable()
			})
		}
	}
}

// said is all that the server still says to the open call.
func (h *busyServer) said() string {
	if h.http != nil {
		return <-h.answer
	}
	rest, _ := io.ReadAll(h.stdio.Out) // an error where this end was closed
	return string(rest)
}

// refusing waits until the server takes no more requests.
func (h *busyServer) refusing() {
	h.t.Helper()
	harness.WaitFor(h.t, "the server takes nothing more", func() bool {
		conn, err := net.Dial(h.http.Network, h.http.Addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

// The parent of the server may be killed, and a server over HTTP has no input that
// would end with it.
func TestAServerOverHTTPEndsWithTheProgramThatStartedIt(t *testing.T) {
	t.Parallel()
	for _, way := range []string{onTCP, onSocket} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			parent := osexec.Command("sleep", "600")
			require.NoError(t, parent.Start())
			h := newBusyServer(t, way, short, fmt.Sprintf("--parent-pid=%d", parent.Process.Pid))
			parent.Process.Kill()
			parent.Wait()
			assert.Equal(t, h.ends(), 0, "status")
			if h.socket != "" {
				_, err := os.Lstat(h.socket)
				assert.That(t, err != nil, "the socket is left")
			}
			h.usable()
		})
	}
}

// longCall is one that the worker answers with more than fits the buffers on the
// way: a quotation mark takes six bytes of an answer.
const longCall = `{"command":"note:section","params":{"path":"Quotes.md","lines":"1"}}`

// stopReading asks for a long answer and reads the beginning of it.
func (h *busyServer) stopReading() {
	h.t.Helper()
	harness.WriteFile(h.t, filepath.Join(h.vault, "Quotes.md"), bytes.Repeat([]byte(`"`), 1<<20))
	if h.stdio == nil {
		h.unread = askUnread(h.http, longCall).Body
		return
	}
	h.stdio.Send(harness.ToolCall(10, longCall))
	text, err := h.stdio.Out.Peek(10)
	require.That(h.t, err == nil, "%q, %v", text, err)
}

// allLeft reports whether an answer that was not read had left the server: a
// connection of TCP may hold some megabytes.
func (h *busyServer) allLeft() bool {
	if h.stdio != nil || h.socket != "" {
		return false
	}
	_, err := io.Copy(io.Discard, h.unread)
	return err == nil
}

// ask sends a call on a connection that can hold little, and returns the answer as
// it comes. With less than a few segments in it, what has left the server would take
// minutes to come in.
func askUnread(s *harness.HTTPServer, arguments string) *http.Response {
	s.T.Helper()
	conn := require.Value(net.Dial(s.Network, s.Addr))(s.T)
	s.T.Cleanup(func() { conn.Close() })
	require.NoError(s.T, conn.(interface{ SetReadBuffer(int) error }).SetReadBuffer(256<<10))
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":%s,%s}}`, arguments, harness.ModernMeta)
	request := s.Request(context.Background(), http.MethodPost, "/mcp", body, "MCP-Protocol-Version", "2026-07-28",
		"Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli")
	require.NoError(s.T, request.Write(conn))
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	require.Equal(s.T, err, nil, "%+v", response)
	require.Equal(s.T, response.StatusCode, http.StatusOK, "%+v", response)
	require.That(s.T, response.ContentLength >= 3<<20, "%+v", response)
	return response
}
