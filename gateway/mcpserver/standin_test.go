package mcpserver

import (
	"context"
	"encoding/json"
	"testing"

	"vaultwicket/gateway/mcpserver/wire"
	"vaultwicket/tests/assert"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The stand-in for the schema validator must not let anything pass when someone
// switches validation on.
func TestValidationRefusesEverythingWithoutAValidator(t *testing.T) {
	for name, option := range map[string]server.ServerOption{
		"input": server.WithInputSchemaValidation(), "output": server.WithOutputSchemaValidation(),
	} {
		s := server.NewMCPServer("toy", "1", option)
		s.AddTool(mcp.NewTool("work", mcp.WithString("n"), mcp.WithRawOutputSchema(json.RawMessage(`{"type":"object"}`))),
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultStructured(map[string]any{"a": 1}, "a"), nil
			})
		answer := s.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{"n":"1"}}}`))
		assert.Contains(t, string(wire.Encode(answer)), "no JSON Schema validator", "%s", name)
	}
}
