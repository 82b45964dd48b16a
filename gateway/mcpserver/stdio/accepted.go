package stdio

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// acceptedContext is the context of a call that a handler answers without mcp-go.
type acceptedContext struct {
	context.Context
	at time.Time
}

type acceptedKey struct{}

func (c acceptedContext) Value(key any) any {
	if key == (acceptedKey{}) {
		return c.at
	}
	return c.Context.Value(key)
}

// waitHeader carries the time that a call has waited to its handler through mcp-go. It is
// set or removed for every call, so that no client can set it.
const waitHeader = "Vaultwicket-Waited"

// recordWait stores in a call how long it has waited here: that can be minutes.
func (c *Requests) recordWait(id any, req *mcp.CallToolRequest) {
	header := req.Header.Clone()
	header.Del(waitHeader)
	c.mu.Lock()
	r := c.pending[key(id)]
	c.mu.Unlock()
	if r != nil {
		if header == nil {
			header = map[string][]string{}
		}
		header.Set(waitHeader, time.Since(r.acceptedAt).String())
	}
	req.Header = header
}

// AcceptedAt returns when a call was read from the input, the zero time if it was not
// queued here. ctx is the context of its handler.
func AcceptedAt(ctx context.Context, req mcp.CallToolRequest) time.Time {
	if at, ok := ctx.Value(acceptedKey{}).(time.Time); ok {
		return at
	}
	waited, err := time.ParseDuration(req.Header.Get(waitHeader))
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(-waited)
}
