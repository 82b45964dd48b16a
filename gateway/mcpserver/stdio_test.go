package mcpserver

import (
	"bufio"
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
	"github.com/mark3labs/mcp-go/server"
)

// patience is how long a test waits for what must come. It is not a measure.
const patience = 20 * time.Second

// toy is a server with one tool that does what the test says.
func toy(calls *calls, tool server.ToolHandlerFunc, options ...server.ServerOption) *server.MCPServer {
	hooks := &server.Hooks{}
	calls.hooks(hooks)
	s := server.NewMCPServer("toy", "1", append(options, server.WithHooks(hooks))...)
	s.AddTool(mcp.NewTool("work", mcp.WithString("n")), tool)
	return s
}

// echo answers with its argument n.
func echo(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(req.GetString("n", "")), nil
}

// gate is a tool that says when it starts and ends when told to, or when its
// context does.
type gate struct {
	started, cancelled chan string
	open               chan struct{}
}

func newGate() *gate {
	return &gate{make(chan string, 5000), make(chan string, 5000), make(chan struct{})}
}

func (g *gate) call(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	n := req.GetString("n", "")
	g.started <- n
	select {
	case <-g.open:
		return mcp.NewToolResultText(n), nil
	case <-ctx.Done():
		g.cancelled <- n
		return mcp.NewToolResultError("cancelled"), nil
	}
}

// wireMessage is a message of the server.
type wireMessage struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Params map[string]any `json:"params"`
}

// talk is a conversation with a running server.
type talk struct {
	t    *testing.T
	in   *io.PipeWriter
	out  chan wireMessage // closed with the server
	done chan error
	stop context.CancelCauseFunc
}

func start(t *testing.T, calls *calls, s *server.MCPServer, grace time.Duration) *talk {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	inReader, in := io.Pipe()
	outReader, out := io.Pipe()
	k := &talk{t, in, make(chan wireMessage, 5000), make(chan error, 1), stop}
	go func() {
		err := serveStdio(ctx, s, calls, inReader, out, logTo(t), grace)
		out.Close()
		k.done <- err
	}()
	finished := make(chan struct{})
	go func() { k.collect(outReader); close(finished) }()
	t.Cleanup(func() {
		in.Close()
		stop(nil)
		<-finished
	})
	return k
}

func (k *talk) collect(out io.Reader) {
	defer close(k.out)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var m wireMessage
		if json.Unmarshal([]byte(line), &m) != nil {
			k.t.Errorf("not a message: %q", line)
		}
		k.out <- m
	}
}

func (k *talk) send(lines ...string) {
	k.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(k.in, line+"\n"); err != nil {
			k.t.Fatal(err)
		}
	}
}

// next returns the next message of the server.
func (k *talk) next() wireMessage {
	k.t.Helper()
	return receive(k.t, k.out)
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatal("the server has ended")
		}
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

// end waits for the end of the server.
func (k *talk) end() error {
	k.t.Helper()
	return receive(k.t, k.done)
}

// rest returns what the server says until it ends.
func (k *talk) rest() []wireMessage {
	var all []wireMessage
	for m := range k.out {
		all = append(all, m)
	}
	return all
}

func call(id any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"work","arguments":{"n":%q}}}`, encode(id), fmt.Sprint(id))
}

func cancel(id any) string { return string(cancellation(id)) }

func ping(id any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, encode(id))
}

const (
	initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modern      = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// run feeds all of in to a server and returns its answers by id.
func run(t *testing.T, in io.Reader, tool server.ToolHandlerFunc) map[string]wireMessage {
	t.Helper()
	calls := newCalls()
	var out strings.Builder
	if err := serveStdio(t.Context(), toy(calls, tool), calls, in, &out, logTo(t), patience); err != nil {
		t.Fatal(err)
	}
	answers := map[string]wireMessage{}
	for line := range strings.Lines(out.String()) {
		var m wireMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, twice := answers[key(m.ID)]; twice && m.ID != nil {
			t.Errorf("two answers with id %v", m.ID)
		}
		answers[key(m.ID)] = m
	}
	return answers
}

func TestEveryRequestIsAnsweredBeforeTheEnd(t *testing.T) {
	var most, now atomic.Int64
	slow := func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		runtime.Gosched()
		return echo(ctx, req)
	}
	lines := []string{initialize, initialized}
	for id := range 1000 {
		lines = append(lines, call(id))
	}
	lines = append(lines, call("last, without a newline"))
	answers := run(t, strings.NewReader(strings.Join(lines, "\n")), slow)
	if len(answers) != 1002 {
		t.Fatalf("%d answers", len(answers))
	}
	for id, m := range answers {
		if m.Error != nil {
			t.Errorf("%s: %+v", id, m.Error)
		}
	}
	if most.Load() > maxRunning {
		t.Errorf("%d calls at once", most.Load())
	}
}

func TestWhatIsNoMessageIsRefusedAndTheRestGoesOn(t *testing.T) {
	huge := strings.Repeat("x", maxLine)
	for _, test := range []struct {
		name, line string
		id         string
		code       int
	}{
		{"garbage", "hello", "<nil>", -32700},
		{"a long line", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + huge + `"}}`, "<nil>", -32600},
		{"a batch", "[" + ping(1) + "]", "<nil>", -32600},
		{"another case", `{"jsonrpc":"2.0","id":5,"method":"ping","Method":"x"}`, "5", -32600},
		{"an unknown method", `{"jsonrpc":"2.0","id":6,"method":"none/such"}`, "6", -32601},
	} {
		answers := run(t, strings.NewReader(test.line+"\n\n"+ping("good")), echo)
		refusal := answers[test.id]
		if refusal.Error == nil || refusal.Error.Code != test.code {
			t.Errorf("%s: %+v, want code %d", test.name, refusal.Error, test.code)
		}
		if good, ok := answers["good"]; !ok || good.Error != nil || len(answers) != 2 {
			t.Errorf("%s: answers %v", test.name, answers)
		}
	}
}

func TestAnAnswerOfTheClientIsNotAnswered(t *testing.T) {
	answers := run(t, strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":78,"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		ping(1),
	}, "\n")), echo)
	if len(answers) != 1 {
		t.Errorf("answers %v", answers)
	}
}

func TestLargeMessagePassesWhole(t *testing.T) {
	text := strings.Repeat("é", 1<<20)
	line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{"n":"` + text + `"}}}`
	answers := run(t, strings.NewReader(line), echo)
	var result mcp.CallToolResult
	if err := json.Unmarshal(answers["1"].Result, &result); err != nil {
		t.Fatal(err)
	}
	if got := result.Content[0].(mcp.TextContent).Text; got != text {
		t.Errorf("%d bytes came back of %d", len(got), len(text))
	}
}

func TestCancelRunning(t *testing.T) {
	calls, g := newCalls(), newGate()
	k := start(t, calls, toy(calls, g.call), patience)
	k.send(call(1))
	receive(t, g.started)
	k.send(cancel(1))
	receive(t, g.cancelled)
	k.send(cancel(1), cancel("unknown"), ping(2))
	if m := k.next(); m.ID != 2.0 {
		t.Errorf("%+v, want the answer to the ping and nothing for the cancelled call", m)
	}
	k.in.Close()
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if rest := k.rest(); len(rest) != 0 {
		t.Errorf("also came %+v", rest)
	}
}

func TestCancelQueued(t *testing.T) {
	calls, g := newCalls(), newGate()
	k := start(t, calls, toy(calls, g.call), patience)
	const more = 100
	for id := range maxRunning + more {
		k.send(call(id))
	}
	for range maxRunning {
		receive(t, g.started)
	}
	for id := maxRunning; id < maxRunning+more; id++ {
		k.send(cancel(id))
	}
	// An id is free again once its call is cancelled.
	k.send(call(maxRunning))
	close(g.open)
	k.in.Close()
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if rest := k.rest(); len(rest) != maxRunning+1 {
		t.Errorf("%d answers, want %d", len(rest), maxRunning+1)
	}
	if len(g.started) != 1 || len(g.cancelled) != 0 {
		t.Errorf("%d more calls started and %d were stopped, want 1 and 0", len(g.started), len(g.cancelled))
	}
}

// A cancellation that arrives while mcp-go begins with the call finds mcp-go not
// ready for it, and must work all the same.
func TestCancelBeforeMCPGoListens(t *testing.T) {
	for _, when := range []string{"before", "meanwhile"} {
		calls, g := newCalls(), newGate()
		handed := &openRequest{id: 1.0, method: "tools/call", handed: true, cancelled: when == "before"}
		calls.open[key(1.0)] = handed
		hooks := &server.Hooks{}
		calls.hooks(hooks)
		hooks.AddOnRequestInitialization(func(context.Context, any, any) error {
			calls.change(func() { handed.cancelled = true })
			return nil
		})
		s := server.NewMCPServer("toy", "1", server.WithHooks(hooks))
		s.AddTool(mcp.NewTool("work"), g.call)
		s.HandleMessage(t.Context(), json.RawMessage(call(1)))
		if when == "before" && len(g.started) != 0 {
			t.Error("a cancelled call was started")
		}
		if when == "meanwhile" && len(g.cancelled) != 1 {
			t.Error("a call that was cancelled while it began was not stopped")
		}
	}
}

func TestIDsOfOpenRequestsAreTaken(t *testing.T) {
	calls, g := newCalls(), newGate()
	k := start(t, calls, toy(calls, g.call), patience)
	k.send(call(1))
	receive(t, g.started)
	// mcp-go files 1 and "1" under one name, and a broken message must not seem
	// to be the answer either.
	for _, line := range []string{call(1), ping("1"), `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`} {
		k.send(line)
		if m := k.next(); m.ID != nil || m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("%s: %+v", line, m)
		}
	}
	close(g.open)
	if m := k.next(); m.ID != 1.0 || m.Error != nil {
		t.Errorf("%+v", m)
	}
	k.send(call(1))
	if m := k.next(); m.ID != 1.0 || m.Error != nil {
		t.Errorf("an id that is free again: %+v", m)
	}
}

func TestNothingIsReadWhileTooManyAreOpen(t *testing.T) {
	calls, g := newCalls(), newGate()
	k := start(t, calls, toy(calls, g.call), patience)
	sent := make(chan int, 1)
	var count atomic.Int64
	go func() {
		for id := range 3 * maxOpen / 2 {
			if _, err := io.WriteString(k.in, call(id)+"\n"); err != nil {
				break
			}
			count.Add(1)
		}
		k.in.Close()
		sent <- 0
	}()
	calls.mu.Lock()
	for len(calls.open) < maxOpen {
		calls.changed.Wait()
	}
	calls.mu.Unlock()
	if n := count.Load(); n > maxOpen+lineBuffer/60 {
		t.Errorf("%d were read", n)
	}
	close(g.open)
	if err := k.end(); err != nil {
		t.Error(err)
	}
	<-sent
	if rest := k.rest(); len(rest) != 3*maxOpen/2 {
		t.Errorf("%d answers", len(rest))
	}
}

func TestGraceIsOver(t *testing.T) {
	calls, g := newCalls(), newGate()
	k := start(t, calls, toy(calls, g.call), 50*time.Millisecond)
	for id := range maxRunning + 3 {
		k.send(call(id))
	}
	k.in.Close()
	if err := k.end(); !errors.Is(err, errUnanswered) {
		t.Errorf("error %v, want %v", err, errUnanswered)
	}
	failed := 0
	rest := k.rest()
	for _, m := range rest {
		if m.Error != nil {
			failed++
		}
	}
	if len(rest) != maxRunning+3 || failed < 3 {
		t.Errorf("%d answers, %d of them errors, want %d and at least 3", len(rest), failed, maxRunning+3)
	}
	if len(g.cancelled) != len(g.started) {
		t.Errorf("%d of %d calls were stopped", len(g.cancelled), len(g.started))
	}
}

func TestContextEnds(t *testing.T) {
	calls, g := newCalls(), newGate()
	k := start(t, calls, toy(calls, g.call), patience)
	k.send(call(1))
	receive(t, g.started)
	signal := errors.New("signal")
	k.stop(signal)
	if err := k.end(); !errors.Is(err, signal) {
		t.Errorf("error %v, want %v", err, signal)
	}
	receive(t, g.cancelled)
	if rest := k.rest(); len(rest) != 1 || rest[0].ID != 1.0 {
		t.Errorf("answers %+v", rest)
	}
}

// closedPipe fails as a pipe does that nobody reads.
type closedPipe struct{ writes atomic.Int64 }

func (c *closedPipe) Write([]byte) (int, error) {
	c.writes.Add(1)
	return 0, syscall.EPIPE
}

func TestOutputIsClosed(t *testing.T) {
	calls, g := newCalls(), newGate()
	reader, in := io.Pipe()
	defer in.Close()
	out := &closedPipe{}
	done := make(chan error, 1)
	go func() {
		done <- serveStdio(t.Context(), toy(calls, g.call), calls, reader, out, logTo(t), patience)
	}()
	for _, line := range []string{call(1), call(2)} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		receive(t, g.started)
	}
	if _, err := io.WriteString(in, ping(3)+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, done); !errors.Is(err, errOutput) || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("error %v, want %v", err, errOutput)
	}
	receive(t, g.cancelled)
	receive(t, g.cancelled)
	if n := out.writes.Load(); n != 1 {
		t.Errorf("%d writes after the output was closed, want 1 in all", n)
	}
}

func TestAClientThatDoesNotReadCannotHoldTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		began, signal := time.Now(), errors.New("signal")
		stop(signal)
		if err := wait(ctx, make(chan error)); !errors.Is(err, signal) {
			t.Errorf("error %v, want %v", err, signal)
		}
		if took := time.Since(began); took != stopLimit {
			t.Errorf("took %v, want %v", took, stopLimit)
		}
	})
}

func TestNotificationsLeaveBeforeTheAnswer(t *testing.T) {
	calls := newCalls()
	progress := func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			if err := calls.notify(ctx, "notifications/progress", map[string]any{"progressToken": "t", "progress": i}); err != nil {
				return nil, err
			}
		}
		return echo(ctx, req)
	}
	k := start(t, calls, toy(calls, progress), patience)
	for id := range 100 {
		k.send(call(id))
		for i := range 3 {
			if m := k.next(); m.Method != "notifications/progress" || m.Params["progress"] != float64(i) {
				t.Fatalf("%+v before the answer", m)
			}
		}
		if m := k.next(); m.ID != float64(id) {
			t.Fatalf("%+v", m)
		}
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if err := calls.notify(cancelled, "notifications/progress", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call notified: %v", err)
	}
}

// What follows the handshake finds it done, however fast the client is, and a
// user can answer while every worker waits for users.
func TestElicitationOfLegacyClients(t *testing.T) {
	calls := newCalls()
	ask := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		session := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
		if session.GetClientCapabilities().Elicitation == nil {
			return mcp.NewToolResultError("the handshake is not done"), nil
		}
		result, err := server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{
			Params: mcp.ElicitationParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object"}},
		})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(string(result.Action)), nil
	}
	k := start(t, calls, toy(calls, ask, server.WithElicitation()), patience)
	k.send(initialize, initialized)
	const count = maxRunning + 20
	for id := range count {
		k.send(call(fmt.Sprint("c", id)))
	}
	answers := 0
	for answers < count {
		m := k.next()
		switch {
		case m.Method == "elicitation/create":
			k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"action":"accept","content":{}}}`, m.ID))
		case m.ID == "init":
		default:
			answers++
			if !strings.Contains(string(m.Result), "accept") {
				t.Fatalf("%+v: %s", m, m.Result)
			}
		}
	}
}

func TestModernClients(t *testing.T) {
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modern + `}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modern + `}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"work","arguments":{"n":"x"},` + modern + `}}`,
	}, "\n")
	answers := run(t, strings.NewReader(in), echo)
	for _, id := range []string{"1", "2", "3"} {
		if m := answers[id]; m.Error != nil || !strings.Contains(string(m.Result), "resultType") {
			t.Errorf("%s: %+v: %s", id, m.Error, m.Result)
		}
	}
}

func listenFor(id int, filter string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"notifications":{%s},%s}}`, id, filter, modern)
}

func TestSubscriptionAcknowledgesFirstAndDoesNotHoldTheEnd(t *testing.T) {
	for _, test := range []struct{ name, filter string }{
		{"one that is over at once", ``},
		{"one that stays", `"toolsListChanged":true`},
	} {
		for range 50 {
			calls := newCalls()
			s := toy(calls, echo, server.WithToolCapabilities(true))
			k := start(t, calls, s, patience)
			k.send(listenFor(1, test.filter))
			k.in.Close()
			if err := k.end(); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			rest := k.rest()
			if len(rest) != 2 || rest[0].Method != mcp.MethodNotificationSubscriptionsAcknowledged || rest[1].ID != 1.0 {
				t.Fatalf("%s: %+v", test.name, rest)
			}
		}
	}
}

func TestSubscriptionsAreBoundedAndCanBeCancelled(t *testing.T) {
	calls := newCalls()
	k := start(t, calls, toy(calls, echo, server.WithToolCapabilities(true)), patience)
	for id := range maxListens {
		k.send(listenFor(id, `"toolsListChanged":true`))
		if m := k.next(); m.Method != mcp.MethodNotificationSubscriptionsAcknowledged {
			t.Fatalf("%+v", m)
		}
	}
	k.send(listenFor(maxListens, `"toolsListChanged":true`))
	if m := k.next(); m.ID != float64(maxListens) || m.Error == nil {
		t.Fatalf("one too many: %+v", m)
	}
	k.send(cancel(0))
	calls.mu.Lock()
	for calls.listens == maxListens {
		calls.changed.Wait()
	}
	calls.mu.Unlock()
	k.send(listenFor(0, `"toolsListChanged":true`))
	if m := k.next(); m.Method != mcp.MethodNotificationSubscriptionsAcknowledged {
		t.Fatalf("%+v", m)
	}
}

// BenchmarkStdioCall is one call through the transport and mcp-go.
func BenchmarkStdioCall(b *testing.B) {
	for _, size := range []int{10, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			text := strings.Repeat("x", size)
			calls := newCalls()
			inReader, in := io.Pipe()
			outReader, out := io.Pipe()
			done := make(chan error, 1)
			go func() {
				done <- serveStdio(b.Context(), toy(calls, echo), calls, inReader, out, slog.New(slog.DiscardHandler), patience)
			}()
			answers := bufio.NewReader(outReader)
			for b.Loop() {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{"n":%q}}}`+"\n", text)
				if _, err := answers.ReadString('\n'); err != nil {
					b.Fatal(err)
				}
			}
			in.Close()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}
