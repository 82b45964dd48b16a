package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"

	"go.uber.org/goleak"
)

// modernMeta makes a request one of the newer protocol.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// evening is the clock of these tests.
func evening() time.Time { return time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("", -5*3600)) }

// desk is a server that is asked without a transport.
type localServer struct {
	t      *testing.T
	server *transport.Server
	log    *strings.Builder
}

func newLocalServer(t *testing.T, gw *gateway.Gateway, change func(*handler)) localServer {
	t.Helper()
	log := &strings.Builder{}
	h := handler{Config: Config{Gateway: gw, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(log, nil)), Now: evening}, sealers: &lazySealer{}}
	if change != nil {
		change(&h)
	}
	s := require.Value(h.server())(t)
	return localServer{t, s, log}
}

// deskAnswer is an answer: a result, or an error with its code.
type localAnswer struct {
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
}

// newClient returns a client that has not introduced itself.
func newClient() *transport.Peer { return &transport.Peer{Session: transport.NewSession()} }

// respond has a server answer a message of a [newClient].
func respond(t *testing.T, s *transport.Server, message string) []byte {
	t.Helper()
	m := require.Value(transport.Decode([]byte(message)))(t)
	line, _ := s.Respond(context.Background(), newClient(), m)
	return line
}

func (d localServer) ask(method, params string) localAnswer {
	d.t.Helper()
	encoded := respond(d.t, d.server, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`)
	var a localAnswer
	require.NoError(d.t, json.Unmarshal(encoded, &a))
	return a
}

// read returns the text of a resource.
func (d localServer) read(uri string) string {
	d.t.Helper()
	a := d.ask("resources/read", `"uri":`+string(transport.Encode(uri)))
	var result struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	if err := json.Unmarshal(a.Result, &result); err != nil || len(result.Contents) != 1 {
		d.t.Fatalf("%s: %v: %s %+v", uri, err, a.Result, a.Error)
	}
	c := result.Contents[0]
	assert.That(d.t, c.MIMEType != "", "%s: %+v", uri, c)
	assert.That(d.t, c.URI != "", "%s: %+v", uri, c)
	return result.Contents[0].Text
}

// prompt returns the text of a prompt.
func (d localServer) prompt(name, arguments string) string {
	d.t.Helper()
	a := d.ask("prompts/get", `"name":"`+name+`","arguments":`+arguments)
	var result struct {
		Messages []struct {
			Role    string
			Content struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(a.Result, &result); err != nil || len(result.Messages) != 1 || result.Messages[0].Role != "user" {
		d.t.Fatalf("%s %s: %v: %s %+v", name, arguments, err, a.Result, a.Error)
	}
	return result.Messages[0].Content.Text
}

// closedRoom is a folder whose name no one may learn.
const hiddenFolder = "Ziggurat-9341"

// secretive returns a gateway on a vault with a folder that is hidden.
func secretive(t *testing.T) *gateway.Gateway {
	t.Helper()
	vault := filepath.Join(t.TempDir(), "Notes")
	require.NoError(t, os.MkdirAll(filepath.Join(vault, hiddenFolder), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(vault, hiddenFolder, hiddenFolder+".md"), []byte("# "+hiddenFolder+"\n"), 0o600))
	rules := require.Value(access.New(map[string]access.Level{"/": access.Write, hiddenFolder: access.None, hiddenFolder + "/Open": access.Read}))(t)
	p := policy.Policy{Ceiling: tiers.V2, Mutations: true, UI: true, Access: rules, MinVersion: tiers.DefaultMinimum,
		Origins: map[string]string{"access": "vault Notes in config.toml"}}
	return gateway.New(gateway.Config{Policy: p, Vault: gateway.Vault{Name: "Notes", Folder: vault},
		Runner: exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "obsidian"), Self: filepath.Join(t.TempDir(), "vaultwicket")})})
}

// TestHiddenNamesAreNowhere looks for a name that only the access rules and the
// folder know in everything that is told without a call.
func TestHiddenNamesAreNowhere(t *testing.T) {
	d := newLocalServer(t, secretive(t), nil)
	var all strings.Builder
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list", "tools/list"} {
		all.Write(d.ask(method, "").Result)
	}
	for _, uri := range []string{commandsURI, policyURI, statusURI} {
		all.WriteString(d.read(uri))
	}
	for _, name := range []string{"read", "search", "move", "files"} {
		all.WriteString(d.read(helpPrefix + name))
	}
	for _, name := range PromptNames() {
		all.WriteString(d.prompt(name, `{}`))
		for _, argument := range []string{"date", "days", "heading", "count", "min-age", "vault", "path", "folder"} {
			for _, typed := range []string{"", "Z", "Zig", hiddenFolder[:8]} {
				all.Write(d.ask("completion/complete",
					`"ref":{"type":"ref/prompt","name":"`+name+`"},"argument":{"name":"`+argument+`","value":"`+typed+
						`"}`).Result)
			}
		}
	}
	all.Write(d.ask("completion/complete", `"ref":{"type":"ref/resource","uri":"`+helpURI+`"},"argument":{"name":"command","value":"Z"}`).Result)
	assert.That(t, !strings.Contains(strings.ToLower(all.String()), strings.ToLower(hiddenFolder[:8])), "the hidden folder is named in\n%s", all.String())
	assert.That(t, all.Len() >= 20_000, "only %d bytes were looked at", all.Len())
}

// Nothing outlives Serve, so nothing is ignored.
func TestMain(m *testing.M) {
	testenv.UseMemory()
	testenv.WaitTogether()
	goleak.VerifyTestMain(m)
}
