package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// serveCrowd serves a crowd over HTTP in this process until stop is called, which
// waits for the end.
func serveCrowd(t *testing.T, c *crowd, address transport.HTTPConfig) (s *harness.Endpoint, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	address.Addr, address.Token = "127.0.0.1:0", harness.Token
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- mcpserver.ServeHTTP(ctx, c.config, address, func(url string) { urls <- url }) }()
	select {
	case url := <-urls:
		s = harness.NewEndpoint(t, url)
	case err := <-ended:
		t.Fatal(err)
	}
	return s, sync.OnceFunc(func() {
		s.Client.CloseIdleConnections()
		cancel()
		err := <-ended
		assert.That(t, err == nil || errors.Is(err, context.Canceled), "the server ended with %v", err)
	})
}

// TestManyClientsOverHTTP has very many agents do everything at once. The ids of
// their requests are the same, and whatever they get has to be their own.
func TestManyClientsOverHTTP(t *testing.T) {
	clients, times := testenv.Count(40, 100), testenv.Count(8, 26)
	check := afterwards(t)
	c := gather(t, clients)
	s, stop := serveCrowd(t, c, transport.HTTPConfig{MaxConnections: 3 * clients})
	defer stop()
	all := map[string]func(*client) error{
		"break": breakOff, "cancel": cancelOwn, "end": endSession, "foreign": takeForeign, "stateless": readStateless, "noise": makeNoise,
	}
	for name, act := range acts {
		all[name] = act
	}
	var running sync.WaitGroup
	crowd := make([]*client, clients)
	for i := range crowd {
		a := require.Value(s.Connect(t.Context()))(t)
		crowd[i] = c.client(i, a)
		running.Go(func() { crowd[i].act(times, all) })
	}
	running.Wait()
	c.judge(crowd)
	stop()
	c.runner.Close()
	check()
}

func (c *client) agent() *harness.HTTPSession { return c.asker.(*harness.HTTPSession) }

// headers name the session of the client.
func (c *client) headers() []string { return []string{"Mcp-Session-Id", c.agent().Session} }

// breakOff hangs up in the middle of a call, at any moment of it.
func breakOff(c *client) error {
	ctx, disconnect := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.agent().Send(ctx, http.MethodPost, harness.ToolCall(999, `{"command":"search","params":{"query":"nobody"}}`), c.headers()...)
		done <- err
	}()
	if c.random.IntN(2) == 0 {
		if err := c.readOwn(); err != nil {
			disconnect()
			return err
		}
	}
	disconnect()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// cancelOwn cancels a call by its id, which others use at the same time. It gets no
// answer, or its own where that was faster, and no one else's call is stopped.
func cancelOwn(c *client) error {
	a := c.agent()
	cancelled := make(chan error, 1)
	go func() {
		answer, err := a.Send(c.t.Context(), http.MethodPost,
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, a.IDs+500),
			c.headers()...)
		if err == nil && answer.Status != http.StatusAccepted {
			err = fmt.Errorf("a cancellation is answered with %d %s", answer.Status, answer.Body)
		}
		cancelled <- err
	}()
	answer, err := a.Post(c.t.Context(), fmt.Sprint(a.IDs+500),
		harness.ToolCall(a.IDs+500, `{"command":"files","params":{"folder":"`+c.name+`"}}`), c.headers()...)
	if text := string(answer.Result.StructuredContent); err == nil && !strings.Contains(text, c.name+"/A note") {
		err = fmt.Errorf("a call that was cancelled: %s", text)
	}
	if errors.Is(err, harness.ErrUnanswered) {
		err = nil
	}
	return errors.Join(err, <-cancelled)
}

// endSession ends the session and opens another one. What was kept for the first is
// not there for the second.
func endSession(c *client) error {
	if err := c.list(); err != nil {
		return err
	}
	before := c.agent().Session
	if answer, err := c.agent().Send(c.t.Context(), http.MethodDelete, "", c.headers()...); err != nil || answer.Status != http.StatusOK {
		return fmt.Errorf("%+v, %w", answer, err)
	}
	if answer, err := c.agent().Send(c.t.Context(), http.MethodPost, harness.ToolCall(1, `{"command":"version"}`),
		c.headers()...); err != nil || answer.Status != http.StatusNotFound {
		return fmt.Errorf("in a session that has ended: %+v, %w", answer, err)
	}
	a, err := c.agent().Connect(c.t.Context())
	if err != nil || a.Session == before {
		return fmt.Errorf("%v, %w", a, err)
	}
	c.asker = a
	got, err := c.result("files", nil, "cursor", c.cursor)
	if err == nil && harness.CodeOf(got) != "not_found" {
		return wrong(got, "not_found for the cursor of a session that has ended")
	}
	return err
}

// takeForeign uses the cursor of another client.
func takeForeign(c *client) error {
	page := c.foreign.Load()
	if page == nil || page.owner == c.name {
		return nil
	}
	got, err := c.result("files", nil, "cursor", page.cursor)
	if err == nil && (harness.CodeOf(got) != "not_found" || got.Stdout != "") {
		return wrong(got, "not_found for the cursor of "+page.owner)
	}
	return err
}

// readStateless reads the note of the client without its session.
func readStateless(c *client) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"read","params":{"path":"%s.md"}},%s}}`,
		c.name, harness.ModernMeta)
	answer, err := c.agent().Post(c.t.Context(), "7", body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli")
	if err == nil && !strings.Contains(string(answer.Result.StructuredContent), "I am "+c.name) {
		err = fmt.Errorf("without a session: %s", answer.Result.StructuredContent)
	}
	return err
}

// makeNoise sends what is no message, and what belongs to no session.
func makeNoise(c *client) error {
	for _, bad := range []struct {
		body    string
		headers []string
		status  int
	}{
		{`{"jsonrpc":"2.0","id":1,`, c.headers(), 400}, {harness.ToolCall(1, `{}`), []string{"Mcp-Session-Id", "made up"}, 404},
		{harness.ToolCall(1, `{}`), nil, 400},
		{harness.ToolCall(1, `{}`), append([]string{"Origin", "https://evil.example"}, c.headers()...), 403},
		{"", append([]string{"Content-Type", "text/plain"}, c.headers()...), 415},
	} {
		answer, err := c.agent().Send(c.t.Context(), http.MethodPost, bad.body, bad.headers...)
		if err != nil || answer.Status != bad.status {
			return fmt.Errorf("%q with %q: %+v, want %d, %w", bad.body, bad.headers, answer, bad.status, err)
		}
	}
	return nil
}
