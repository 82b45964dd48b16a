package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds how long a test waits for something that must happen.
const patience = 20 * time.Second

// hangingClient writes a client that answers the version, and otherwise notes
// its process id and hangs. It returns the client and the file of the id.
func hangingClient(t *testing.T) (client, pidFile string) {
	t.Helper()
	folder := t.TempDir()
	client, pidFile = filepath.Join(folder, "obsidian"), filepath.Join(folder, "pid")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = version ]; then echo '1.12.7 (installer 1.12.7)'; exit; fi\necho $$ >'%s.new' && mv '%s.new' '%s'\nexec sleep 600\n", pidFile, pidFile, pidFile)
	if err := os.WriteFile(client, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return client, pidFile
}

// waitFor polls until done says so, with a limit.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// waitForChild returns the process id of the hanging client once it runs.
func waitForChild(t *testing.T, pidFile string) int {
	t.Helper()
	pid := 0
	waitFor(t, "the client starts", func() bool {
		content, err := os.ReadFile(pidFile)
		if err == nil {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(content)))
		}
		return pid > 0
	})
	return pid
}

// gone reports whether a process has ended. One that ended and was not waited
// for by anybody counts as gone.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// liveServer is a server with one call under way on a hanging client.
type liveServer struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stdout  io.Closer
	child   int
}

func serveHanging(t *testing.T, flags ...string) *liveServer {
	t.Helper()
	client, pidFile := hangingClient(t)
	s := startServer(t, append([]string{"--cli=" + client}, flags...)...)
	s.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.read(t)
	s.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"random:read"}}}`)
	s.child = waitForChild(t, pidFile)
	return s
}

// startServer starts a server with a home of its own.
func startServer(t *testing.T, flags ...string) *liveServer {
	t.Helper()
	return startServerIn(t, t.TempDir(), flags...)
}

func startServerIn(t *testing.T, home string, flags ...string) *liveServer {
	t.Helper()
	s := &liveServer{process: exec.Command(binary, append([]string{"serve", "--config=none", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)}
	s.process.Env = append(os.Environ(), "HOME="+home)
	var err error
	if s.in, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out, s.stdout = bufio.NewReader(out), out
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.process.Process.Kill(); s.process.Wait() })
	return s
}

func (s *liveServer) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (s *liveServer) read(t *testing.T) map[string]any {
	t.Helper()
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var message map[string]any
	if err := json.Unmarshal(line, &message); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return message
}

func (s *liveServer) childEnds(t *testing.T) {
	t.Helper()
	waitFor(t, "the client ends", func() bool { return gone(s.child) })
}

func TestTheClientEndsWhenItsCallIsCancelled(t *testing.T) {
	t.Parallel()
	s := serveHanging(t)
	s.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.childEnds(t)
	s.send(t, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := s.read(t); got["id"] != 3.0 {
		t.Errorf("behind a cancelled call came %v, want the answer to the ping alone", got)
	}
}

func TestTheClientEndsWithItsTimeLimit(t *testing.T) {
	t.Parallel()
	s := serveHanging(t, "--timeout=1s")
	result := s.read(t)["result"].(map[string]any)["structuredContent"].(map[string]any)
	if code := result["error"].(map[string]any)["code"]; code != "timeout" {
		t.Errorf("code %v, want timeout", code)
	}
	s.childEnds(t)
}

func TestAnOpenCallIsAnsweredWhenTheInputEnds(t *testing.T) {
	t.Parallel()
	s := serveHanging(t, "--timeout=1s")
	s.in.Close()
	if got := s.read(t); got["id"] != 2.0 {
		t.Errorf("got %v, want the answer to the open call", got)
	}
	if err := s.process.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	s.childEnds(t)
}

func TestTheClientEndsOnSIGTERM(t *testing.T) {
	t.Parallel()
	s := serveHanging(t)
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.childEnds(t)
	io.Copy(io.Discard, s.out)
	if err := s.process.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func TestTheClientEndsWhenTheServerIsKilledOutright(t *testing.T) {
	t.Parallel()
	s := serveHanging(t)
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.childEnds(t)
}

func TestTheServerEndsWhenNobodyReadsItsAnswers(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(binary, "serve", "--config=none", "--backend=embedded", "--vault="+t.TempDir())
	server.Stdout = writer
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	reader.Close()
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		server.Process.Kill()
		t.Fatal("the server goes on without anybody to answer")
	}
}

func TestCtrlCEndsARunWithItsOwnStatus(t *testing.T) {
	t.Parallel()
	client, pidFile := hangingClient(t)
	run := exec.Command(binary, "run", "--config=none", "--cli="+client, "random:read")
	var log bytes.Buffer
	run.Stderr = &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	child := waitForChild(t, pidFile)
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := run.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 || !strings.Contains(log.String(), "cancelled") {
		t.Errorf("ended with %v and %q, want status 5 and the word cancelled", err, log.String())
	}
	waitFor(t, "the client ends", func() bool { return gone(child) })
}
