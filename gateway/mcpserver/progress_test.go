package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/exec/progress"
	"vaultwicket/gateway/mcpserver/wire"
)

// heardBy is the context of a request whose client hears every notification.
func heardBy(ctx context.Context, hear func(method string, params map[string]any) error) context.Context {
	return (&server.MCPServer{}).WithContext(ctx, &wire.Peer{Send: func(line []byte) error {
		var n struct {
			Method string
			Params map[string]any
		}
		if err := json.Unmarshal(line, &n); err != nil {
			return err
		}
		return hear(n.Method, n.Params)
	}})
}

// hears records what a client hears of a call that takes as long as it is given.
func hears(t *testing.T, token mcp.ProgressToken, takes time.Duration, end func(context.CancelFunc), fails error) (heard []int) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ctx = heardBy(ctx, func(method string, params map[string]any) error {
			if method != "notifications/progress" || params["progressToken"] != token {
				t.Errorf("%s %v", method, params)
			}
			heard = append(heard, int(params["progress"].(float64)))
			return fails
		})
		req := mcp.CallToolRequest{}
		req.Params.Meta = &mcp.Meta{ProgressToken: token}
		_, stop := report(ctx, req)
		time.Sleep(takes)
		if end != nil {
			end(cancel)
			time.Sleep(5 * time.Second)
		}
		stop()
		before := len(heard)
		time.Sleep(10 * time.Second)
		if len(heard) != before {
			t.Error("something was said behind the answer")
		}
	})
	return heard
}

func TestProgressRisesAndEndsBeforeTheAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes time.Duration
		token mcp.ProgressToken
		end   func(context.CancelFunc)
		fails error
		want  int
	}{
		{"a call below a second", 900 * time.Millisecond, "t", nil, nil, 0},
		{"a call of three seconds and a half", 3500 * time.Millisecond, "t", nil, nil, 3},
		{"a token that is a number", 1500 * time.Millisecond, float64(7), nil, nil, 1},
		{"no token", 5 * time.Second, nil, nil, nil, 0},
		{"a call that is cancelled", 2500 * time.Millisecond, "t", func(cancel context.CancelFunc) { cancel() }, nil, 2},
		{"a client that has gone", 5500 * time.Millisecond, "t", nil, errors.New("gone"), 1},
	} {
		heard := hears(t, tt.token, tt.takes, tt.end, tt.fails)
		if len(heard) != tt.want {
			t.Errorf("%s: heard %v, want %d", tt.name, heard, tt.want)
		}
		for i, n := range heard {
			if n != i+1 {
				t.Errorf("%s: heard %v", tt.name, heard)
			}
		}
	}
}

// A count that is known is told with its total, and what is told always rises.
func TestCountsAreTold(t *testing.T) {
	count := func(done, total int, of progress.Kind) *progress.Count {
		return &progress.Count{Done: done, Total: total, Of: of}
	}
	var r rising
	for _, tt := range []struct {
		count   *progress.Count
		told    int
		total   any
		message string
	}{
		{nil, 1, nil, "running for 1 s"},
		{count(0, 40, progress.Operations), 2, nil, "running for 2 s, 0 of 40 operations"},
		{count(900, 2000, progress.Read), 900, 2000, "running for 3 s, 900 of 2000 files read"},
		{count(2000, 2500, progress.Read), 2000, 2500, "running for 4 s, 2000 of 2500 files read"},
		{count(2000, 2500, progress.Read), 2001, nil, "running for 5 s, 2000 of 2500 files read"},
		{count(3, 12, progress.Changed), 2002, nil, "running for 6 s, 3 of 12 files changed"},
	} {
		got := r.next(tt.count)
		if got["progress"] != tt.told || got["total"] != tt.total || got["message"] != tt.message {
			t.Errorf("%+v is told as %v, want %d of %v, %q", tt.count, got, tt.told, tt.total, tt.message)
		}
	}
}

// What a call counts reaches its client, and not the client of another call.
func TestTheCountsOfACallAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []any
		var mu sync.Mutex // each call tells from its own goroutine
		ctx := heardBy(t.Context(), func(_ string, params map[string]any) error {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, params["progressToken"], params["progress"], params["total"])
			return nil
		})
		call := func(token mcp.ProgressToken) (context.Context, func()) {
			req := mcp.CallToolRequest{}
			req.Params.Meta = &mcp.Meta{ProgressToken: token}
			return report(ctx, req)
		}
		one, stopOne := call("one")
		time.Sleep(10 * time.Millisecond)
		_, stopTwo := call("two")
		progress.Of(one)(progress.Count{Done: 7, Total: 9, Of: progress.Read})
		time.Sleep(progressInterval + 100*time.Millisecond)
		stopOne()
		stopTwo()
		if want := []any{"one", 7.0, 9.0, "two", 1.0, nil}; !slices.Equal(heard, want) {
			t.Errorf("heard %v, want %v", heard, want)
		}
	})
}
