package rig

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// ToolResult is what a door says of a call.
type ToolResult struct {
	OK     bool
	Stdout string
	Hash   string
	Error  struct{ Code, Message string }

	Notices   []string
	Change    *struct{ ID, Before, After string }
	Truncated *struct{ TotalBytes int64 }
}

// EverythingEnabled are the flags with which everything is open.
func EverythingEnabled(vault string) []string {
	return []string{"--config=none", "--backend=embedded", "--vault=" + vault, "--tier=v3", "--allow-mutations", "--confirm=never"}
}

// Session is a session with a server that runs as a child.
type Session struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

// OpenSession starts a server on which everything is open.
func OpenSession(t *testing.T, vault, home string) *Session {
	t.Helper()
	return StartSession(t, home, append(EverythingEnabled(vault), "--max-output=1MiB")...)
}

// StartSession starts a server with flags, and without limits of rates.
func StartSession(t *testing.T, home string, flags ...string) *Session {
	t.Helper()
	return StartSessionWith(t, []string{"HOME=" + home}, flags...)
}

// StartSessionWith is [StartSession] with a whole environment.
func StartSessionWith(t *testing.T, env []string, flags ...string) *Session {
	t.Helper()
	process := exec.Command(Binary, append([]string{"serve", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)
	process.Env = env
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); io.Copy(io.Discard, out); process.Wait() })
	s := &Session{in: in, out: bufio.NewReader(out)}
	if _, err := s.Exchange("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "t", "version": "1"}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Ask has the tool called. A message that is sent back as a whole has the code of
// JSON-RPC.
func (s *Session) Ask(arguments map[string]any) (said ToolResult, err error) {
	answer, err := s.Exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments})
	if err != nil {
		return ToolResult{}, err
	}
	var message struct {
		Result struct{ StructuredContent ToolResult }
		Error  struct{ Code int }
	}
	if err := json.Unmarshal(answer, &message); err != nil {
		return ToolResult{}, fmt.Errorf("%.300s: %w", answer, err)
	}
	said = message.Result.StructuredContent
	if message.Error.Code != 0 {
		said.Error.Code = fmt.Sprint(message.Error.Code)
	}
	return said, nil
}

func (s *Session) Exchange(method string, params any) (answer []byte, err error) {
	s.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	return s.out.ReadBytes('\n')
}
