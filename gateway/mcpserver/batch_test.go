package mcpserver

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestTheBatchToolFitsItsBudget counts four bytes as a token, for what models
// are shown: name, description and input.
func TestTheBatchToolFitsItsBudget(t *testing.T) {
	got := (len(batchName) + len(batchDescription) + len(batchSchema)) / 4
	assert.That(t, got <= 170, "about %d tokens", got)
}

func TestAnswersOfABatchFitThePublishedSchema(t *testing.T) {
	published := schema(t, []byte(shortOutputSchema))
	h := handler{Config: Config{Gateway: gatewayWith(t, everything), MaxOutput: 1 << 10}, sealers: &lazySealer{}}
	for name, arguments := range map[string]string{
		"no arguments": `{}`,
		"no client":    `{"operations":[{"clientId":"a","command":"daily:read"}]}`,
		"refused":      `{"operations":[{"clientId":"a","command":"eval"}]}`,
		"a dry run":    `{"operations":[{"clientId":"a","command":"eval"}],"dryRun":true}`,
	} {
		result, err := h.batch(context.Background(), newClient(),
			mcp.CallToolRequest{Params: mcp.CallToolParams{Name: batchName, RawArguments: json.RawMessage(arguments)}})
		require.NoError(t, err)
		var content map[string]any
		structured := require.Value(excerpt.JSON(result.StructuredContent))(t)
		require.NoError(t, json.Unmarshal([]byte(structured), &content))
		err = published.Validate(content)
		require.Equal(t, err, nil, "%s: %v: %s", name, err, structured)
		require.That(t, result.IsError, "%s: %v: %s", name, err, structured)
		require.Equal(t, content["ok"], false, "%s: %v: %s", name, err, structured)
		assert.That(t, content["error"] != nil, "%s: %v: %s", name, err, structured)
		assert.Equal(t, result.Content[0].(mcp.TextContent).Text, structured+"\n", "%s: the text", name)
	}
}

func TestTheSchemaOfABatchTakesWhatTheDecoderTakes(t *testing.T) {
	published := schema(t, []byte(batchSchema))
	const op = `{"clientId":"c1","command":"daily:read"}`
	for raw, want := range map[string]bool{
		`{"operations":[` + op + `]}`:                true,
		`{"operations":[` + op + `],"atomic":true}`:  true,
		`{"operations":[` + op + `],"dryRun":true}`:  true,
		`{"operations":[` + op + `],"dryRun":1}`:     false,
		`{"operations":[` + op + `],"propose":true}`: true,
		`{"operations":[],"propose":"p-a"}`:          true,
		`{"operations":[` + op + `],"propose":1}`:    false,
		`{"operations":[{"clientId":"a","command":"read","params":{"path":{"from":"b","field":"path"}},"expectHash":"0"}]}`: true,
		`{}`:                                false,
		`{"operations":[{"clientId":"a"}]}`: false,
		`{"operations":[` + op + `],"x":1}`: false,
		`{"operations":[{"clientId":"a","command":"read","expectHash":1}]}`: false,
	} {
		var content any
		require.NoError(t, json.Unmarshal([]byte(raw), &content))
		_, err := DecodeBatch([]byte(raw))
		got := published.Validate(content) == nil
		assert.Equal(t, got, want, "%s: the schema %v, the decoder %v", raw, got, err)
		assert.Equal(t, err == nil, want, "%s: the schema %v, the decoder %v", raw, got, err)
	}
}

// A batch with a change keeps its place among the changes of a client.
func TestABatchKeepsTheOrderOfChanges(t *testing.T) {
	h := handler{Config: Config{Gateway: gatewayWith(t, everything)}, sealers: &lazySealer{}}
	for arguments, want := range map[string]bool{
		`{"command":"daily:append","params":{"content":"x"}}`:      true,
		`{"command":"daily:read"}`:                                 false,
		`{"operations":[{"clientId":"a","command":"daily:read"}]}`: false,
		`{"operations":[{"clientId":"a","command":"daily:read"},{"clientId":"b","command":"append","params":` + someReference + `}]}`: true,
		`{"operations":[{"clientId":"a","command":"eval"}]}`:                                                                          true,
		`{"operations":[],"x":1}`: false,
		`{}`:                      false,
	} {
		assert.Equal(t, h.mayChange(toolName, json.RawMessage(arguments)), want, "%s", arguments)
	}
}

const someReference = `{"content":"x","path":{"from":"a","field":"path"}}`
