package process

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A session in which nothing is going on ends by itself, and what was kept for it
// goes with it. A stream that is open keeps it.
func TestIdleSessionsEndWithWhatIsKeptForThem(t *testing.T) {
	const many = 30
	check := afterwards(t)
	c := gather(t, many)
	var mu sync.Mutex
	callers, ended := map[string]bool{}, make(chan string, 10*many)
	s, stop := serveCrowd(t, c, transport.HTTPConfig{
		Idle:   20 * time.Millisecond,
		Opened: func(caller string) { mu.Lock(); defer mu.Unlock(); callers[caller] = true },
		Ended:  func(caller string) { ended <- caller },
	})
	defer stop()
	var clients []*client
	var disconnects []context.CancelFunc
	for i := range many {
		a, disconnect := held(t, s)
		one := c.client(i, a)
		require.NoError(t, one.list())
		clients, disconnects = append(clients, one), append(disconnects, disconnect)
	}
	kept := 0
	for _, one := range clients {
		for caller := range callers {
			if c.config.Gateway.Kept(caller, one.cursor) == nil {
				kept++
			}
		}
		assert.NoError(t, one.readOwn())
	}
	assert.That(t, kept == many, "the answers of %d sessions are kept, want %d", kept, many)
	for _, disconnect := range disconnects {
		disconnect()
	}
	for range callers {
		select {
		case <-ended:
		case <-time.After(harness.Deadline):
			t.Fatal("a session goes on")
		}
	}
	for _, one := range clients {
		for caller := range callers {
			assert.That(t, c.config.Gateway.Kept(caller, one.cursor) != nil, "the answer of %s is kept without its session", one.name)
		}
		answer, err := s.Send(t.Context(), http.MethodPost, harness.ToolCall(1, `{"command":"version"}`), one.headers()...)
		require.Equal(t, err, nil, "%+v", answer)
		assert.Equal(t, answer.Status, http.StatusNotFound, "%+v", answer)
	}
	stop()
	c.runner.Close()
	check()
}

// held opens a session and a stream in it. It tries until the stream comes before
// the session has ended.
func held(t *testing.T, s *harness.Endpoint) (*harness.HTTPSession, context.CancelFunc) {
	t.Helper()
	for {
		a := require.Value(s.Connect(t.Context()))(t)
		ctx, disconnect := context.WithCancel(t.Context())
		stream := require.Value(s.Client.Do(s.Request(ctx, http.MethodGet, "/mcp", "", "Mcp-Session-Id", a.Session)))(t)
		if stream.StatusCode == http.StatusOK {
			return a, func() { disconnect(); stream.Body.Close() }
		}
		disconnect()
		stream.Body.Close()
	}
}
