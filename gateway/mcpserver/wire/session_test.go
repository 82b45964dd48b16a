package wire

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/memory"
	"github.com/vaultwicket/vaultwicket/tests/talk"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"
)

// A server can send a request to the client of a call and use the response. What is not an
// answer is an error of the request, and nothing more.
func TestTheServerAsks(t *testing.T) {
	var s *Server
	s = plain.toy(t.Output(), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 it stands for any request that mcp-go sends to a client and waits for
		result, err := s.MCP.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 1}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(result.Model), nil
	}, server.WithLogging())
	s.MCP.EnableSampling()
	k, c := start(t, s, talk.Patience)
	k.Send(talk.Initialize, talk.Initialized, `{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"debug"}}`)
	k.Next()
	m := k.Next()
	assert.That(t, m.ID == "level" && m.Error == nil && c.session.GetLogLevel() == mcp.LoggingLevelDebug, "%+v, the level is %q", m, c.session.GetLogLevel())
	for response, want := range map[string]string{
		`"result":{"role":"assistant","content":{"type":"text","text":"x"},"model":"the model"}`: "the model",
		`"error":{"code":-1,"message":"not now"}`:                                                "not now",
		`"result":[]`: "response to sampling/createMessage",
	} {
		k.Send(call(1))
		asked := k.Next()
		k.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,%s}`, asked.ID, response))
		m := k.Next()
		assert.That(t, asked.Method == "sampling/createMessage" && m.ID == 1.0 && strings.Contains(string(m.Result), want), "%s: %s", response, m.Result)
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
		p, sent := &Peer{Session: NewSession("x")}, []string(nil)
		p.Send = func(line []byte) error {
			if sent = append(sent, string(line)); len(sent) == 3 {
				return ErrNoClient
			}
			return nil
		}
		p.NotificationChannel() <- mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: "notifications/test"}}
		p.SendNotifications(t.Context(), time.Minute)
		got := strings.Join(sent, "\n")
		assert.That(t, strings.Contains(sent[0], "notifications/test") && sent[1] == `{"jsonrpc":"2.0","id":1,"method":"ping"}` && len(sent) == 3, "sent\n%s", got)
	})
}

// Nothing of mcp-go outlives Listen, so nothing is ignored.
func TestMain(m *testing.M) {
	memory.Use()
	goleak.VerifyTestMain(m)
}
