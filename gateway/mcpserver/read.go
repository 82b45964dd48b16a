package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/arguments"
)

// readName is obsidianCli for calls that only read. It is listed with mutations on, so that
// a client that uses the hints need not ask the user before each read.
const readName = "obsidianRead"

// readTool describes obsidianRead. The description of obsidianCli lists the commands and
// their parameters.
func readTool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(readName, readDescription, json.RawMessage(readSchema))
	t.RawOutputSchema = json.RawMessage(readOutputSchema)
	t.Annotations = mcp.ToolAnnotation{
		Title:           "Read an Obsidian vault",
		ReadOnlyHint:    mcp.ToBoolPtr(true),
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(true),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
	return t
}

const readDescription = `Same arguments as obsidianCli, read commands only. Prefer it for reading.`

// readSchema allows the other arguments of obsidianCli without describing them again, to
// save tokens. The decoder is that of obsidianCli and accepts no others.
const readSchema = `{"type":"object","properties":{"command":{"type":"string","description":"name"},` +
	`"params":{"type":"object","description":"by name","additionalProperties":true}},` +
	`"required":["command"],"additionalProperties":true}`

// readOutputSchema is short for the same reason.
const readOutputSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":true}`

// read handles calls of obsidianRead. The gateway checks that a call only reads, by the
// effect of the whole call.
func (h handler) read(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call, refused := arguments.Decode(req.Params.RawArguments)
	if refused != nil {
		return h.form(gateway.Request{})(gateway.Reject(call.Command, refused))
	}
	request := call.Request()
	request.ReadsOnly = true
	return h.run(ctx, req, request, call.DryRun, h.form(request))
}
