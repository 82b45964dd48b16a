package mcpserver

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// hears records what a client hears of a call that takes as long as it is given.
func hears(t *testing.T, token mcp.ProgressToken, takes time.Duration, end func(context.CancelFunc), fails error) (heard []int) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := handler{notify: func(_ context.Context, method string, params map[string]any) error {
			if method != "notifications/progress" || params["progressToken"] != token {
				t.Errorf("%s %v", method, params)
			}
			heard = append(heard, params["progress"].(int))
			return fails
		}}
		req := mcp.CallToolRequest{}
		req.Params.Meta = &mcp.Meta{ProgressToken: token}
		stop := h.report(ctx, req)
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
