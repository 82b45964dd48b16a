package stdio

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/mcpserver/message"
	"vaultwicket/tests/talk"
)

// A panic costs a call its answer, and tells nobody what is in it. The server goes on.
func TestAPanicIsAnswered(t *testing.T) { eachWay(t, testAPanicIsAnswered) }

func testAPanicIsAnswered(t *testing.T, w way) {
	requests := NewRequests()
	k := start(t, requests, w.toy(requests, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if given(req) == "1" {
			panic("text of a note")
		}
		return echo(ctx, req)
	}), talk.Patience)
	for range 2 { // the same worker
		k.Send(call(1))
		if m := k.Next(); m.ID != 1.0 || m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.Error.Message, "note") {
			t.Errorf("%+v", m.Error)
		}
	}
	k.Send(call(2))
	if m := k.Next(); m.ID != 2.0 || m.Error != nil {
		t.Errorf("%+v", m)
	}
}

// What a handler returns besides a result is answered as by mcp-go.
func TestCallsWithoutAResult(t *testing.T) {
	handlers := map[string]func() (*mcp.CallToolResult, error){
		"an error":            func() (*mcp.CallToolResult, error) { return nil, context.DeadlineExceeded },
		"nothing":             func() (*mcp.CallToolResult, error) { return nil, nil },
		"both":                func() (*mcp.CallToolResult, error) { return mcp.NewToolResultText("x"), context.Canceled },
		"what has no JSON":    func() (*mcp.CallToolResult, error) { return mcp.NewToolResultStructured(func() {}, "x"), nil },
		"an error <of HTML>&": func() (*mcp.CallToolResult, error) { return nil, errors.New("<b>&") },
	}
	for name, result := range handlers {
		tool := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result() }
		one, other := straight.run(t, strings.NewReader(call(1)), tool)["1"], overMCPGo.run(t, strings.NewReader(call(1)), tool)["1"]
		if one.Error == nil || other.Error == nil || name != "what has no JSON" && *one.Error != *other.Error {
			t.Errorf("%s: %+v directly, %+v over mcp-go", name, one.Error, other.Error)
		}
	}
}

// A cancellation can come when a call has its worker and has not begun.
func TestACallThatIsCancelledBeforeItBegins(t *testing.T) {
	c, out := NewRequests(), &strings.Builder{}
	s := straight.toy(c, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		t.Error("the call has begun")
		return nil, nil
	})
	c.beginCalls(t.Context(), s, &writer{out: out, requests: c}, logTo(t))
	m, err := message.Decode([]byte(call(1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.accept(m, nil); err != nil {
		t.Fatal(err)
	}
	r := c.pending[key(1.0)]
	r.call.ctx, r.call.stop = context.WithCancel(t.Context())
	c.mu.Lock()
	c.forward(r)
	told := c.cancel(1.0)
	c.mu.Unlock()
	if told || r.call.ctx.Err() == nil {
		t.Errorf("mcp-go is told: %v, the context says %v", told, r.call.ctx.Err())
	}
	c.answerCall(r)
	if out.Len() > 0 || len(c.pending) > 0 || c.running > 0 {
		t.Errorf("wrote %q, %d are pending, %d are running", out, len(c.pending), c.running)
	}
}

// A worker that has written a large answer does not keep it while it is idle.
func TestLargeAnswersAreNotKept(t *testing.T) {
	const calls, size = 32, 1 << 20
	requests, begun, goOn := NewRequests(), make(chan struct{}, calls), make(chan struct{})
	k := start(t, requests, straight.toy(requests, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		begun <- struct{}{}
		<-goOn
		return mcp.NewToolResultText(strings.Repeat("x", size)), nil
	}), talk.Patience)
	for id := range calls {
		k.Send(call(id))
	}
	for range calls { // each has a worker of its own
		talk.Receive(t, begun)
	}
	close(goOn)
	for range calls {
		k.Next()
	}
	var memory runtime.MemStats
	for range 3 { // pools are empty then
		runtime.GC()
	}
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > calls*size/2 {
		t.Errorf("%d MiB are kept after %d answers of %d MiB", memory.HeapAlloc>>20, calls, size>>20)
	}
}
