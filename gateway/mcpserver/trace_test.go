package mcpserver

import (
	"context"
	"log/slog"
	"testing"

	"vaultwicket/gateway/observe"

	"github.com/mark3labs/mcp-go/mcp"
)

// logTo returns a logger that writes to the output of a test.
func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func TestTheTraceOfACallIsInItsContext(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tt := range []struct {
		name string
		meta map[string]any
		want observe.Trace
	}{
		{"both keys", map[string]any{"traceparent": parent, "tracestate": "a=b"}, observe.Trace{Parent: parent, State: "a=b"}},
		{"a number for a parent", map[string]any{"traceparent": 1}, observe.Trace{}},
		{"a state alone", map[string]any{"tracestate": "a=b"}, observe.Trace{}},
		{"no meta", nil, observe.Trace{}},
	} {
		var got observe.Trace
		handler := keepTrace(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got = observe.TraceOf(ctx)
			return nil, nil
		})
		var req mcp.CallToolRequest
		if tt.meta != nil {
			req.Params.Meta = mcp.NewMetaFromMap(tt.meta)
		}
		if _, err := handler(t.Context(), req); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}
