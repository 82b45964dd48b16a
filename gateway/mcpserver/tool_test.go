package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// gatewayWith returns a gateway without a vault and with a client that is not
// there: enough for everything that starts nothing.
func gatewayWith(t *testing.T, p policy.Policy) *gateway.Gateway {
	t.Helper()
	p.MinVersion = tiers.DefaultMinimum
	return gateway.New(gateway.Config{Policy: p, Vault: gateway.Vault{Name: "Work"},
		Runner: exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "obsidian"), Self: filepath.Join(t.TempDir(), "vaultwicket")})})
}

var (
	readOnly   = policy.Policy{Ceiling: tiers.V0, UI: true, Confirm: policy.ConfirmDestructive}
	writable   = policy.Policy{Ceiling: tiers.V0, UI: true, Mutations: true, Confirm: policy.ConfirmDestructive}
	everything = policy.Policy{Ceiling: tiers.V3, UI: true, Mutations: true, Publish: true, Confirm: policy.ConfirmNever}
)

// disabledCount changes with every command that is added.
var disabledCount = regexp.MustCompile(`\d+ more are disabled`)

// TestTheToolAsClientsSeeIt compares the whole description with a golden file.
func TestTheToolAsClientsSeeIt(t *testing.T) {
	for name, p := range map[string]policy.Policy{"tool-read-only": readOnly, "tool-everything": everything} {
		got := require.Value(json.MarshalIndent(cliTool(toolViewOf(gatewayWith(t, p))), "", "  "))(t)
		got = disabledCount.ReplaceAll(got, []byte("N more are disabled"))
		testenv.GoldenFile(t, filepath.Join("testdata", name+".json"), string(got)+"\n")
	}
}

// Claude Code cuts descriptions and instructions at 4,096 characters.
func TestDescriptionsAreNotCut(t *testing.T) {
	const most = 4096
	h := handler{Config: Config{Gateway: gatewayWith(t, everything), Toolsets: ToolsetNames()}, sealers: &lazySealer{}}
	assert.That(t, len(instructions) < most, "the instructions have %d characters", len(instructions))
	for _, tool := range require.Value(h.tools())(t) {
		length := len(tool.describe().Description)
		assert.That(t, 0 < length, "%s: the description has %d characters", tool.name, length)
		assert.That(t, length < most, "%s: the description has %d characters", tool.name, length)
	}
}

func TestTheHintsTellTheTruthAboutTheWorstOpenCall(t *testing.T) {
	type hints struct{ readOnly, destructive, idempotent, openWorld bool }
	tests := []struct {
		name   string
		policy policy.Policy
		want   hints
	}{
		{"read-only", readOnly, hints{true, false, true, false}},
		{"daily notes can be written", writable, hints{false, false, false, false}},
		{"everything is open", everything, hints{false, true, false, true}},
		{"addresses can be opened", policy.Policy{Ceiling: tiers.V3, UI: true, Publish: true}, hints{true, false, true, true}},
	}
	for _, tt := range tests {
		a := cliTool(toolViewOf(gatewayWith(t, tt.policy))).Annotations
		if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Fatalf("%s: a hint is left to the client", tt.name)
		}
		assert.Equal(t, (hints{*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint}), tt.want, "%s", tt.name)
	}
}

// TestTheToolFitsItsBudget bounds what every conversation pays. Four bytes
// count as a token; the aims are 700 tokens read-only and 1,750 with
// everything on.
func TestTheToolFitsItsBudget(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		tokens int
	}{{"read-only", readOnly, 700}, {"everything", everything, 1750}} {
		encoded := require.Value(json.Marshal(cliTool(toolViewOf(gatewayWith(t, tt.policy)))))(t)
		got := len(encoded) / 4
		assert.That(t, got <= tt.tokens, "%s: about %d tokens, want at most %d", tt.name, got, tt.tokens)
	}
}

func schema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	return require.Value(jsonschema.CompileString("schema.json", string(text)))(t)
}

// TestEveryAnswerFitsThePublishedSchema: clients built on one of the SDKs drop
// an answer that does not, a failure too.
func TestEveryAnswerFitsThePublishedSchema(t *testing.T) {
	published := schema(t, []byte(outputSchema))
	h := handler{Config: Config{Gateway: gatewayWith(t, everything), MaxOutput: 1 << 10}, sealers: &lazySealer{}}
	full := gateway.Result{OK: true, Command: "read", Stdout: "x", Backend: "obsidian", Vault: "Work", Path: "a.md", Hash: "0123456789abcdef",
		Truncated: &gateway.Truncated{ShownBytes: 1, TotalBytes: 2}, Notices: []string{"n"}}
	answers := map[string]func() (*mcp.CallToolResult, error){
		"a full result": func() (*mcp.CallToolResult, error) { return answer(full) },
		"a fault":       func() (*mcp.CallToolResult, error) { return answer(gateway.Fault("x")) },
	}
	for name, raw := range map[string]string{
		"no client":         `{"command":"daily:read"}`,
		"a bad value":       `{"command":"random:read","params":{"folder":".."}}`,
		"a restricted call": `{"command":"eval"}`,
		"no command":        `{}`,
		"an unknown key":    `{"command":"daily:read","x":1}`,
		"a dry run":         `{"command":"daily:append","params":{"content":"x"},"dryRun":true}`,
		"a denied dry run":  `{"command":"eval","dryRun":true}`,
	} {
		answers[name] = func() (*mcp.CallToolResult, error) {
			return h.call(context.Background(), newClient(),
				mcp.CallToolRequest{Params: mcp.CallToolParams{Name: toolName, RawArguments: json.RawMessage(raw)}})
		}
	}
	for name, get := range answers {
		result := require.Value(get())(t)
		structured := require.Value(excerpt.JSON(result.StructuredContent))(t)
		var content map[string]any
		require.NoError(t, json.Unmarshal([]byte(structured), &content))
		err := published.Validate(content)
		assert.That(t, err == nil, "%s does not fit: %v\n%s", name, err, structured)
		text := result.Content[0].(mcp.TextContent).Text
		assert.That(t, text == structured+"\n", "%s: the text %s is not the structured content %s", name, text, structured)
		assert.That(t, content["ok"] != result.IsError, "%s: ok %v with isError %v", name, content["ok"], result.IsError)
	}
}

// TestTheInputSchemaTakesWhatTheDecoderTakes checks both with the same
// arguments. The decoder is stricter where JSON Schema cannot say it.
func TestTheInputSchemaTakesWhatTheDecoderTakes(t *testing.T) {
	published := schema(t, cliTool(toolViewOf(gatewayWith(t, readOnly))).RawInputSchema)
	for raw, want := range map[string]bool{
		`{"command":"daily:read"}`:                                    true,
		`{"command":"random:read","params":{"folder":"a"}}`:           true,
		`{"command":"random","params":{"newtab":true,"folder":null}}`: true,
		`{"command":"daily:read","dryRun":true}`:                      true,
		`{}`:                                                          false,
		`{"command":1}`:                                               false,
		`{"command":"daily:read","x":1}`:                              false,
		`{"command":"random:read","params":{"folder":["a"]}}`:         false,
		`{"command":"daily:read","dryRun":"yes"}`:                     false,
	} {
		var content any
		require.NoError(t, json.Unmarshal([]byte(raw), &content))
		assert.Equal(t, published.Validate(content) == nil, want, "the schema takes %s", raw)
		_, refused := decodeCall(json.RawMessage(raw))
		assert.That(t, (refused == nil) == want, "the decoder takes %s: %v, want %v (%v)", raw, refused == nil, want, refused)
	}
}

func TestAPanicIsAnsweredWithAFixedTextAndLogged(t *testing.T) {
	var log strings.Builder
	broken := withTrace(slog.New(slog.NewTextHandler(&log, nil)), func(context.Context, *transport.Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic(errors.New("the text of a note"))
	})
	result, err := broken(context.Background(), newClient(), mcp.CallToolRequest{})
	require.NoError(t, err)
	require.That(t, result.IsError, "got %+v, %v", result, err)
	text := result.Content[0].(mcp.TextContent).Text
	assert.That(t, !strings.Contains(text, "the text of a note"), "the caller is told %s", text)
	assert.Contains(t, text, `"internal"`, "the caller is told %s", text)
	if strings.Contains(log.String(), "the text of a note") ||
		!strings.Contains(log.String(), "kind=*errors.errorString") || !strings.Contains(log.String(), "tool_test.go") {
		t.Errorf("the log contains %q", log.String())
	}
}

func TestADisabledServerListsNoTools(t *testing.T) {
	for _, disabled := range []bool{false, true} {
		gw := gatewayWith(t, everything)
		if disabled {
			gw.Disable()
		}
		d := newLocalServer(t, gw, nil)
		var list struct{ Tools []mcp.Tool }
		require.NoError(t, json.Unmarshal(d.ask("tools/list", "").Result, &list))
		assert.That(t, (len(list.Tools) == 0) == disabled, "disabled %v: %d tools", disabled, len(list.Tools))
		answer := string(d.ask("tools/call", `"name":"obsidianCli","arguments":{"command":"random:read"}`).Result)
		refused := strings.Contains(answer, `"code":"paused"`)
		assert.That(t, refused == disabled, "disabled %v: a call is answered with %s", disabled, answer)
	}
}
