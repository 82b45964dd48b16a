//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

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
	if want := (struct{ Command, Decision, Code, Backend, Surface, Session, Traceparent, Tracestate string }{
		"daily:read", "allow", "not_found", "embedded", "mcp", "", parent, "a=b",
	}); line != want {
		t.Errorf("logged %+v, want %+v", line, want)
	}
}
