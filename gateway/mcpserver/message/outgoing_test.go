package message

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestReadOutgoing(t *testing.T) {
	acknowledged := mcp.JSONRPCNotification{JSONRPC: "2.0", Notification: mcp.Notification{
		Method: mcp.MethodNotificationSubscriptionsAcknowledged,
		Params: mcp.NotificationParams{Meta: map[string]any{mcp.MetaKeySubscriptionID: "s"}},
	}}
	for _, test := range []struct {
		name    string
		message any
		want    Outgoing
	}{
		{"a result", mcp.NewJSONRPCResultResponse(mcp.NewRequestId(5.0), map[string]any{"id": 6, "method": "x"}), Outgoing{Result, 5.0}},
		{"a result with an id of text", mcp.NewJSONRPCResultResponse(mcp.NewRequestId("result"), "x"), Outgoing{Result, "result"}},
		{"an error", mcp.NewJSONRPCError(mcp.NewRequestId(5.0), -1, "x", nil), Outgoing{Failure, 5.0}},
		{"an error for nobody", mcp.NewJSONRPCError(mcp.NewRequestId(nil), -1, "x", nil), Outgoing{Failure, nil}},
		{"an acknowledgement", acknowledged, Outgoing{Acknowledgement, "s"}},
		{"another notification", map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"id": 5}}, Outgoing{}},
		{"a request of the server", map[string]any{"id": 5, "jsonrpc": "2.0", "method": "elicitation/create"}, Outgoing{}},
	} {
		if got := ReadOutgoing(Encode(test.message)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	if got := ReadOutgoing([]byte("no message")); got != (Outgoing{}) {
		t.Errorf("garbage: %+v", got)
	}
}
