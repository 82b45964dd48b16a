package rig

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

// Patience bounds how long a test waits for something that must happen.
const Patience = 20 * time.Second

// HangingClient writes a client that answers the version, and otherwise notes
// its process id and hangs. It returns the client and the file of the id.
func HangingClient(t *testing.T) (client, pidFile string) {
	t.Helper()
	folder := t.TempDir()
	client, pidFile = filepath.Join(folder, "obsidian"), filepath.Join(folder, "pid")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = version ]; then echo '1.12.7 (installer 1.12.7)'; exit; fi\necho $$ >'%s.new' && mv '%s.new' '%s'\nexec sleep 600\n", pidFile, pidFile, pidFile)
	if err := os.WriteFile(client, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return client, pidFile
}

// WaitFor polls until done says so, with a limit.
func WaitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, Patience)
		}
	}
}

// WaitForChild returns the process id of the hanging client once it runs.
func WaitForChild(t *testing.T, pidFile string) int {
	t.Helper()
	pid := 0
	WaitFor(t, "the client starts", func() bool {
		content, err := os.ReadFile(pidFile)
		if err == nil {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(content)))
		}
		return pid > 0
	})
	return pid
}

// Gone reports whether a process has ended. One that ended and was not waited
// for by anybody counts as gone.
func Gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// StdioServer is a server with one call under way on a hanging client.
type StdioServer struct {
	Process *exec.Cmd
	In      io.WriteCloser
	Out     *bufio.Reader
	Stdout  io.Closer
	child   int
}

func ServeHanging(t *testing.T, flags ...string) *StdioServer {
	t.Helper()
	client, pidFile := HangingClient(t)
	s := startServer(t, append([]string{"--cli=" + client}, flags...)...)
	s.Send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.Read(t)
	s.Send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"random:read"}}}`)
	s.child = WaitForChild(t, pidFile)
	return s
}

// startServer starts a server with a home of its own.
func startServer(t *testing.T, flags ...string) *StdioServer {
	t.Helper()
	return StartServerIn(t, t.TempDir(), flags...)
}

func StartServerIn(t *testing.T, home string, flags ...string) *StdioServer {
	t.Helper()
	s := &StdioServer{Process: exec.Command(Binary, append([]string{"serve", "--config=none", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)}
	s.Process.Env = append(os.Environ(), "HOME="+home)
	var err error
	if s.In, err = s.Process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.Process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Out, s.Stdout = bufio.NewReader(out), out
	if err := s.Process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Process.Kill(); s.Process.Wait() })
	return s
}

func (s *StdioServer) Send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.In, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (s *StdioServer) Read(t *testing.T) map[string]any {
	t.Helper()
	line, err := s.Out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var message map[string]any
	if err := json.Unmarshal(line, &message); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return message
}

func (s *StdioServer) ChildEnds(t *testing.T) {
	t.Helper()
	WaitFor(t, "the client ends", func() bool { return Gone(s.child) })
}

func SampleVault(t *testing.T) string {
	t.Helper()
	vault := filepath.Join(t.TempDir(), "Vault")
	for name, text := range map[string]string{"Tides.md": "Two a day.\n", "One/only.md": "\xff\x00", "Long.md": strings.Repeat("line\n", 1<<16)} {
		WriteFile(t, filepath.Join(vault, name), []byte(text))
	}
	return vault
}

// ServeOn starts a server on a vault, with the first answer still to be read.
func ServeOn(t *testing.T, vault string, flags ...string) *StdioServer {
	t.Helper()
	s := startServer(t, append([]string{"--backend=embedded", "--vault=" + vault}, flags...)...)
	s.Send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	return s
}
