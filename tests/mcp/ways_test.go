package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The two ways of a call through a server. An unknown parameter makes a call go
// through the MCP library, which ignores it; without it, the transport hands the call to its
// handler.
const (
	direct      = ""
	withLibrary = `,"unknown":0`
)

// TestBothWaysOfACallAgree sends the same calls on both ways, each to a server on a vault of
// its own, and compares all that is answered, asked and logged, byte for byte. Only what no
// two runs have in common is replaced.
func TestBothWaysOfACallAgree(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(t *testing.T, more string) []string{"stdio": playCalls, "http": playCallsOverHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := play(t, direct), play(t, withLibrary)
			require.That(t, len(one) == len(other), "%d lines on one way, %d on the other", len(one), len(other))
			assert.That(t, strings.Contains(strings.Join(one, ""), "elicitation/create"), "nothing was asked")
			for i := range one {
				if one[i] != other[i] {
					t.Errorf("directly\n%.2000s\nthrough the library\n%.2000s", one[i], other[i])
				}
			}
		})
	}
}

var wayCalls = []wayCall{
	{"obsidianCli", `{"command":"read","params":{"path":"Notes/Odd.md"}}`},
	{"obsidianCli", `{"command":"read","params":{"path":"Notes/Broken.md"}}`},
	{"obsidianCli", `{"command":"read","params":{"path":"Notes/Long.md"}}`},
	{"obsidianRead", `{"command":"read","params":{"path":"Notes/Long.md"},"limit":20}`},
	{"obsidianCli", `{"command":"files","params":{"format":"json"},"limit":2}`},
	{"obsidianCli", `{"command":"read","params":{"path":"Nowhere <b>.md"}}`},
	{"obsidianCli", `{"command":"read","params":{"path":"Private/secret.md"}}`},
	{"obsidianCli", `{"command":"attachment:read","params":{"path":"pic.png"}}`},
	{"obsidianCli", `{"command":"help","params":{"command":"read"}}`},
	{"obsidianCli", `{"command":"no such"}`},
	{"obsidianCli", `{"command":"read","params":{"path":5}}`},
	{"obsidianCli", `{"command":"read","params":{"path":["a"]}}`},
	{"obsidianCli", `{"command":"read","params":{"path":"a\u0000b.md"}}`},
	{"obsidianCli", `{"command":"read","params":{"path":"\ud800.md"}}`},
	{"obsidianCli", `{"command":"read","params":{"path":1.5e3}}`},
	{"obsidianCli", `{"command":"read","params":{"path":12345678901234567890}}`},
	{"obsidianCli", `{"command":"read","params":{"path":1e999}}`},
	{"obsidianCli", `{"command":"read","params":"{\"path\":\"Notes/Odd.md\"}"}`},
	{"obsidianCli", `{"comand":"read"}`},
	{"obsidianCli", `{}`},
	{"obsidianCli", `null`},
	{"obsidianCli", `[]`},
	{"obsidianCli", `"read"`},
	{"obsidianCli", `7`},
	{"obsidianCli", `{"command":"create","params":{"path":"New.md","content":"<é😀\u2028>\n"},"dryRun":true}`},
	{"obsidianCli", `{"command":"create","params":{"path":"New.md","content":"<é😀\u2028>\n"}}`},
	{"obsidianCli", `{"command":"append","params":{"path":"New.md","content":"more"},"expectHash":"0000000000000000"}`},
	{"obsidianCli", `{"command":"append","params":{"path":"New.md","content":"more"},"idempotencyKey":"k"}`},
	{"obsidianCli", `{"command":"append","params":{"path":"New.md","content":"more"},"idempotencyKey":"k"}`},
	{"obsidianCli", `{"command":"delete","params":{"path":"New.md"}}`},
	{"obsidianRead", `{"command":"append","params":{"path":"New.md","content":"x"}}`},
	{"obsidianBatch",
		`{"operations":[{"clientId":"a","command":"attachment:read","params":{"path":"pic.png"}},{"clientId":"b","command":"attachment:read","params":{"path":{"from":"a","field":"path"}}}]}`},
	{"obsidianBatch",
		`{"operations":[{"clientId":"a","command":"create","params":{"path":"B.md","content":"x"}},{"clientId":"b","command":"delete","params":{"path":"B.md"}}]}`},
	{"obsidianBatch", `{"operations":5}`},
	{"no such tool", `{}`},
}

// playCalls sends all calls to a server of its own, and returns the lines that came of it:
// answers, questions to the user, and the audit log.
func playCalls(t *testing.T, more string) (lines []string) {
	t.Helper()
	home, vault := t.TempDir(), filepath.Join(t.TempDir(), "Vault")
	fillForCalls(t, vault)
	server := exec.Command(harness.Binary, "serve", "--config=none", "--backend=embedded", "--vault="+vault, "--tier=v3", "--allow-mutations", "--toolsets=all",
		"--max-output=8KiB", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0", "--ask=client", "--min-answer-time=0s")
	server.Env = append(os.Environ(), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00", "TZ=UTC", "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home)
	client := harness.StartStdio(t, server)
	receive := func() (line string, m struct{ ID, Method any }) {
		text, err := client.Line()
		require.Equal(t, err, nil, "%q", text)
		require.Equal(t, json.Unmarshal(text, &m), nil, "%q", text)
		return string(text), m
	}
	client.Send(harness.Handshake(`{"elicitation":{}}`))
	receive()
	client.Send(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
	listed, _ := receive()
	for i, call := range callsOfEveryTool(t, listed) {
		client.Send(call.message(i, more))
		for {
			line, m := receive()
			lines = append(lines, call.arguments+"\n"+line)
			if m.Method == nil {
				break
			}
			client.Send(fmt.Sprintf(acceptance, m.ID))
		}
	}
	client.In.Close()
	rest, _ := io.ReadAll(client.Out)
	assert.That(t, len(rest) == 0, "after the last answer came %s", rest)
	assert.NoError(t, client.Process.Wait())
	return withoutChances(append(lines, auditLines(t, home)...), vault)
}

// playCallsOverHTTP is playCalls for a server over HTTP.
func playCallsOverHTTP(t *testing.T, more string) (lines []string) {
	t.Helper()
	home, vault := t.TempDir(), filepath.Join(t.TempDir(), "Vault")
	fillForCalls(t, vault)
	s := harness.ServeHTTPIn(t, home, "--backend=embedded", "--vault="+vault, "--tier=v3", "--allow-mutations",
		"--toolsets=all", "--max-output=8KiB", "--ask=client", "--min-answer-time=0s")
	session := ""
	post := func(body string, each func(message string) bool) {
		t.Helper()
		response := require.Value(s.Client.Do(s.Request(t.Context(), http.MethodPost, "/mcp", body, "Mcp-Session-Id", session)))(t)
		defer response.Body.Close()
		session = cmp.Or(response.Header.Get("Mcp-Session-Id"), session)
		lines = append(lines, fmt.Sprint(response.Status, response.Header.Get("Content-Type")))
		if err := harness.Events(response, each); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	ignore := func(string) bool { return true }
	post(harness.Handshake(`{"elicitation":{}}`), ignore)
	post(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`, func(listed string) bool {
		for i, call := range callsOfEveryTool(t, listed) {
			post(call.message(i, more), func(message string) bool {
				lines = append(lines, call.arguments+"\n"+message)
				var m struct{ ID, Method any }
				assert.NoError(t, json.Unmarshal([]byte(message), &m), "%s", message)
				if m.Method == "elicitation/create" {
					post(fmt.Sprintf(acceptance, m.ID), ignore)
				}
				return true
			})
		}
		return true
	})
	return withoutChances(append(lines, auditLines(t, home)...), vault)
}

// acceptance is the answer of a user who allows what a question is about.
const acceptance = `{"jsonrpc":"2.0","id":%v,"result":{"action":"accept","content":{"allow":true}}}`

// wayCall is a tool with its arguments, as JSON.
type wayCall struct{ tool, arguments string }

// message is the call as the i-th of a session, with more after its arguments.
func (c wayCall) message(i int, more string) string {
	id, meta := fmt.Sprint(i+1), ""
	if i%3 == 1 {
		id, meta = fmt.Sprintf(`"<\u2028é%d>"`, i), `,"_meta":{"progressToken":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s%s}}`, id, c.tool, c.arguments, meta, more)
}

// withoutDraw are arguments of a tool that would draw a note without them.
var withoutDraw = map[string]string{"random_notes": `{"seed":1,"count":2}`}

// callsOfEveryTool are wayCalls, and for every tool in a list a call without arguments
// and two with some.
func callsOfEveryTool(t *testing.T, listed string) []wayCall {
	t.Helper()
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	err := json.Unmarshal([]byte(listed), &list)
	require.Equal(t, err, nil, "%s", listed)
	require.That(t, len(list.Result.Tools) >= 10, "%s", listed)
	calls := slices.Clone(wayCalls)
	for _, tool := range list.Result.Tools {
		for _, arguments := range []string{withoutDraw[tool.Name], `{"path":"Notes/Odd.md"}`, `{"query":"line"}`} {
			calls = append(calls, wayCall{tool.Name, cmp.Or(arguments, `{}`)})
		}
	}
	return calls
}

func fillForCalls(t *testing.T, vault string) {
	t.Helper()
	picture, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"Notes/Odd.md":       "---\ntags: [\"<a>\"]\n---\n# Odd <b>&amp;\u2028 é 日本 😀 \"quoted\\\" \x1b[31m \u202e\n- [ ] a task\n[[Long]]\n",
		"Notes/Broken.md":    "bad \xff\xfe bytes \x00 and \xed\xa0\x80\n",
		"Notes/Long.md":      strings.Repeat("a line of a <long> note & more\n", 3000),
		"2026-11-21.md":      "# Today\n",
		"Private/secret.md":  "secret",
		"pic.png":            string(picture),
		".vaultwicketignore": "Private/\n",
	} {
		file := filepath.Join(vault, filepath.FromSlash(name))
		harness.WriteFile(t, file, []byte(text))
		then := time.Date(2026, 1, 1+len(name), 0, 0, 0, 0, time.UTC)
		require.That(t, os.Chtimes(file, then, then) == nil, "%s has no time", file)
	}
}

// auditLines are the lines of all audit logs below a folder.
func auditLines(t *testing.T, folder string) (lines []string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(folder, "vaultwicket", "audit*", "*.jsonl"))
	require.NoError(t, err)
	for _, log := range logs {
		text := require.Value(os.ReadFile(log))(t)
		lines = append(lines, slices.Collect(strings.Lines(string(text)))...)
	}
	require.That(t, len(lines) >= len(wayCalls), "%d lines in %v", len(lines), logs)
	return lines
}

// chance is what differs from run to run: times, drawn ids and what is computed from them.
var chance = regexp.MustCompile(`(\\?"(?:durationMs|cursor|time|prev|session|call|digest|question|note)\\?":)(?:\d+|\\?"[^"]*")`)

// elapsedMs is left out of the log where it is 0.
var elapsedMs = regexp.MustCompile(`,"durationMs":\d+`)

var changeID = regexp.MustCompile(`\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{4}`)

func withoutChances(lines []string, vault string) []string {
	for i := range lines {
		lines[i] = withoutChance(lines[i], vault)
	}
	return lines
}

// questionLink is the address of a question, on a port that was free.
var questionLink = regexp.MustCompile(`(http://127\.0\.0\.1:)\d+/question/[A-Z0-9]+`)

// waitsFor is the name of an approval, which depends on the folder of the vault, and when it expires.
var waitsFor = regexp.MustCompile(`(\\?"approval\\?":\{\\?"id\\?":\\?"|\\?"expires\\?":\\?")[0-9a-fTZ:-]+`)

func withoutChance(line, vault string) string {
	line = waitsFor.ReplaceAllString(line, "$1-")
	line = questionLink.ReplaceAllString(line, "$1-")
	if strings.HasPrefix(line, `{"seq"`) {
		line = elapsedMs.ReplaceAllString(line, "")
	}
	line = chance.ReplaceAllString(changeID.ReplaceAllString(line, "$$CHANGE"), "$1-")
	return strings.ReplaceAll(strings.ReplaceAll(line, vault, "$VAULT"), harness.Binary, "$VAULTWICKET")
}
