package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// toy is a server with one tool that does what the test says.
func toy(log io.Writer, tool ToolHandler) *Server {
	s := &Server{
		CallTool: func(ctx context.Context, client *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if req.Params.Name != "work" {
				return nil, &Error{Code: mcp.INVALID_PARAMS, Text: "no such tool"}
			}
			return tool(ctx, client, req)
		},
		ListTools: func(*Peer) []mcp.Tool { return []mcp.Tool{mcp.NewTool("work", mcp.WithString("n"))} },
		Log:       slog.New(slog.NewTextHandler(log, nil)),
	}
	s.Capabilities.Tools = &struct {
		ListChanged bool `json:"listChanged,omitempty"`
	}{true}
	return s
}

// given is the argument n of a call.
func given(req mcp.CallToolRequest) string {
	var arguments struct{ N string }
	_ = json.Unmarshal(req.Params.RawArguments, &arguments)
	return arguments.N
}

// echo answers with its argument n.
func echo(_ context.Context, _ *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(given(req)), nil
}

// gate is a tool that says when it starts and ends when told to, or when its
// context does.
type gate struct {
	started, cancelled chan string
	released           chan struct{}
}

func newGate() *gate {
	return &gate{make(chan string, 5000), make(chan string, 5000), make(chan struct{})}
}

func (g *gate) call(ctx context.Context, client *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	n := given(req)
	g.started <- n
	select {
	case <-g.released:
		return mcp.NewToolResultText(n), nil
	case <-ctx.Done():
		g.cancelled <- n
		return mcp.NewToolResultError("cancelled"), nil
	}
}

// start serves s on pipes.
func start(t *testing.T, s *Server, grace time.Duration) (*fake.Client, *conn) {
	t.Helper()
	made := make(chan *conn, 1)
	k := fake.Connect(t, func(ctx context.Context, in io.Reader, out io.Writer) error {
		c := newConn(s, out, grace)
		made <- c
		return c.serve(ctx, in)
	})
	return k, <-made
}

func call(id any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"work","arguments":{"n":%q}}}`, Encode(id), fmt.Sprint(id))
}

func cancel(id any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, Encode(id))
}

func ping(id any) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, Encode(id)) }

// run feeds all of in to a server and returns its answers by id.
func run(t *testing.T, in io.Reader, tool ToolHandler) map[string]fake.Message {
	t.Helper()
	var out strings.Builder
	require.NoError(t, ServeStdio(t.Context(), toy(t.Output(), tool), in, &out, fake.Patience))
	answers := map[string]fake.Message{}
	for line := range strings.Lines(out.String()) {
		var m fake.Message
		err := json.Unmarshal([]byte(line), &m)
		require.That(t, err == nil, "%q: %v", line, err)
		_, twice := answers[fmt.Sprint(m.ID)]
		assert.That(t, !twice || m.ID == nil, "two answers with id %v", m.ID)
		answers[fmt.Sprint(m.ID)] = m
	}
	return answers
}

func TestEveryRequestIsAnsweredBeforeTheEnd(t *testing.T) {
	var most, now atomic.Int64
	slow := func(ctx context.Context, client *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		runtime.Gosched()
		return echo(ctx, client, req)
	}
	lines := []string{fake.Initialize, fake.Initialized}
	for id := range 1000 {
		lines = append(lines, call(id))
	}
	lines = append(lines, call("last, without a newline"))
	answers := run(t, strings.NewReader(strings.Join(lines, "\n")), slow)
	require.That(t, len(answers) == 1002, "%d answers", len(answers))
	for id, m := range answers {
		assert.That(t, m.Error == nil, "%s: %+v", id, m.Error)
	}
	assert.That(t, most.Load() <= maxRunning, "%d calls at once", most.Load())
}

func TestALongLineIsRefusedAndTheRestGoesOn(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", MaxMessage) + `"}}`
	answers := run(t, strings.NewReader(long+"\n\n"+ping("good")), echo)
	refusal, good := answers["<nil>"], answers["good"]
	require.Equal(t, len(answers), 2, "answers %v", answers)
	require.That(t, refusal.Error != nil, "answers %v", answers)
	require.Equal(t, refusal.Error.Code, -32600, "answers %v", answers)
	assert.That(t, good.Error == nil, "answers %v", answers)
}

func TestAnAnswerOfTheClientIsNotAnswered(t *testing.T) {
	answers := run(t, strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":78,"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		ping(1),
	}, "\n")), echo)
	assert.That(t, len(answers) == 1, "answers %v", answers)
}

func TestLargeMessagePassesWhole(t *testing.T) {
	text := strings.Repeat("é", 1<<20)
	line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{"n":"` + text + `"}}}`
	answers := run(t, strings.NewReader(line), echo)
	var result mcp.CallToolResult
	require.NoError(t, json.Unmarshal(answers["1"].Result, &result))
	got := result.Content[0].(mcp.TextContent).Text
	assert.That(t, got == text, "%d bytes came back of %d", len(got), len(text))
}

func TestCancelRunning(t *testing.T) {
	g := newGate()
	k, _ := start(t, toy(t.Output(), g.call), fake.Patience)
	k.Send(call(1))
	fake.Receive(t, g.started)
	k.Send(cancel(1))
	fake.Receive(t, g.cancelled)
	k.Send(cancel(1), cancel("unknown"), ping(2))
	m := k.Next()
	assert.That(t, m.ID == 2.0, "%+v, want the answer to the ping and nothing for the cancelled call", m)
	k.In.Close()
	assert.NoError(t, k.Wait())
	assert.Equal(t, len(k.Rest()), 0, "also came")
}

func TestCancelQueued(t *testing.T) {
	g := newGate()
	k, _ := start(t, toy(t.Output(), g.call), fake.Patience)
	const more = 100
	for id := range maxRunning + more {
		k.Send(call(id))
	}
	for range maxRunning {
		fake.Receive(t, g.started)
	}
	for id := maxRunning; id < maxRunning+more; id++ {
		k.Send(cancel(id))
	}
	// An id is free again once its call is cancelled.
	k.Send(call(maxRunning))
	close(g.released)
	k.In.Close()
	assert.NoError(t, k.Wait())
	rest := k.Rest()
	assert.That(t, len(rest) == maxRunning+1, "%d answers, want %d", len(rest), maxRunning+1)
	assert.Equal(t, len(g.started), 1, "%d more calls started and %d were stopped, want 1 and 0", len(g.started), len(g.cancelled))
	assert.Equal(t, len(g.cancelled), 0, "%d more calls started and %d were stopped, want 1 and 0", len(g.started), len(g.cancelled))
}

func TestIDsOfOpenRequestsAreTaken(t *testing.T) {
	g := newGate()
	k, _ := start(t, toy(t.Output(), g.call), fake.Patience)
	k.Send(call(1))
	fake.Receive(t, g.started)
	// A broken message must not seem to be the answer either.
	for _, line := range []string{call(1), `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`} {
		k.Send(line)
		m := k.Next()
		require.That(t, m.ID == nil, "%s: %+v", line, m)
		require.That(t, m.Error != nil, "%s: %+v", line, m)
		assert.Equal(t, m.Error.Code, -32600, "%s", line)
	}
	k.Send(ping("1")) // which is another id
	m := k.Next()
	assert.Equal(t, m.ID, "1")
	assert.That(t, m.Error == nil, "%+v", m)
	close(g.released)
	m = k.Next()
	assert.Equal(t, m.ID, 1.0)
	assert.That(t, m.Error == nil, "%+v", m)
	k.Send(call(1))
	m = k.Next()
	assert.Equal(t, m.ID, 1.0, "an id that is free again")
	assert.That(t, m.Error == nil, "an id that is free again: %+v", m)
}

func TestNothingIsReadWhileTooManyAreOpen(t *testing.T) {
	g := newGate()
	k, c := start(t, toy(t.Output(), g.call), fake.Patience)
	sent := make(chan int, 1)
	var count atomic.Int64
	go func() {
		for id := range 3 * maxPending / 2 {
			if _, err := io.WriteString(k.In, call(id)+"\n"); err != nil {
				break
			}
			count.Add(1)
		}
		k.In.Close()
		sent <- 0
	}()
	c.mu.Lock()
	for len(c.pending) < maxPending {
		c.changed.Wait()
	}
	c.mu.Unlock()
	n := count.Load()
	assert.That(t, n <= maxPending+lineBuffer/60, "%d were read", n)
	close(g.released)
	assert.NoError(t, k.Wait())
	<-sent
	rest := k.Rest()
	assert.That(t, len(rest) == 3*maxPending/2, "%d answers", len(rest))
}

func TestGraceIsOver(t *testing.T) {
	g := newGate()
	k, _ := start(t, toy(t.Output(), g.call), 50*time.Millisecond)
	for id := range maxRunning + 3 {
		k.Send(call(id))
	}
	k.In.Close()
	assert.ErrorIs(t, k.Wait(), errUnanswered, "error")
	failed := 0
	rest := k.Rest()
	for _, m := range rest {
		if m.Error != nil {
			failed++
		}
	}
	assert.Equal(t, len(rest), maxRunning+3, "%d answers, %d of them errors, want %d and at least 3", len(rest), failed, maxRunning+3)
	assert.That(t, failed >= 3, "%d answers, %d of them errors, want %d and at least 3", len(rest), failed, maxRunning+3)
	assert.That(t, len(g.cancelled) == len(g.started), "%d of %d calls were stopped", len(g.cancelled), len(g.started))
}

func TestContextEnds(t *testing.T) {
	g := newGate()
	k, _ := start(t, toy(t.Output(), g.call), fake.Patience)
	k.Send(call(1))
	fake.Receive(t, g.started)
	signal := errors.New("signal")
	k.Stop(signal)
	assert.ErrorIs(t, k.Wait(), signal, "error")
	fake.Receive(t, g.cancelled)
	rest := k.Rest()
	require.Equal(t, len(rest), 1, "answers %+v", rest)
	assert.Equal(t, rest[0].ID, 1.0, "answers %+v", rest)
}

// closedPipe fails as a pipe does that no one reads.
type closedPipe struct{ writes atomic.Int64 }

func (c *closedPipe) Write([]byte) (int, error) {
	c.writes.Add(1)
	return 0, syscall.EPIPE
}

func TestOutputIsClosed(t *testing.T) {
	g := newGate()
	reader, in := io.Pipe()
	defer in.Close()
	out := &closedPipe{}
	done := make(chan error, 1)
	go func() { done <- ServeStdio(t.Context(), toy(t.Output(), g.call), reader, out, fake.Patience) }()
	for _, line := range []string{call(1), call(2)} {
		require.Value(io.WriteString(in, line+"\n"))(t)
		fake.Receive(t, g.started)
	}
	require.Value(io.WriteString(in, ping(3)+"\n"))(t)
	err := fake.Receive(t, done)
	assert.ErrorIs(t, err, errOutputClosed, "error %v", err)
	assert.ErrorIs(t, err, syscall.EPIPE, "error %v", err)
	fake.Receive(t, g.cancelled)
	fake.Receive(t, g.cancelled)
	n := out.writes.Load()
	assert.That(t, n == 1, "%d writes after the output was closed, want 1 in all", n)
}

func TestAClientThatDoesNotReadCannotHoldTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		began, signal := time.Now(), errors.New("signal")
		stop(signal)
		assert.ErrorIs(t, wait(ctx, make(chan struct{})), signal, "error")
		assert.Equal(t, time.Since(began), stopLimit, "took")
	})
}

func TestNotificationsLeaveBeforeTheAnswer(t *testing.T) {
	progress := func(ctx context.Context, client *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			if err := client.Notify(ctx, "notifications/progress", map[string]any{"progressToken": "t", "progress": i}); err != nil {
				return nil, err
			}
		}
		return echo(ctx, client, req)
	}
	k, _ := start(t, toy(t.Output(), progress), fake.Patience)
	for id := range 100 {
		k.Send(call(id))
		for i := range 3 {
			m := k.Next()
			require.Equal(t, m.Method, "notifications/progress", "%+v before the answer", m)
			require.Equal[any](t, m.Params["progress"], float64(i), "%+v before the answer", m)
		}
		m := k.Next()
		require.That(t, m.ID == float64(id), "%+v", m)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	assert.ErrorIs(t, (&Peer{}).Notify(cancelled, "notifications/progress", nil), context.Canceled, "a cancelled call notified")
}

// What follows the handshake finds it done, however fast the client is, and a
// user can answer while every worker waits for users.
func TestElicitationOfLegacyClients(t *testing.T) {
	ask := func(ctx context.Context, client *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, can := client.Client(); can.Elicitation == nil {
			return mcp.NewToolResultError("the handshake is not done"), nil
		}
		question := mcp.ElicitationParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object"}}
		result, err := Ask[mcp.ElicitationResult](ctx, client, mcp.MethodElicitationCreate, question)
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(string(result.Action)), nil
	}
	k, _ := start(t, toy(t.Output(), ask), fake.Patience)
	k.Send(fake.Initialize, fake.Initialized)
	const count = maxRunning + 20
	for id := range count {
		k.Send(call(fmt.Sprint("c", id)))
	}
	answers := 0
	for answers < count {
		m := k.Next()
		switch {
		case m.Method == "elicitation/create":
			k.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"action":"accept","content":{}}}`, m.ID))
		case m.ID == "init":
		default:
			answers++
			require.That(t, strings.Contains(string(m.Result), "accept"), "%+v: %s", m, m.Result)
		}
	}
}

func listenFor(id int, filter string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"notifications":{%s},%s}}`, id, filter, fake.ModernMeta)
}

func TestSubscriptionAcknowledgesFirstAndDoesNotHoldTheEnd(t *testing.T) {
	for _, test := range []struct{ name, filter string }{
		{"one that is over at once", ``},
		{"one that stays", `"toolsListChanged":true`},
	} {
		for range 50 {
			k, _ := start(t, toy(t.Output(), echo), fake.Patience)
			k.Send(listenFor(1, test.filter))
			k.In.Close()
			err := k.Wait()
			require.That(t, err == nil, "%s: %v", test.name, err)
			rest := k.Rest()
			require.Equal(t, len(rest), 2, "%s", test.name)
			require.Equal(t, rest[0].Method, mcp.MethodNotificationSubscriptionsAcknowledged, "%s", test.name)
			require.Equal(t, rest[1].ID, 1.0, "%s", test.name)
		}
	}
}

func TestSubscriptionsAreBoundedAndCanBeCancelled(t *testing.T) {
	k, c := start(t, toy(t.Output(), echo), fake.Patience)
	for id := range maxSubscriptions {
		k.Send(listenFor(id, `"toolsListChanged":true`))
		require.Equal(t, k.Next().Method, mcp.MethodNotificationSubscriptionsAcknowledged)
	}
	k.Send(listenFor(maxSubscriptions, `"toolsListChanged":true`))
	m := k.Next()
	require.Equal[any](t, m.ID, float64(maxSubscriptions), "one too many")
	require.That(t, m.Error != nil, "one too many: %+v", m)
	k.Send(cancel(0))
	c.mu.Lock()
	for c.subscriptions == maxSubscriptions {
		c.changed.Wait()
	}
	c.mu.Unlock()
	k.Send(listenFor(0, `"toolsListChanged":true`))
	require.Equal(t, k.Next().Method, mcp.MethodNotificationSubscriptionsAcknowledged)
}
