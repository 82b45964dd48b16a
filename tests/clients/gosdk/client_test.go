// Package gosdk has the official Go SDK be the client of a built vaultwicket. It
// is a module of its own, so that the SDK stays out of the main one.
package gosdk

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long a whole session may take.
const patience = 30 * time.Second

// person answers what the client is asked, with one answer after the other.
type person struct {
	mu      sync.Mutex
	answers []*mcp.ElicitResult
	asked   []string
}

func (p *person) answer(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, req.Params.Message)
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, nil
}

var (
	accept  = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}
	refuse  = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": false}}
	decline = &mcp.ElicitResult{Action: "decline"}
	cancel  = &mcp.ElicitResult{Action: "cancel"}
)

// connect starts the server that VAULTWICKET names on a vault with one note. With
// nobody in front of it the client does not claim that it can ask.
func connect(t *testing.T, version string, p *person) (session *mcp.ClientSession, note string) {
	t.Helper()
	binary := os.Getenv("VAULTWICKET")
	if binary == "" {
		t.Skip("VAULTWICKET does not name a built vaultwicket")
	}
	vault := filepath.Join(t.TempDir(), "Notes")
	note = filepath.Join(vault, "Note.md")
	if err := os.MkdirAll(vault, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(binary, "serve", "--config=none", "--backend=embedded", "--vault="+vault, "--tier=v1", "--allow-mutations", "--confirm=writes")
	home := t.TempDir()
	server.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home)
	server.Stderr = t.Output()
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if p != nil {
		options.ElicitationHandler = p.answer
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, options)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	if spoken := session.InitializeResult().ProtocolVersion; spoken != version {
		t.Fatalf("they speak %s, want %s", spoken, version)
	}
	return session, note
}

// result is what an answer of the tool says, as far as it matters here.
type result struct {
	OK    bool
	Hash  string
	Error struct{ Code, Hint string }
}

func call(t *testing.T, session *mcp.ClientSession, command string, params map[string]any) (r result) {
	t.Helper()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "obsidianCli", Arguments: map[string]any{"command": command, "params": params}})
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(got.StructuredContent)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil || got.IsError == r.OK {
		t.Fatalf("%s: %v, isError %v", content, err, got.IsError)
	}
	return r
}

func text(t *testing.T, note string) string {
	t.Helper()
	content, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var addition = map[string]any{"path": "Note.md", "content": "two"}

func TestConsent(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			p := &person{answers: []*mcp.ElicitResult{decline, cancel, refuse, accept}}
			session, note := connect(t, version, p)
			if got := call(t, session, "read", map[string]any{"path": "Note.md"}); !got.OK || len(p.asked) > 0 {
				t.Errorf("a read: %+v, asked %q", got, p.asked)
			}
			for i, answer := range p.answers[:3] {
				got := call(t, session, "append", addition)
				if got.OK || got.Error.Code != "unconfirmed" || text(t, note) != "one\n" || len(p.asked) != i+1 {
					t.Errorf("%s %v: %+v, the note is %q, asked %q", answer.Action, answer.Content, got, text(t, note), p.asked)
				}
			}
			got := call(t, session, "append", addition)
			if !got.OK || text(t, note) != "one\ntwo" || len(p.asked) != 4 || len(got.Hash) != 16 {
				t.Errorf("accepted: %+v, the note is %q", got, text(t, note))
			}
			if want := "Allow \"append\" in the vault \"Notes\"?\nIt changes notes.\nchanges: \"Note.md\"\n"; !strings.HasPrefix(p.asked[0], want) || !strings.Contains(p.asked[0], "\n│ +two") {
				t.Errorf("asked %q", p.asked[0])
			}
		})
	}
}

func TestAClientWithoutForms(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		session, note := connect(t, version, nil)
		got := call(t, session, "append", addition)
		if got.OK || got.Error.Code != "unconfirmed" || !strings.Contains(got.Error.Hint, "vaultwicket approve ") || text(t, note) != "one\n" {
			t.Errorf("%s: %+v, the note is %q", version, got, text(t, note))
		}
	}
}
