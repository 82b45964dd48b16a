package gosdk

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
	if len(p.answers) == 0 {
		return decline, nil
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, nil
}

var (
	accept  = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}
	blank   = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": false}}
	decline = &mcp.ElicitResult{Action: "decline"}
	cancel  = &mcp.ElicitResult{Action: "cancel"}
)

// result is what an answer of a tool says, as far as it matters here.
type result struct {
	OK        bool
	Stdout    string
	Hash      string
	Truncated struct{ Cursor string }
	Error     struct{ Code, Hint string }
}

func call(t *testing.T, session *mcp.ClientSession, command string, params map[string]any) result {
	t.Helper()
	return use(t, session, "obsidianCli", map[string]any{"command": command, "params": params})
}

// use calls a tool. Its text and its structured content must say the same.
func use(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (r result) {
	t.Helper()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	noError(t, err)
	content, err := json.Marshal(got.StructuredContent)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil || got.IsError == r.OK {
		t.Fatalf("%s: %v, isError %v", content, err, got.IsError)
	}
	var said any
	if text, ok := got.Content[0].(*mcp.TextContent); !ok || json.Unmarshal([]byte(text.Text), &said) != nil ||
		!reflect.DeepEqual(said, got.StructuredContent) {
		t.Errorf("the text says %v, the structured content %s", got.Content, content)
	}
	return r
}

func (s server) note(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.vault, "Note.md"))
	noError(t, err)
	return string(content)
}

var (
	addition   = map[string]any{"path": "Note.md", "content": "two"}
	consenting = []string{"--tier=v1", "--allow-mutations", "--confirm=writes", "--ask=client", "--min-answer-time=0s"}
)

func TestConsent(t *testing.T) {
	everywhere(t, consenting, func(t *testing.T, s server, version string) {
		p := &person{answers: []*mcp.ElicitResult{decline, blank, cancel, accept}}
		session := s.connect(t, version, &mcp.ClientOptions{ElicitationHandler: p.answer})
		if got := call(t, session, "read", map[string]any{"path": "Note.md"}); !got.OK || len(p.asked) > 0 {
			t.Errorf("a read: %+v, asked %q", got, p.asked)
		}
		// What was declined is not asked about again; a form that was dismissed, or came
		// back without its mark, is no answer.
		for i, c := range []struct {
			answer *mcp.ElicitResult
			asked  []int // after each of the same calls
		}{{decline, []int{1, 1}}, {blank, []int{2}}, {cancel, []int{3}}} {
			unwanted := map[string]any{"path": "Note.md", "content": strings.Repeat("no", i+1)}
			for _, want := range c.asked {
				got := call(t, session, "append", unwanted)
				if got.OK || got.Error.Code != "unconfirmed" || s.note(t) != "one\n" || len(p.asked) != want {
					t.Errorf("%s %v: %+v, the note is %q, asked %q", c.answer.Action, c.answer.Content, got, s.note(t), p.asked)
				}
			}
		}
		got := call(t, session, "append", addition)
		if !got.OK || s.note(t) != "one\ntwo" || len(p.asked) != 4 || len(got.Hash) != 16 {
			t.Errorf("accepted: %+v, the note is %q", got, s.note(t))
		}
		if want := "Change \"Note.md\" (vault \"Notes\"): +1 line\nAsked by a client that calls itself "; !strings.HasPrefix(p.asked[3],
			want) || !strings.Contains(p.asked[3], "\n│ +two") {
			t.Errorf("asked %q", p.asked[3])
		}
	})
}

func TestAClientWithoutForms(t *testing.T) {
	everywhere(t, consenting, func(t *testing.T, s server, version string) {
		session := s.connect(t, version, nil)
		got := call(t, session, "append", addition)
		if got.OK || got.Error.Code != "unconfirmed" || !strings.Contains(got.Error.Hint, "vaultwicket approvals") || s.note(t) != "one\n" {
			t.Errorf("%+v, the note is %q", got, s.note(t))
		}
	})
}
