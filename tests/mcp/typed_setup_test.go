package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// typedServer is a server with every toolset, in this process, on a true vault.
type typedServer struct {
	*fake.Client
	t     *testing.T
	vault string
	ids   int
	asked int // questions that came, and were answered with a yes
}

// notesTyped are in the vault of every typedServer. Today is 2026-11-21.
var notesTyped = map[string]string{
	"2026-11-21.md": "# Today\n- [ ] water\n", "2026-11-20.md": "# Before\n",
	"Inbox/Plan.md": "# Plan\nmilk\n- [ ] buy it\n- [x] eat it\n\n## Log\nfirst ^one\n\n## End\n",
	"Inbox/Long.md": strings.Repeat("a line of a long note\n", 400),
	"Books.base":    "views:\n  - type: table\n    name: All\n",
	"Other.md":      "see [[Plan]] about milk\n",
}

func newTypedServer(t *testing.T, p policy.Policy, marks bool) *typedServer {
	t.Helper()
	t.Setenv("VAULTWICKET_NOW", "2026-11-21T09:30:00+01:00")
	s := &typedServer{t: t, vault: filepath.Join(t.TempDir(), "Notes")}
	state := t.TempDir()
	s.fill()
	p.UI, p.MinVersion = true, tiers.DefaultMinimum
	p.Asking, p.MinAnswer = policy.AskClient, time.Nanosecond
	runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: harness.Binary, Resident: true})
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	gw := gateway.New(gateway.Config{Policy: p, Vault: gateway.Vault{Folder: s.vault}, Runner: runner,
		Backend: gateway.Embedded, Session: "typed", Getenv: getenv,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(runner.Close)
	s.Client = fake.Connect(t, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return mcpserver.ServeStdio(ctx, mcpserver.Config{
			Gateway: gw, Version: "1", Toolsets: []string{"all"}, MaxOutput: 4 << 10, MarkUntrusted: marks,
			Grace: harness.Deadline, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}, in, out)
	})
	// A client that shows many lines.
	s.Send(strings.Replace(harness.Handshake(`{"elicitation":{}}`), `"name":"t"`, `"name":"codex-mcp-client"`, 1))
	s.next()
	s.Send(fake.Initialized)
	return s
}

// fill makes the vault what it was in the beginning.
func (s *typedServer) fill() {
	s.t.Helper()
	entries, _ := os.ReadDir(s.vault)
	for _, entry := range entries {
		require.NoError(s.t, os.RemoveAll(filepath.Join(s.vault, entry.Name())))
	}
	for name, text := range notesTyped {
		full := filepath.Join(s.vault, filepath.FromSlash(name))
		harness.WriteFile(s.t, full, []byte(text))
		require.NoError(s.t, os.Chtimes(full, time.Time{}, time.Date(2026, 11, 1, 12, 0, len(name), 0, time.UTC)))
	}
}

// message is a message of the server, as far as these tests look at it.
type message struct {
	fake.Message
	Result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
		ResultType        string
		RequestState      string
		Tools             []struct {
			Name         string
			OutputSchema json.RawMessage
		}
	}
}

func (s *typedServer) next() (m message) {
	s.t.Helper()
	m.Message = s.Next()
	if m.Message.Result != nil {
		require.NoError(s.t, json.Unmarshal(m.Message.Result, &m.Result))
	}
	return m
}

// call calls a tool, saying yes to what is asked.
func (s *typedServer) call(tool, arguments string) message {
	s.t.Helper()
	s.ids++
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, s.ids, tool, arguments))
	m := s.next()
	for m.Method == "elicitation/create" {
		s.asked++
		s.Send(fmt.Sprintf(acceptance, m.ID))
		m = s.next()
	}
	if m.Error != nil || len(m.Result.Content) != 1 || !sameJSON(m.Result.Content[0].Text, string(m.Result.StructuredContent)) {
		s.t.Fatalf("%s %s: %+v", tool, arguments, m)
	}
	return m
}

func sameJSON(a, b string) bool {
	var left, right any
	return json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
}

// notes is what is in the vault.
func (s *typedServer) notes() string {
	s.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(s.vault, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %q\n", path, text)
		return err
	})
	require.NoError(s.t, err)
	return all.String()
}

func resultOf(t *testing.T, m message) (r gateway.Result) {
	t.Helper()
	require.NoError(t, json.Unmarshal(m.Result.StructuredContent, &r))
	return r
}

func (s *typedServer) schemas() map[string]*jsonschema.Schema {
	s.t.Helper()
	s.ids++
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, s.ids))
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range s.next().Result.Tools {
		published := require.Value(jsonschema.CompileString("schema.json", string(tool.OutputSchema)))(s.t)
		schemas[tool.Name] = published
	}
	require.That(s.t, len(schemas) == 12, "there are %d tools", len(schemas))
	return schemas
}

func (s *typedServer) fits(published *jsonschema.Schema, m message) {
	s.t.Helper()
	var content map[string]any
	require.NoError(s.t, json.Unmarshal(m.Result.StructuredContent, &content))
	if err := published.Validate(content); err != nil {
		s.t.Errorf("%s does not fit: %v", m.Result.StructuredContent, err)
	}
	if content["ok"] == m.Result.IsError {
		s.t.Errorf("ok is %v with isError %v", content["ok"], m.Result.IsError)
	}
}
