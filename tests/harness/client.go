package harness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Answers to a form.
const (
	Accept  = `{"action":"accept","content":{"allow":true}}`
	Decline = `{"action":"decline"}`
)

// Client is a way by which calls come. ask sends a request of the protocol and
// returns its answer; asking is what is answered to a form, "" if there are none.
type Client struct {
	Program *Program
	Name    string
	Ask     func(method string, params map[string]any) Answer
	Process *os.Process // of the server
	answer  string      // to a form
	Forms   []string    // that were shown
}

const statelessMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// Stdio starts a server on a pipe. modern is the protocol without a session.
// A client that has an answer can be asked.
func (r *Program) Stdio(modern bool, answer string) *Client {
	r.T.Helper()
	e := &Client{Program: r, Name: "stdio", answer: answer}
	s := StartStdio(r.T, r.command(append([]string{"serve"}, r.Flags...)...))
	e.Process = s.Process.Process
	r.T.Cleanup(func() { s.End() })
	if modern {
		e.Name = "stdio without a session"
	} else {
		capabilities := "{}"
		if answer != "" {
			capabilities = `{"elicitation":{}}`
		}
		s.Send(strings.Replace(Handshake(capabilities), `"name":"t"`, `"name":`+JSON(r.T, cmp.Or(r.Client, "t")), 1))
		s.Read()
		s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	e.Ask = func(method string, params map[string]any) Answer {
		r.T.Helper()
		if modern {
			params["_meta"] = json.RawMessage(statelessMeta)
		}
		s.IDs++
		s.Send(JSON(r.T, map[string]any{"jsonrpc": "2.0", "id": s.IDs, "method": method, "params": params}))
		for {
			var m struct {
				Answer
				Method string
				Params struct{ Message string }
			}
			s.Next(&m)
			switch {
			case m.Method == "elicitation/create":
				e.Forms = append(e.Forms, m.Params.Message)
				s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, e.answer))
			case m.Method == "":
				return m.Answer
			}
		}
	}
	return e
}

// OverHTTP starts a server over HTTP and returns where it is.
func (r *Program) OverHTTP() *HTTPServer {
	r.T.Helper()
	s := &HTTPServer{ended: make(chan error, 1)}
	s.Process = r.command(append([]string{"serve", "--http=127.0.0.1:0"}, r.Flags...)...)
	s.start(r.T)
	return s
}

// Session opens a session of a server over HTTP, with another token if one is given.
func (r *Program) Session(s *HTTPServer, token ...string) *Client {
	r.T.Helper()
	a, err := s.As(cmp.Or(append(token, Token)...)).Connect(r.T.Context())
	if err != nil {
		r.T.Fatalf("%v; the log:\n%s", err, s.Said())
	}
	return &Client{Program: r, Name: "session over HTTP", Process: s.Process.Process, Ask: func(method string, params map[string]any) Answer {
		r.T.Helper()
		answer, err := a.Ask(r.T.Context(), method, params)
		if err != nil {
			r.T.Fatalf("%v; the log:\n%s", err, s.Said())
		}
		return answer
	}}
}

// Stateless is a caller of a server over HTTP that has no session.
func (r *Program) Stateless(s *HTTPServer) *Client {
	return &Client{Program: r, Name: "HTTP without a session", Process: s.Process.Process, Ask: func(method string, params map[string]any) Answer {
		r.T.Helper()
		name, _ := params["name"].(string)
		if uri, ok := params["uri"].(string); ok {
			name = uri
		}
		params["_meta"] = json.RawMessage(statelessMeta)
		body := JSON(r.T, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		response, err := s.Send(r.T.Context(), http.MethodPost, body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
		require.NoError(r.T, err)
		var answer Answer
		text := response.Body
		for line := range strings.Lines(response.Body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				text = data
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			r.T.Fatalf("status %d: %s: %v", response.Status, response.Body, err)
		}
		return answer
	}}
}

// Tool calls a tool and decodes its structured answer into result.
func (e *Client) Tool(name string, arguments, result any) {
	e.Program.T.Helper()
	answer := e.Ask("tools/call", map[string]any{"name": name, "arguments": arguments})
	require.That(e.Program.T, answer.Error == nil, "%s: %s %v: %+v", e.Name, name, arguments, answer.Error)
	if err := json.Unmarshal(answer.Result.StructuredContent, result); err != nil {
		e.Program.T.Fatalf("%s: %s: %v", e.Name, answer.Result.StructuredContent, err)
	}
}

// Do calls obsidianCli.
func (e *Client) Do(c Call) (result gateway.Result) {
	e.Program.T.Helper()
	e.Tool("obsidianCli", c, &result)
	return result
}

// Plan is the dry run of a call.
func (e *Client) Plan(c Call) (plan gateway.DryRun) {
	e.Program.T.Helper()
	e.Tool("obsidianCli", c.With("dryRun", true), &plan)
	return plan
}

// Batch makes one batch of calls.
func (e *Client) Batch(calls ...Call) (result gateway.BatchResult) {
	e.Program.T.Helper()
	e.Tool("obsidianBatch", BatchOf(calls...), &result)
	return result
}

// BatchOf are the arguments of a batch of calls. Arguments that a call has in addition to its command
// and parameters are those of the batch.
func BatchOf(calls ...Call) map[string]any {
	batch := map[string]any{}
	var operations []Call
	for i, c := range calls {
		operation := c.With("clientId", fmt.Sprintf("c%d", i))
		if key, keyed := c["idempotencyKey"]; keyed {
			batch["idempotencyKey"] = key
			delete(operation, "idempotencyKey")
		}
		operations = append(operations, operation)
	}
	batch["operations"] = operations
	return batch
}
