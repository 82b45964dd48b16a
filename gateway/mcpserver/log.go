package mcpserver

import (
	"context"
	"log"
	"log/slog"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway"
)

// headlinesOnly returns a logger for mcp-go. Of a message only what stands before
// the first colon is passed on: behind it mcp-go prints errors and panics, which
// can hold what the client has sent.
func headlinesOnly(to *slog.Logger) *log.Logger { return log.New(headlines{to}, "", 0) }

type headlines struct{ to *slog.Logger }

func (h headlines) Write(message []byte) (int, error) {
	headline, _, _ := strings.Cut(strings.TrimSpace(string(message)), ":")
	h.to.Warn(headline)
	return len(message), nil
}

// The keys of a request that say which trace it belongs to.
const (
	traceParentKey = "traceparent"
	traceStateKey  = "tracestate"
)

// keepTrace puts the trace that a client names into the context of its call.
func keepTrace(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if meta := req.Params.Meta; meta != nil {
			parent, _ := meta.AdditionalFields[traceParentKey].(string)
			state, _ := meta.AdditionalFields[traceStateKey].(string)
			ctx = gateway.WithTrace(ctx, gateway.Trace{Parent: parent, State: state})
		}
		return next(ctx, req)
	}
}
