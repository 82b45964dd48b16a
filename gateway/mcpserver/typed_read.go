package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
)

// readName is obsidianCli for calls that only read. It is there where something
// can be changed, so that a client which goes by the hints need not ask a person
// before each read.
const readName = "obsidianRead"

// readTool describes obsidianRead. Which commands there are and what they take
// stands in the description of obsidianCli.
func readTool(gw *gateway.Gateway) mcp.Tool {
	schema := readSchema
	if len(gw.VaultNames()) > 1 {
		schema = strings.Replace(schema, `"params":{`, `"vault":{"type":"string","description":"which vault"},"params":{`, 1)
	}
	t := mcp.NewToolWithRawSchema(readName, readDescription, json.RawMessage(schema))
	t.RawOutputSchema = json.RawMessage(outputSchema)
	t.Annotations = mcp.ToolAnnotation{
		Title:           "Read an Obsidian vault",
		ReadOnlyHint:    mcp.ToBoolPtr(true),
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(true),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
	return t
}

const readDescription = `obsidianCli for calls that only read. Prefer it for reading: it changes nothing.`

// readSchema leaves out what obsidianCli says of the same arguments.
const readSchema = `{"type":"object","properties":{` +
	`"command":{"type":"string","description":"command of obsidianCli"},` +
	`"params":{"type":"object","description":"its parameters","additionalProperties":true},` +
	`"fields":{"type":"array","items":{"type":"string"},"description":"of JSON rows"},` +
	`"limit":{"type":"integer","description":"rows at most"},` +
	`"cursor":{"type":"string","description":"next page"}},` +
	`"required":["command"],"additionalProperties":false}`

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
