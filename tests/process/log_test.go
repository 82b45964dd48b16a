//go:build unix

package process

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// logged is a server of which the lines of standard error are read while it runs.
type logged struct {
	*harness.StdioServer
	said chan string
}

func serveLogged(t *testing.T, args ...string) logged {
	t.Helper()
	server := exec.Command(harness.Binary, append([]string{"serve"}, args...)...)
	server.Env = []string{"HOME=" + t.TempDir(), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
	messages := require.Value(server.StderrPipe())(t)
	s := logged{harness.StartStdio(t, server), make(chan string, 1000)}
	go func() {
		for lines := bufio.NewScanner(messages); lines.Scan(); {
			s.said <- lines.Text()
		}
	}()
	t.Cleanup(func() { assert.NoError(t, s.End(), "the server ends") })
	s.Send(harness.Handshake("{}"))
	s.Read()
	return s
}

// until returns the lines up to one with a text.
func (s logged) until(text string) (lines []string) {
	s.T.Helper()
	for deadline := time.After(30 * time.Second); ; {
		select {
		case line := <-s.said:
			if lines = append(lines, line); strings.Contains(line, text) {
				return lines
			}
		case <-deadline:
			s.T.Fatalf("the server does not say %q, but %q", text, lines)
		}
	}
}

func TestARunningServerIsTightenedAndNeverLoosened(t *testing.T) {
	t.Parallel()
	vault, file := t.TempDir(), filepath.Join(t.TempDir(), "config.toml")
	harness.WriteFile(t, filepath.Join(vault, "Note.md"), []byte("text\n"))
	const loose = "tier = \"v1\"\nallow-mutations = true\n"
	require.NoError(t, os.WriteFile(file, []byte(loose), 0o600))
	s := serveLogged(t, "--config="+file, "--backend=embedded", "--vault="+vault)
	read, change := map[string]any{"path": "Note.md"}, map[string]any{"path": "Note.md", "content": "more"}
	for _, step := range []struct {
		content, says string // "" for the settings of the start
		signal        bool
		append, read  string // the codes with which calls end
	}{
		{loose, "", false, "", ""},
		{"tier = \"v1\"\n", "stricter: allow-mutations", true, "mutations_off", ""},
		{loose, "takes effect at the next start: allow-mutations", true, "mutations_off", ""},
		{"tier = \"v9\"\n", "the previous ones stay in effect", true, "mutations_off", ""},
		{"tier = \"v0\"\n", "stricter: tier", false, "tier_closed", "tier_closed"},
		{"enabled = false\n", "stricter: enabled", false, "paused", "paused"},
	} {
		if step.says != "" {
			require.NoError(t, os.WriteFile(file, []byte(step.content), 0o600))
			if step.signal {
				require.NoError(t, s.Process.Process.Signal(syscall.SIGHUP))
			}
			s.until(step.says)
		}
		for command, want := range map[string]string{"append": step.append, "read": step.read} {
			params := map[string]map[string]any{"append": change, "read": read}[command]
			got := harness.CodeOf(s.Result(map[string]any{"command": command, "params": params}))
			assert.Equal(t, got, want, "after %q, %s ends with", step.content, command)
		}
	}
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

func TestNoLogHoldsWhatIsInACall(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		vault := filepath.Join(t.TempDir(), canary+"Vault")
		harness.WriteFile(t, filepath.Join(vault, canary, canary+".md"), []byte("# "+canary+"\n"))
		s := serveLogged(t, "--config=none", "--backend=embedded", "--vault="+vault, "--tier=v3", "--allow-mutations",
			"--log-level=debug", "--log-format="+format)
		ask := func(message string) {
			s.Send(message)
			s.Read()
		}
		for _, arguments := range canaryCalls {
			ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":` + arguments +
				`,"_meta":{"traceparent":"` + canary + `","tracestate":"` + canary + `"}}}`)
		}
		ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianBatch","arguments":{"operations":[` +
			`{"clientId":"` + canary + `","command":"read","params":{"path":"` + canary + `/` + canary + `.md"}}]}}}`)
		ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + canary + `"}}`)
		ask(`{"jsonrpc":"2.0","id":"` + canary + `","method":"` + canary + `"}`)
		ask(canary + `{"jsonrpc"`)
		require.NoError(t, s.Process.Process.Signal(syscall.SIGHUP)) // what it says to this comes last
		lines, calls := s.until("settings reloaded"), 0
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

func TestTheTraceOfACallerIsLogged(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	s := serveLogged(t, "--config=none", "--backend=embedded", "--vault="+t.TempDir(), "--log-level=debug", "--log-format=json")
	s.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"daily:read"},"_meta":{"traceparent":"` +
		parent + `","tracestate":"a=b"}}}`)
	lines := s.until(`"msg":"call"`)
	var line struct{ Command, Decision, Code, Backend, Surface, Session, Traceparent, Tracestate string }
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &line))
	assert.That(t, line.Session != "", "no session")
	line.Session = ""
	want := (struct{ Command, Decision, Code, Backend, Surface, Session, Traceparent, Tracestate string }{
		"daily:read", "allow", "not_found", "embedded", "mcp", "", parent, "a=b",
	})
	assert.Equal(t, line, want, "logged")
}
