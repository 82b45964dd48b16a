package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
)

// readName is obsidianCli for calls that only read. It is there where something
// can be changed, so that a client which goes by the hints need not ask a person
// before each read.
const readName = "obsidianRead"

// readTool describes obsidianRead. Which commands there are and what they take
// stands in the description of obsidianCli.
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

const readDescription = `Takes what obsidianCli takes, for calls that only read. Prefer it for them.`

// readSchema is open to the other arguments of obsidianCli, which say there what
// they are: to say it twice would cost every conversation words. The decoder is
// that of obsidianCli and takes no others.
const readSchema = `{"type":"object","properties":{"command":{"type":"string","description":"as there"},` +
	`"params":{"type":"object","description":"as there","additionalProperties":true}},` +
	`"required":["command"],"additionalProperties":true}`

// readOutputSchema is short for the same reason.
const readOutputSchema = `{"type":"object","properties":{"ok":{"type":"boolean"},"command":{"type":"string"}},"required":["ok","command"],"additionalProperties":true}`

// read answers calls of obsidianRead. Whether a call only reads is judged where
// all else is, by the effect of the whole call.
func (h handler) read(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, refused := decodeArguments(req.Params.RawArguments)
	if refused != nil {
		return answer(gateway.Reject(args.Command, refused))
	}
	request := args.request()
	request.ReadsOnly = true
	return h.run(ctx, req, request, args.DryRun)
}
