package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// StdioServer is a program with its standard input and output, as a rule a server that
// speaks MCP.
type StdioServer struct {
	T       *testing.T
	Process *exec.Cmd
	In      io.WriteCloser
	Out     *bufio.Reader
	Stdout  io.Closer
	Log     bytes.Buffer // its standard error, to be read when it has ended or failed
	IDs     int          // of the last request
}

// StartStdio starts a program on pipes. It is killed at the end of the test.
func StartStdio(t *testing.T, program *exec.Cmd) *StdioServer {
	t.Helper()
	s := &StdioServer{T: t, Process: program}
	if program.Stderr == nil {
		program.Stderr = &s.Log
	}
	var err error
	s.In, err = program.StdinPipe()
	require.NoError(t, err)
	out := require.Value(program.StdoutPipe())(t)
	s.Out = bufio.NewReader(out)
	s.Stdout = out
	require.NoError(t, program.Start())
	t.Cleanup(func() { program.Process.Kill(); program.Wait() })
	return s
}

// Send sends lines.
func (s *StdioServer) Send(lines ...string) {
	s.T.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(s.In, line+"\n"); err != nil {
			s.T.Fatalf("%v; the log:\n%s", err, s.Log.String())
		}
	}
}

// Line reads the next line, which has to come within [Deadline].
func (s *StdioServer) Line() (line []byte, err error) {
	defer s.watch().Stop()
	return s.Out.ReadBytes('\n')
}

// watch kills the program after [Deadline], so that a lost answer fails the test.
func (s *StdioServer) watch() *time.Timer {
	return time.AfterFunc(Deadline, func() { s.Process.Process.Kill() })
}

// Next decodes the next line into message.
func (s *StdioServer) Next(message any) {
	s.T.Helper()
	line, err := s.Line()
	if err == nil {
		err = json.Unmarshal(line, message)
	}
	if err != nil {
		s.T.Fatalf("%.300q: %v; the log:\n%s", line, err, s.Log.String())
	}
}

// Read returns the next message.
func (s *StdioServer) Read() (message map[string]any) {
	s.T.Helper()
	s.Next(&message)
	return message
}

// End closes the input, reads what still comes and waits for the end.
func (s *StdioServer) End() error {
	defer s.watch().Stop()
	s.In.Close()
	_, _ = io.Copy(io.Discard, s.Out)
	return s.Process.Wait()
}

// Exchange sends a request and returns the line after it.
func (s *StdioServer) Exchange(method string, params any) (answer []byte, err error) {
	s.IDs++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.IDs, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.In.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	return s.Line()
}

// Result calls obsidianCli.
func (s *StdioServer) Result(arguments map[string]any) gateway.Result {
	s.T.Helper()
	result, err := s.Ask(arguments)
	require.That(s.T, err == nil, "%v: %v", arguments, err)
	return result
}

// EverythingEnabled are the flags with which everything is open.
func EverythingEnabled(vault string) []string {
	return []string{"--config=none", "--backend=embedded", "--vault=" + vault, "--tier=v3", "--allow-mutations", "--confirm=never"}
}

// OpenSession starts a server on which everything is open.
func OpenSession(t *testing.T, vault, home string) *StdioServer {
	t.Helper()
	return StartSession(t, home, append(EverythingEnabled(vault), "--max-output=1MiB")...)
}

// StartSession starts a server with flags, and without limits of rates.
func StartSession(t *testing.T, home string, flags ...string) *StdioServer {
	t.Helper()
	return StartSessionWith(t, []string{"HOME=" + home}, flags...)
}

// StartSessionWith is [StartSession] with a whole environment.
func StartSessionWith(t *testing.T, env []string, flags ...string) *StdioServer {
	t.Helper()
	process := serve(flags...)
	process.Env = env
	s := StartStdio(t, process)
	t.Cleanup(func() { s.End() })
	s.Send(Handshake("{}"))
	s.Read()
	return s
}

// serve is the server with flags and without limits of rates.
func serve(flags ...string) *exec.Cmd {
	return exec.Command(Binary, append([]string{"serve", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)
}

// Ask has the tool called. An answer that is an error of JSON-RPC has its code.
func (s *StdioServer) Ask(arguments map[string]any) (said gateway.Result, err error) {
	answer, err := s.Exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments})
	if err != nil {
		return said, err
	}
	var message struct {
		Result struct{ StructuredContent gateway.Result }
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal(answer, &message); err != nil {
		return said, fmt.Errorf("%.300s: %w", answer, err)
	}
	said = message.Result.StructuredContent
	if message.Error != nil {
		said.Error = &failure.Error{Code: fmt.Sprint(message.Error.Code)}
	}
	return said, nil
}
