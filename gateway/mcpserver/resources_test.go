package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// TestCommandsSayWhatIsClosedAndWhy compares the resource with what the policy says of
// each command, over several policies.
func TestCommandsSayWhatIsClosedAndWhy(t *testing.T) {
	for name, p := range map[string]policy.Policy{
		"nothing": {}, "read-only": readOnly, "writable": writable, "everything": everything,
		"one alone": {Ceiling: tiers.V1, EnableOnly: []string{"search"}}, "one less": {Ceiling: tiers.V1, Disable: []string{"search"}},
	} {
		gw := gatewayWith(t, p)
		var entries []gateway.CommandEntry
		decoder := json.NewDecoder(strings.NewReader(newLocalServer(t, gw, nil).read(commandsURI)))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&entries))
		listing := gw.Listing()
		require.Equal(t, len(entries), len(listing), "%s: %d commands, want %d", name, len(entries), len(listing))
		require.Equal(t, len(entries), len(allowlist.Names()), "%s: %d commands, want %d", name, len(entries), len(listing))
		for i, e := range entries {
			denial := listing[i].Denial
			closed := e.Code != "" && e.Rule != ""
			if e.Name != listing[i].Name || e.Signature == "" || e.Tier == "" || e.Effect == "" || e.Allowed != (denial == nil) || closed != (denial != nil) {
				t.Errorf("%s: %+v with %v", name, e, denial)
			}
			if denial != nil {
				assert.Equal(t, e.Code, denial.Code(), "%s: %+v", name, e)
				assert.Equal(t, e.Hint, denial.Hint(), "%s: %+v", name, e)
			}
		}
	}
}

// TestHelpIsThereForEveryCommand reads each help under both spellings.
func TestHelpIsThereForEveryCommand(t *testing.T) {
	d := newLocalServer(t, gatewayWith(t, readOnly), nil)
	for _, name := range allowlist.Names() {
		plain := d.read(helpPrefix + name)
		encoded := d.read(helpPrefix + strings.ReplaceAll(name, ":", "%3A"))
		assert.Equal(t, plain, encoded, "%s:\n%s\nand\n%s", name, plain, encoded)
		assert.That(t, strings.HasPrefix(plain, name), "%s:\n%s\nand\n%s", name, plain, encoded)
		assert.Contains(t, plain, "allowed", "%s:\n%s\nand\n%s", name, plain, encoded)
		for _, p := range require.Value(allowlist.Describe(name))(t).Params {
			assert.That(t, strings.Contains(plain, "\n  "+p.Name+" "), "%s: the parameter %s is missing in\n%s", name, p.Name, plain)
		}
	}
	text := d.read(helpPrefix + "daily:append")
	assert.That(t, strings.Contains(text, "the user can set allow-mutations to true"), "nothing says how to open it:\n%s", text)
}

// TestAddressesThatLeadNowhere are answered with the code that each era has for a
// missing resource, and never with more than a little of what was asked.
func TestAddressesThatLeadNowhere(t *testing.T) {
	d := newLocalServer(t, gatewayWith(t, readOnly), nil)
	for uri, says := range map[string]string{
		"":                                        "valid: vaultwicket://help/{command}",
		"vaultwicket://":                          "valid: vaultwicket://",
		"vaultwicket://statuss":                   "did you mean vaultwicket://status?",
		"vaultwicket://status/":                   "did you mean vaultwicket://status?",
		"vaultwicket://status?x=1":                "valid: vaultwicket://",
		"VAULTWICKET://status":                    "valid: vaultwicket://",
		"vaultwicket://help":                      "valid: vaultwicket://",
		"vaultwicket://help/Daily:read":           "did you mean vaultwicket://help/daily:read?",
		"vaultwicket://help/..%2F..%2Fetc/passwd": "lists the commands",
		"vaultwicket://help/%zz":                  "lists the commands",
		"vaultwicket://help/daily:read/x":         "lists the commands",
		"vaultwicket://help/daily:read?x":         "lists the commands",
		"vaultwicket://help/%00":                  "lists the commands",
		"vaultwicket://help/" + strings.Repeat("daily:read", 1000):  "the URI is too long",
		"vaultwicket://" + strings.Repeat("\x1b]0;title\x07", 1000): "the URI is too long",
		"vaultwicket://output/":                             "use the cursor",
		"vaultwicket://output/a%20b":                        "use the cursor",
		"vaultwicket://output/..%2F..%2F":                   "use the cursor",
		"vaultwicket://output/abc":                          "is not one of an answer; send the cursor",
		"vaultwicket://output/ABCDEFGHIJKLMNOPQRSTUVWXYZ.7": "is not kept any more; run the command again",
	} {
		for era, want := range map[string]int{"": -32002, "," + modernMeta: -32602} {
			a := d.ask("resources/read", `"uri":`+string(transport.Encode(uri))+era)
			assert.Equal(t, a.Error.Code, want, "%.60q%.6s", uri, era)
			assert.Contains(t, a.Error.Message, says, "%.60q%.6s", uri, era)
			if len(a.Error.Message) > 400 || strings.ContainsAny(a.Error.Message, "\x1b\x00\x07") || strings.Contains(a.Error.Message, "/home/me") {
				t.Errorf("%.60q: the answer is %q", uri, a.Error.Message)
			}
		}
	}
}

// TestPausedOrDisabled: what tells of no note is answered, what was read from notes
// is not.
func TestPausedOrDisabled(t *testing.T) {
	state := t.TempDir()
	paused := admission.PauseFile(filepath.Join(state, "vaultwicket"))
	require.NoError(t, os.MkdirAll(filepath.Dir(paused), 0o700))
	for _, disabled := range []bool{false, true} {
		p := readOnly
		p.MinVersion = tiers.DefaultMinimum
		gw := gateway.New(gateway.Config{Policy: p, Vault: gateway.Vault{Name: "Work"}, Disabled: disabled,
			Getenv: func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] },
			Runner: exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "obsidian"), Self: filepath.Join(t.TempDir(), "vaultwicket")})})
		d := newLocalServer(t, gw, nil)
		if !disabled {
			require.NoError(t, os.WriteFile(paused, nil, 0o600))
		} else if err := os.Remove(paused); err != nil {
			t.Fatal(err)
		}
		var status struct{ Enabled, Paused bool }
		require.NoError(t, json.Unmarshal([]byte(d.read(statusURI)), &status))
		assert.That(t, status.Enabled != disabled, "disabled %v: the status is %+v", disabled, status)
		assert.That(t, status.Paused != disabled, "disabled %v: the status is %+v", disabled, status)
		for _, uri := range []string{commandsURI, policyURI, helpPrefix + "read"} {
			assert.That(t, d.read(uri) != "", "disabled %v: %s is empty", disabled, uri)
		}
		a := d.ask("resources/read", `"uri":"vaultwicket://output/x"`)
		require.That(t, a.Result == nil, "disabled %v: output is answered with %s %+v", disabled, a.Result, a.Error)
		assert.Contains(t, a.Error.Message, "the user can", "disabled %v: output is answered with %s %+v", disabled, a.Result, a.Error)
	}
}

// TestPanicsOfReadersAreFixedErrors: the value of a panic goes to the log alone.
func TestPanicsOfReadersAreFixedErrors(t *testing.T) {
	var log strings.Builder
	broken := handler{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, sealers: &lazySealer{}} // without a gateway
	all := broken.resources()
	s := &transport.Server{
		Capabilities: capabilities(), Log: broken.Log, Complete: broken.completeArgument,
		ReadResource: func(ctx context.Context, client *transport.Peer, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return broken.readResource(ctx, all, client, req.Params.URI)
		},
		GetPrompt: func(context.Context, *transport.Peer, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			panic("the text of a note")
		},
	}
	for _, request := range []string{
		`"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"surprise-me"},"argument":{"name":"count","value":""}}`,
		`"method":"resources/read","params":{"uri":"` + statusURI + `"}`, `"method":"resources/read","params":{"uri":"` + outputPrefix + `x"}`,
		`"method":"prompts/get","params":{"name":"broken"}`,
	} {
		m := require.Value(transport.Decode([]byte(`{"jsonrpc":"2.0","id":1,` + request + `}`)))(t)
		answer, code := s.Respond(t.Context(), newClient(), m)
		assert.Equal(t, code, mcp.INTERNAL_ERROR, "%s", request)
		assert.Contains(t, string(answer), "internal error; please report it, the log has the details", "%s", request)
	}
	n := strings.Count(log.String(), "a call panicked")
	assert.Equal(t, n, 4, "the log has the panic %d times:\n%s", n, log.String())
	assert.That(t, !strings.Contains(log.String(), "the text of a note"), "the log has the panic %d times:\n%s", n, log.String())
}

// completion is an answer to completion/complete.
type completion struct {
	Values  []string
	Total   int
	HasMore bool
}

func (d localServer) complete(ref, argument, value, more string) completion {
	d.t.Helper()
	a := d.ask("completion/complete", `"ref":{`+ref+`},"argument":{"name":"`+argument+`","value":`+string(transport.Encode(value))+`}`+more)
	var result struct{ Completion *completion }
	if err := json.Unmarshal(a.Result, &result); err != nil || result.Completion == nil || result.Completion.Values == nil {
		d.t.Fatalf("%s %s %.40q: %v %s %+v", ref, argument, value, err, a.Result, a.Error)
	}
	return *result.Completion
}

const (
	helpRef    = `"type":"ref/resource","uri":"vaultwicket://help/{command}"`
	morningRef = `"type":"ref/prompt","name":"morning-review"`
)

func TestCompletion(t *testing.T) {
	d := newLocalServer(t, gatewayWith(t, readOnly), nil)
	for _, tt := range []struct {
		name, ref, argument, value string
		want                       string // the values
	}{
		{"names by their beginning, then by what is in them", helpRef, "command", "base",
			"[bases base:views base:create base:query base:check base:eval base:set base:add-view base:set-view base:remove-view base:set-formula]"},
		{"a capital letter means nothing", helpRef, "command", "DAILY:R", "[daily:read daily:range]"},
		{"what is in the middle", helpRef, "command", ":append", "[daily:append periodic:append]"},
		{"a long text", helpRef, "command", strings.Repeat("read", 2500), "[]"},
		{"another variable", helpRef, "id", "r", "[]"},
		{"another template", `"type":"ref/resource","uri":"vaultwicket://output/{id}"`, "id", "", "[]"},
		{"an address", `"type":"ref/resource","uri":"vaultwicket://help/read"`, "command", "", "[]"},
		{"words for days", morningRef, "date", "y", "[yesterday today]"},
		{"days by their beginning", morningRef, "date", "2026-10-2",
			"[2026-10-29 2026-10-28 2026-10-27 2026-10-26 2026-10-25 2026-10-24 2026-10-23 2026-10-22 2026-10-21]"},
		{"one vault is no choice", morningRef, "vault", "", "[]"},
	} {
		for _, era := range []string{"", "," + modernMeta} {
			got := d.complete(tt.ref, tt.argument, tt.value, era)
			assert.Equal(t, fmt.Sprint(got.Values), tt.want, "%s", tt.name)
			assert.Equal(t, got.Total, len(got.Values), "%s", tt.name)
			assert.That(t, !got.HasMore, "%s: %+v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestCompletionOfEverythingSaysThatThereIsMore: the protocol takes a hundred
// values, and there are more commands.
func TestCompletionOfEverythingSaysThatThereIsMore(t *testing.T) {
	got := newLocalServer(t, gatewayWith(t, readOnly), nil).complete(helpRef, "command", "", "")
	names := allowlist.Names()
	if len(got.Values) != 100 || got.Total != len(names) || !got.HasMore || !slices.Equal(got.Values, names[:100]) {
		t.Errorf("%d values, total %d, more %v", len(got.Values), got.Total, got.HasMore)
	}
}
