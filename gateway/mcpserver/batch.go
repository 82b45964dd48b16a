package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/arguments"
	"vaultwicket/gateway/mcpserver/wire"
	"vaultwicket/tiers"
)

// batchName is the tool for several operations. It is listed with mutations on, and
// otherwise only if its toolset is configured: reads need no order, and a client can call
// them in parallel.
const batchName = "obsidianBatch"

// batchTool describes obsidianBatch. The description of obsidianCli lists what its
// operations can do. Its hints are those of the worst of them.
func batchTool(view toolView) mcp.Tool {
	schema := batchSchema
	if len(view.vaults) > 1 {
		schema = strings.Replace(schema, `"atomic":{`, `"vault":{"type":"string"},"atomic":{`, 1)
	}
	t := mcp.NewToolWithRawSchema(batchName, batchDescription, json.RawMessage(schema))
	t.RawOutputSchema = json.RawMessage(batchOutputSchema)
	t.Annotations = mcp.ToolAnnotation{
		Title:           "Obsidian vault (batch)",
		ReadOnlyHint:    mcp.ToBoolPtr(!view.worst.Mutates()),
		DestructiveHint: mcp.ToBoolPtr(view.worst.WorseThan(tiers.Writes)),
		IdempotentHint:  mcp.ToBoolPtr(!view.worst.Mutates()),
		OpenWorldHint:   mcp.ToBoolPtr(view.sends),
	}
	return t
}

const batchDescription = `Runs obsidianCli commands in order. {"from":"c1","field":"path"} as a value inserts path, hash, stdout or change.id of an earlier result.`

// batchSchema leaves out what the decoder checks, to save tokens: the types of values and
// the number of operations. The description and that of obsidianCli explain the names.
const batchSchema = `{"type":"object","properties":{` +
	`"operations":{"type":"array","items":{"type":"object","properties":{` +
	`"clientId":{"type":"string"},"command":{"type":"string"},"params":{"type":"object","additionalProperties":true},` +
	`"expectHash":{"type":["string","object"]}},"required":["clientId","command"],"additionalProperties":false}},` +
	`"atomic":{"type":"boolean","description":"undo all if one fails"},"idempotencyKey":{"type":"string"}},` +
	`"required":["operations"],"additionalProperties":false}`

// batchOutputSchema requires no more than what the result of a panic has.
const batchOutputSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":true}`

// batch handles calls of obsidianBatch.
func (h handler) batch(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	batch, err := arguments.DecodeBatch(req.Params.RawArguments)
	if err != nil {
		return reply(gateway.RejectBatch(err), true)
	}
	ctx, stop := report(ctx, req)
	defer stop()
	batch.MaxOutput, batch.Keep, batch.Taken = h.MaxOutput, true, wire.PeerOf(ctx).AcceptedAt
	elicitation, ask := h.elicit(ctx, req.Params)
	batch.Ask, batch.Answers, batch.OneSession = ask, elicitation.answers(), oneSession(ctx)
	batch.Caller, batch.Client, batch.Surface = caller(ctx), clientName(ctx), surface(ctx)
	result := h.Gateway.DoBatch(ctx, batch)
	if question := elicitation.inputRequest(); question != nil {
		return question, nil
	}
	answer, failed := reply(marked(h, result), !result.OK)
	if failed != nil {
		return answer, failed
	}
	for _, done := range result.Results {
		if done.Result != nil {
			answer = withImage(answer, done.Result.Image)
		}
	}
	return answer, nil
}

// changesInBatch reports whether raw are the arguments of a batch that would change
// something. No arguments are valid for both tools.
func (h handler) changesInBatch(raw json.RawMessage) bool {
	batch, err := arguments.DecodeBatch(raw)
	return err == nil && h.Gateway.BatchChanges(batch)
}
