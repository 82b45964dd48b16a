package transport

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"
)

// A server can send a request to the client of a call and use the response. What is not an
// answer is an error of the request, and nothing more.
func TestTheServerAsks(t *testing.T) {
	s := toy(t.Output(), func(ctx context.Context, client *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := Ask[mcp.CreateMessageResult](ctx, client, mcp.MethodSamplingCreateMessage, mcp.CreateMessageParams{MaxTokens: 1})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(result.Model), nil
	})
	s.Capabilities.Logging = &struct{}{}
	k, c := start(t, s, fake.Patience)
	k.Send(fake.Initialize, fake.Initialized, `{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"debug"}}`)
	k.Next()
	m := k.Next()
	level := (&Peer{Session: c.session}).LogLevel()
	require.Equal(t, m.ID, "level", "%+v, the level is %q", m, level)
	require.That(t, m.Error == nil, "%+v, the level is %q", m, level)
	assert.Equal(t, level, mcp.LoggingLevelDebug, "%+v, the level is %q", m, level)
	for response, want := range map[string]string{
		`"result":{"role":"assistant","content":{"type":"text","text":"x"},"model":"the model"}`: "the model",
		`"error":{"code":-1,"message":"not now"}`:                                                "not now",
		`"result":[]`: "response to sampling/createMessage",
	} {
		k.Send(call(1))
		asked := k.Next()
		k.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,%s}`, asked.ID, response))
		m := k.Next()
		assert.Equal(t, asked.Method, "sampling/createMessage", "%s", response)
		assert.Equal(t, m.ID, 1.0, "%s", response)
		assert.Contains(t, string(m.Result), want, "%s", response)
	}
	k.Send(call(2))
	k.Next()
	k.In.Close()
	m = k.Next()
	assert.That(t, strings.Contains(string(m.Result), ErrNoClient.Error()), "the input has ended: %s", m.Result)
}

// A stream is kept alive, and ends when nothing can be sent.
func TestNotificationsThatBelongToNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sent := toy(t.Output(), echo), []string(nil)
		p := &Peer{Session: NewSession()}
		p.introduce(mcp.ProtocolVersion20251125, clientInfo{})
		p.Send = func(line []byte) error {
			if sent = append(sent, string(line)); len(sent) == 3 {
				return ErrNoClient
			}
			return nil
		}
		stream := s.OpenStream(p.Session)
		s.Announce("notifications/test")
		stream.SendTo(t.Context(), p, time.Minute)
		got := strings.Join(sent, "\n")
		assert.Equal(t, sent[0], `{"jsonrpc":"2.0","method":"notifications/test"}`, "sent\n%s", got)
		assert.Equal(t, sent[1], `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "sent\n%s", got)
		assert.Equal(t, len(sent), 3, "sent\n%s", got)
		stream.Close()
		assert.Equal(t, len(s.streams.open), 0, "open streams")
	})
}

// A client that does not read what it is told misses some of it, and holds up no one.
func TestAStreamThatIsNotRead(t *testing.T) {
	s := toy(t.Output(), echo)
	session := NewSession()
	session.introduce(mcp.ProtocolVersion20251125, clientInfo{})
	stream := s.OpenStream(session)
	defer stream.Close()
	for range 2 * maxChanges {
		s.Announce("notifications/test")
	}
	assert.Equal(t, len(stream.changes), maxChanges, "waiting")
}

// On standard input a client is told of changes after its handshake, and by its subscriptions of those alone
// that it has asked for.
func TestWhoIsToldOfChanges(t *testing.T) {
	s := toy(t.Output(), echo)
	k, _ := start(t, s, fake.Patience)
	k.Send(listenFor(7, `"toolsListChanged":true,"promptsListChanged":true`))
	m := k.Next()
	served := string(Encode(m.Params["notifications"]))
	assert.Equal(t, m.Method, mcp.MethodNotificationSubscriptionsAcknowledged)
	assert.Equal(t, served, `{"toolsListChanged":true}`)
	told := func(want int) {
		t.Helper()
		s.Announce(mcp.MethodNotificationPromptsListChanged)
		s.Announce(mcp.MethodNotificationToolsListChanged)
		tagged := 0
		for range want {
			m := k.Next()
			meta, _ := m.Params["_meta"].(map[string]any)
			if meta[mcp.MetaKeySubscriptionID] == 7.0 {
				tagged++
				assert.Equal(t, m.Method, mcp.MethodNotificationToolsListChanged)
			}
		}
		assert.Equal(t, tagged, 1, "by the subscription")
	}
	told(1)
	k.Send(fake.Initialize, ping(1))
	k.Next()
	k.Next()
	told(3)
}

// What a request without a handshake says of its client is of that request alone.
func TestCapabilitiesAreOfOneRequest(t *testing.T) {
	k, _ := start(t, toy(t.Output(), func(_ context.Context, client *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		name, can := client.Client()
		return mcp.NewToolResultText(fmt.Sprintf("%s %v %v %s.", name, can.Elicitation != nil, client.Modern(), client.LogLevel())), nil
	}), fake.Patience)
	modern := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"` + mcp.MetaKeyProtocolVersion + `":"2026-07-28","` +
		mcp.MetaKeyClientInfo + `":{"name":"one","version":"1"},"` + mcp.MetaKeyClientCapabilities + `":{"elicitation":{}},"` + mcp.MetaKeyLogLevel + `":"info"}}}`
	for _, exchange := range []struct{ request, want string }{{call(1), " false false ."}, {modern, "one true true info."}, {call(1), " false false ."}} {
		k.Send(exchange.request)
		m := k.Next()
		assert.Contains(t, string(m.Result), `"text":"`+exchange.want, "%s", exchange.request)
	}
}

// Nothing outlives Serve, so nothing is ignored.
func TestMain(m *testing.M) {
	testenv.UseMemory()
	testenv.WaitTogether()
	goleak.VerifyTestMain(m)
}
