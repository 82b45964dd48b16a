package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// session is one MCP session with a server that runs as a child.
type session struct {
	b       *testing.B
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	id      int
}

func start(b *testing.B, path string, args ...string) *session {
	b.Helper()
	process := exec.Command(path, args...)
	process.Stderr = os.Stderr
	in := require.Value(process.StdinPipe())(b)
	out := require.Value(process.StdoutPipe())(b)
	require.NoError(b, process.Start())
	s := &session{b: b, process: process, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	b.Cleanup(s.stop)
	return s
}

func serve(b *testing.B, flags ...string) *session {
	b.Helper()
	s := start(b, program(b, "vaultwicket"), append([]string{"serve", "--config=none", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)
	s.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"}})
	return s
}

// ask sends one request and returns the line of its answer.
func (s *session) ask(method string, params any) []byte {
	s.send(method, params)
	return s.read()
}

func (s *session) send(method string, params any) {
	s.id++
	line := require.Value(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params}))(s.b)
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		s.b.Fatal(err)
	}
}

func (s *session) read() []byte {
	line := require.Value(s.out.ReadBytes('\n'))(s.b)
	return line
}

// call runs one command and fails when it does not succeed.
func (s *session) call(command string) []byte {
	return s.succeed("obsidianCli", map[string]any{"command": command})
}

// succeed calls a tool and fails when it does not succeed.
func (s *session) succeed(tool string, arguments map[string]any) []byte {
	answer := s.ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
	require.That(s.b, bytes.Contains(answer, []byte(`"ok":true`)), "%s answered %.400s", tool, answer)
	return answer
}

// readTides are the arguments that read the note of a small vault.
var readTides = map[string]any{"command": "read", "params": map[string]any{"path": "Tides.md"}}

// readOfClient are the arguments that read the note that the stand-in for the official CLI has.
var readOfClient = map[string]any{"command": "read", "params": map[string]any{"path": "Ideas/Tides.md"}}

// readByClient makes this call, and fails unless the official CLI has answered it.
func (s *session) readByClient() []byte {
	answer := s.succeed("obsidianCli", readOfClient)
	require.That(s.b, bytes.Contains(answer, []byte(`"backend":"obsidian"`)), "not answered by the client: %.400s", answer)
	return answer
}

func callParams(command string) map[string]any {
	return map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": command}}
}

func (s *session) stop() {
	s.in.Close()
	io.Copy(io.Discard, s.out)
	s.process.Wait()
}

// until reads until the answer to a request comes, and reports whether the answer to
// another request was passed on the way.
func (s *session) until(id, other int) (passed bool) {
	for {
		var answer struct {
			ID int `json:"id"`
		}
		require.NoError(s.b, json.Unmarshal(s.read(), &answer))
		if answer.ID == id {
			return passed
		}
		passed = passed || answer.ID == other
	}
}

// mebibytes returns a line of the status of the server in MiB.
func (s *session) mebibytes(line string) float64 {
	return float64(memory(s.process.Process.Pid, line)) / 1024
}
