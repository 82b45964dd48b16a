package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// stalled is a connection whose requests never end, with the ids of those that have started.
func stalled(t *testing.T) (c *conn, started chan any) {
	started = make(chan any, 10)
	ctx, stop := context.WithCancel(t.Context())
	c = newConn(&Server{}, io.Discard, time.Hour)
	c.ctx, c.fail = ctx, func(error) {}
	go func() {
		for r := range c.idle {
			started <- r.ID
		}
	}()
	synctest.Wait()
	t.Cleanup(func() {
		stop()
		c.stop()
		close(c.idle)
		c.shutDown()
	})
	return c, started
}

// requested is the request id with a message of size bytes.
func requested(t *testing.T, c *conn, id, method string, size int) {
	t.Helper()
	require.NoError(t, c.accept(Message{Kind: Request, ID: id, Method: method, Raw: make([]byte, size)}))
	synctest.Wait()
}

// answered is the moment before the response to a request is written; written that after it.
func answered(c *conn, id string) { c.release(c.pending[id]) }

func written(c *conn) {
	c.update(func() {
		c.writing--
		if c.timer != nil {
			c.timer.Reset(c.grace)
		}
	})
	synctest.Wait()
}

func TestHeldBytesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stalled(t)
		requested(t, c, "a", "ping", maxPendingBytes/2)
		require.That(t, c.waitForCapacity(), "no room next to half of the bytes")
		requested(t, c, "b", "ping", maxPendingBytes/2)
		capacity := make(chan bool, 1)
		go func() { capacity <- c.waitForCapacity() }()
		synctest.Wait()
		assert.That(t, len(capacity) == 0, "room before anything was answered")
		answered(c, "a")
		written(c)
		assert.Equal(t, len(capacity), 1, "no room after an answer")
		assert.That(t, <-capacity, "no room after an answer")
	})
}

func TestStopLetsEveryoneGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stalled(t)
		requested(t, c, "a", "ping", maxPendingBytes)
		requested(t, c, "b", "initialize", 1)
		go c.waitForCapacity()
		go c.waitForAnswers()
		synctest.Wait()
		c.stop()
		assert.That(t, !c.waitForCapacity(), "room after the end")
		requested(t, c, "late", "ping", 1)
		assert.Equal(t, len(c.shutDown()), 2, "left")
	})
}

func TestGraceCountsFromTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stalled(t)
		began, over := time.Now(), make(chan time.Duration, 1)
		c.grace, c.fail = time.Second, func(error) { over <- time.Since(began) }
		requested(t, c, "a", "ping", 1)
		requested(t, c, "b", "ping", 1)
		c.endInput()
		time.Sleep(900 * time.Millisecond)
		answered(c, "a")
		written(c)
		assert.Equal(t, <-over, 1900*time.Millisecond, "gave up after")
	})
}

func TestTheEndWaitsForAnswersOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stalled(t)
		requested(t, c, "a", "ping", 1)
		c.endInput()
		answered(c, "a")
		end := make(chan struct{})
		go func() { defer close(end); c.waitForAnswers() }()
		synctest.Wait()
		select {
		case <-end:
			t.Error("the end came before the answer was written")
		default:
		}
		written(c)
		<-end
	})
}

func TestHandshakeGoesFirstAndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, started := stalled(t)
		c.running = maxRunning // so that the others wait
		requested(t, c, "early", "ping", 1)
		requested(t, c, "i", "initialize", 1)
		var order []any
		took := func() {
			synctest.Wait()
			for len(started) > 0 {
				order = append(order, <-started)
			}
			order = append(order, "|")
		}
		c.update(func() { c.running = 0 })
		took()
		answered(c, "i")
		written(c)
		took()
		got, want := fmt.Sprint(order), "[i | early |]"
		assert.Equal(t, got, want, "order")
	})
}

func TestWhatCannotBeNotified(t *testing.T) {
	gone := &Peer{Send: func([]byte) error { return ErrNoClient }}
	assert.ErrorIs(t, gone.Notify(t.Context(), "notifications/progress", nil), ErrNoClient, "error")
	err := gone.Notify(t.Context(), "x", map[string]any{"f": func() {}})
	assert.That(t, err != nil, "what is no JSON: %v", err)
	assert.That(t, !errors.Is(err, ErrNoClient), "what is no JSON: %v", err)
	ended, stop := context.WithCancel(t.Context())
	stop()
	assert.ErrorIs(t, gone.Notify(ended, "x", nil), context.Canceled, "after the end")
}

func TestTheLockIsFreeWhileArgumentsAreDecoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stalled(t)
		asked := false
		c.server.Changes = func(string, json.RawMessage) bool {
			if asked = true; !c.mu.TryLock() {
				t.Error("the lock is held")
				return true
			}
			c.mu.Unlock()
			return true
		}
		call := Message{Kind: Request, ID: "x", Method: "tools/call", Tool: "x", Arguments: json.RawMessage(`{}`)}
		err := c.accept(call)
		assert.NoError(t, err, "asked %v", asked)
		assert.That(t, asked, "asked %v, %v", asked, err)
	})
}

// A panic costs a call its answer, and tells no one what is in it. The server goes on.
func TestAPanicIsAnswered(t *testing.T) {
	var log strings.Builder
	k, _ := start(t, toy(&log, func(ctx context.Context, client *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if given(req) == "1" {
			panic("text of a note")
		}
		return echo(ctx, client, req)
	}), fake.Patience)
	for range 2 { // the same worker
		k.Send(call(1))
		m := k.Next()
		require.Equal(t, m.ID, 1.0)
		require.That(t, m.Error != nil, "%+v", m.Error)
		require.Equal(t, m.Error.Code, -32603)
		assert.That(t, !strings.Contains(m.Error.Message, "note"), "%+v", m.Error)
	}
	k.Send(call(2))
	m := k.Next()
	assert.Equal(t, m.ID, 2.0)
	assert.That(t, m.Error == nil, "%+v", m)
	k.In.Close()
	if err := k.Wait(); err != nil || strings.Contains(log.String(), "note") || strings.Count(log.String(), "panic=string") != 2 {
		t.Errorf("%v, the log has %s", err, log.String())
	}
}

// What a handler returns besides a result is an error of the server, with its message.
func TestCallsWithoutAResult(t *testing.T) {
	for _, test := range []struct {
		name    string
		result  *mcp.CallToolResult
		err     error
		code    int
		message string
	}{
		{"an error", nil, context.DeadlineExceeded, -32603, "context deadline exceeded"},
		{"an error with a code", nil, fmt.Errorf("in the handler: %w", &Error{Code: -32602, Text: "no such thing"}), -32602, "no such thing"},
		{"nothing", nil, nil, -32603, "tool 'work' handler returned no result"},
		{"both", mcp.NewToolResultText("x"), context.Canceled, -32603, "context canceled"},
		{"what has no JSON", mcp.NewToolResultStructured(func() {}, "x"), nil, -32603, "json: unsupported type: func()"},
		{"an error <of HTML>&", nil, errors.New("<b>&"), -32603, "<b>&"},
	} {
		tool := func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return test.result, test.err
		}
		got := run(t, strings.NewReader(call(1)), tool)["1"].Error
		if got == nil || got.Code != test.code || got.Message != test.message {
			t.Errorf("%s: %+v, want %d %q", test.name, got, test.code, test.message)
		}
	}
}

// A cancellation can come when a call has its worker and has not begun.
func TestACallThatIsCancelledBeforeItBegins(t *testing.T) {
	out := &strings.Builder{}
	c := newConn(toy(t.Output(), func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		t.Error("the call has begun")
		return nil, nil
	}), out, time.Hour)
	c.ctx = t.Context()
	m := require.Value(Decode([]byte(call(1))))(t)
	r := &request{Message: m, peer: Peer{Session: c.session, Send: c.send}, isStarted: true}
	r.ctx, r.stop = context.WithCancel(t.Context())
	c.pending[r.ID], c.running, c.bytes = r, 1, len(m.Raw)
	require.NoError(t, c.accept(Message{Kind: Notification, Cancels: 1.0}))
	c.answer(r)
	assert.That(t, out.Len() <= 0, "wrote %q, %d are pending, %d are running", out, len(c.pending), c.running)
	assert.Equal(t, len(c.pending), 0, "wrote %q, %d are pending, %d are running", out, len(c.pending), c.running)
	assert.That(t, c.running <= 0, "wrote %q, %d are pending, %d are running", out, len(c.pending), c.running)
	assert.That(t, c.bytes <= 0, "wrote %q, %d are pending, %d are running", out, len(c.pending), c.running)
}

// The time that a call waits before it is begun counts for its limit.
func TestACallKnowsWhenItWasTakenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan time.Time, 1)
		c := newConn(toy(io.Discard, func(ctx context.Context, client *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			told <- client.AcceptedAt
			return mcp.NewToolResultText("x"), nil
		}), io.Discard, time.Hour)
		c.ctx, c.isInitializing = t.Context(), true
		begun := time.Now()
		m, err := Decode([]byte(call(1)))
		if err == nil {
			err = c.accept(m)
		}
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		c.update(func() { c.isInitializing = false })
		got := <-told
		assert.That(t, got.Equal(begun), "taken in at %v, want %v", got, begun)
		c.stop()
		close(c.idle)
		c.workers.Wait()
	})
}

// A worker that has written a large answer does not keep it while it is idle.
func TestLargeAnswersAreNotKept(t *testing.T) {
	const calls, size = 32, 1 << 20
	begun, goOn := make(chan struct{}, calls), make(chan struct{})
	k, _ := start(t, toy(t.Output(), func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		begun <- struct{}{}
		<-goOn
		return mcp.NewToolResultText(strings.Repeat("x", size)), nil
	}), fake.Patience)
	for id := range calls {
		k.Send(call(id))
	}
	for range calls { // each has a worker of its own
		fake.Receive(t, begun)
	}
	close(goOn)
	for range calls {
		k.Next()
	}
	var memory runtime.MemStats
	for range 3 { // pools are empty then
		runtime.GC()
	}
	runtime.ReadMemStats(&memory)
	assert.That(t, memory.HeapAlloc <= calls*size/2, "%d MiB are kept after %d answers of %d MiB", memory.HeapAlloc>>20, calls, size>>20)
}

// Calls with large answers wait while the client does not read two of them, and hold up no
// other call.
func TestLargeAnswersAreBoundedWhileTheClientDoesNotRead(t *testing.T) {
	out, in := io.Pipe()
	defer in.Close()
	var large atomic.Int32
	s := toy(t.Output(), echo)
	s.CallTool = func(_ context.Context, _ *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Params.Name == "large" {
			large.Add(1)
		}
		return mcp.NewToolResultText("x"), nil
	}
	s.Large = func(tool string, _ json.RawMessage) bool { return tool == "large" }
	c := newConn(s, in, time.Hour)
	c.ctx, c.fail = t.Context(), func(error) {}
	for id, tool := range []string{"large", "large", "large", "large", "large", "small"} {
		require.NoError(t, c.accept(Message{Kind: Request, ID: id, Method: "tools/call", Tool: tool, isPlain: true, Raw: []byte("{}")}))
	}
	c.mu.Lock() // nothing is read yet, so nothing is written
	require.Equal(t, c.large, maxLarge, "%d large calls have started, %d calls wait", c.large, len(c.waiting))
	require.Equal(t, len(c.waiting), 3, "%d large calls have started, %d calls wait", c.large, len(c.waiting))
	assert.Equal(t, c.waiting[0].Tool, "large", "%d large calls have started, %d calls wait", c.large, len(c.waiting))
	c.mu.Unlock()
	go io.Copy(io.Discard, out)
	c.waitForAnswers()
	assert.Equal(t, c.large, 0, "%d large calls were made, %d are counted", large.Load(), c.large)
	assert.Equal(t, large.Load(), 5, "%d large calls were made, %d are counted", large.Load(), c.large)
	close(c.idle)
}
