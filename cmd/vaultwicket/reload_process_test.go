//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vaultwicket/gateway"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// init makes the test binary the program where it is started with a subcommand,
// so that a test can start a server, and the server the embedded vault CLI.
func init() {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
	}
}

// process is a server as a client starts it.
type process struct {
	t       *testing.T
	command *exec.Cmd
	in      io.Writer
	out     *bufio.Reader
	said    chan string // lines of standard error
}

func serveProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, command: exec.Command(os.Args[0], append([]string{"serve"}, args...)...), said: make(chan string, 100)}
	p.command.Env = []string{"HOME=" + t.TempDir(), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
	in := require.Value(p.command.StdinPipe())(t)
	out := require.Value(p.command.StdoutPipe())(t)
	messages := require.Value(p.command.StderrPipe())(t)
	require.NoError(t, p.command.Start())
	p.in, p.out = in, bufio.NewReader(out)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(messages); lines.Scan(); {
			p.said <- lines.Text()
		}
	}()
	watchdog := time.AfterFunc(time.Minute, func() { p.command.Process.Kill() })
	t.Cleanup(func() {
		defer watchdog.Stop()
		in.Close()
		<-read
		assert.NoError(t, p.command.Wait(), "the server ended")
	})
	p.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	return p
}

func (p *process) ask(message string) json.RawMessage {
	p.t.Helper()
	require.Value(io.WriteString(p.in, message+"\n"))(p.t)
	line := require.Value(p.out.ReadBytes('\n'))(p.t)
	var answer struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	require.NoError(p.t, json.Unmarshal(line, &answer))
	return answer.Result.StructuredContent
}

// call runs a command and returns the code of its failure, "" for none.
func (p *process) call(command, params string) string {
	p.t.Helper()
	var result gateway.Result
	require.NoError(p.t, json.Unmarshal(p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"`+command+`","params":`+params+`}}}`), &result))
	if result.Error == nil {
		return ""
	}
	return result.Error.Code
}

// expect waits for a line of standard error with text in it.
func (p *process) expect(text string) {
	p.t.Helper()
	for deadline := time.After(30 * time.Second); ; {
		select {
		case line := <-p.said:
			if strings.Contains(line, text) {
				return
			}
			p.t.Logf("the server said %q", line)
		case <-deadline:
			p.t.Fatalf("the server does not say %q", text)
		}
	}
}

// TestARunningServerIsTightenedAndNeverLoosened changes the file of a server
// that is at work, with and without a signal.
func TestARunningServerIsTightenedAndNeverLoosened(t *testing.T) {
	vault := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(vault, "Note.md"), []byte("text\n"), 0o600))
	const loose = "tier = \"v1\"\nallow-mutations = true\n"
	file := settingsFileOf(t, loose)
	write := func(content string) { require.NoError(t, os.WriteFile(file, []byte(content), 0o600)) }
	p := serveProcess(t, "--config="+file, "--backend=embedded", "--vault="+vault)
	expect := func(command, params, want string) {
		t.Helper()
		assert.Equal(t, p.call(command, params), want, "%s ends with", command)
	}
	const change = `{"path":"Note.md","content":"more"}`
	expect("append", change, "")

	write("tier = \"v1\"\n")
	require.NoError(t, p.command.Process.Signal(syscall.SIGHUP))
	p.expect("stricter: allow-mutations")
	expect("append", change, "mutations_off")
	expect("read", `{"path":"Note.md"}`, "")

	write(loose)
	require.NoError(t, p.command.Process.Signal(syscall.SIGHUP))
	p.expect("takes effect at the next start: allow-mutations")
	expect("append", change, "mutations_off")

	write("tier = \"v9\"\n")
	require.NoError(t, p.command.Process.Signal(syscall.SIGHUP))
	p.expect("the previous ones stay in effect")
	expect("read", `{"path":"Note.md"}`, "")

	write("tier = \"v0\"\n") // and no signal
	p.expect("stricter: tier")
	expect("read", `{"path":"Note.md"}`, "tier_closed")

	write("enabled = false\n")
	p.expect("stricter: enabled")
	expect("read", `{"path":"Note.md"}`, "paused")
}

// settingsFileOf writes a settings file and returns its name.
func settingsFileOf(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// canary is wherever a caller or a note can put text. No log may contain it.
const canary = "Canary7Heron"

// canaryCalls are calls of every kind with the canary in each place that a caller
// can fill.
var canaryCalls = []string{
	`{"command":"read","params":{"path":"` + canary + `/` + canary + `.md"}}`,
	`{"command":"read","params":{"path":"` + canary + `-gone.md"}}`,
	`{"command":"search","params":{"query":"` + canary + `"}}`,
	`{"command":"search","params":{"query":"/` + canary + `(/"}}`,
	`{"command":"append","params":{"path":"` + canary + `/` + canary + `.md","content":"` + canary + `"},"idempotencyKey":"` + canary + `"}`,
	`{"command":"append","params":{"path":"` + canary + `/` + canary + `.md","content":"` + canary + `"},"expectHash":"` + canary + `"}`,
	`{"command":"append","params":{"path":"` + canary + `/` + canary + `.md","content":"` + canary + `"},"dryRun":true}`,
	`{"command":"delete","params":{"path":"` + canary + `/` + canary + `.md"}}`,
	`{"command":"` + canary + `"}`,
	`{"command":"read","params":{"` + canary + `":"x"}}`,
	`{"command":"read","` + canary + `":1}`,
	`{"command":"eval","params":{"code":"` + canary + `"}}`,
}

// TestNoLogHoldsWhatIsInACall has a server log all it can, and looks for what
// callers and notes said.
func TestNoLogHoldsWhatIsInACall(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		vault := filepath.Join(t.TempDir(), canary+"Vault")
		require.NoError(t, os.MkdirAll(filepath.Join(vault, canary), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(vault, canary, canary+".md"), []byte("# "+canary+"\n"), 0o600))
		file := settingsFileOf(t, "")
		p := serveProcess(t, "--config="+file, "--backend=embedded", "--vault="+vault, "--tier=v3", "--allow-mutations", "--log-level=debug", "--log-format="+format)
		for _, arguments := range canaryCalls {
			p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":` + arguments +
				`,"_meta":{"traceparent":"` + canary + `","tracestate":"` + canary + `"}}}`)
		}
		p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianBatch","arguments":{"operations":[` +
			`{"clientId":"` + canary + `","command":"read","params":{"path":"` + canary + `/` + canary + `.md"}}]}}}`)
		p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + canary + `"}}`)
		p.ask(`{"jsonrpc":"2.0","id":"` + canary + `","method":"` + canary + `"}`)
		p.ask(canary + `{"jsonrpc"`)
		require.NoError(t, p.command.Process.Signal(syscall.SIGHUP)) // what it says to this comes last
		lines, calls := p.until("settings reloaded"), 0
		for _, line := range lines {
			assert.That(t, !strings.Contains(line, canary), "%s: the log contains %q", format, line)
			assert.That(t, format != "json" || json.Valid([]byte(line)), "no JSON: %q", line)
			if strings.Contains(line, `"msg":"call"`) || strings.HasPrefix(line, "vaultwicket: info: call ") {
				calls++
			}
		}
		if calls != len(canaryCalls)-1+2 { // one was no call, and a batch of one operation are two
			t.Errorf("%s: %d lines about calls: %s", format, calls, strings.Join(lines, "\n"))
		}
	}
}

// until returns the lines of standard error up to one with text in it.
func (p *process) until(text string) (lines []string) {
	p.t.Helper()
	for line := range p.said {
		if lines = append(lines, line); strings.Contains(line, text) {
			return lines
		}
	}
	p.t.Fatalf("the server ended and did not say %q", text)
	return nil
}

func TestTheTraceOfACallerIsLogged(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	p := serveProcess(t, "--config=none", "--backend=embedded", "--vault="+t.TempDir(), "--log-level=debug", "--log-format=json")
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"daily:read"},"_meta":{"traceparent":"` + parent + `","tracestate":"a=b"}}}`)
	lines := p.until(`"msg":"call"`)
	var line struct{ Command, Decision, Code, Backend, Surface, Session, Traceparent, Tracestate string }
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &line))
	assert.That(t, line.Session != "", "no session")
	line.Session = ""
	want := (struct{ Command, Decision, Code, Backend, Surface, Session, Traceparent, Tracestate string }{
		"daily:read", "allow", "not_found", "embedded", "mcp", "", parent, "a=b",
	})
	assert.Equal(t, line, want, "logged")
}
