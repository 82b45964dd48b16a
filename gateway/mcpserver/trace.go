package mcpserver

import (
	"context"

	"vaultwicket/gateway/observe"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The keys of the trace context in the _meta of a request.
const (
	traceParentKey = "traceparent"
	traceStateKey  = "tracestate"
)

// keepTrace puts the trace context of a request into the context of its call.
func keepTrace(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if meta := req.Params.Meta; meta != nil {
			parent, _ := meta.AdditionalFields[traceParentKey].(string)
			state, _ := meta.AdditionalFields[traceStateKey].(string)
			ctx = observe.WithTrace(ctx, observe.Trace{Parent: parent, State: state})
		}
		return next(ctx, req)
	}
}
