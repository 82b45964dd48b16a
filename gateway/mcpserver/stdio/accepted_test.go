package stdio

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/mcpserver/message"
)

// The time that a call waits before it is handed over counts for its limit, and no
// client says how long that was.
func TestACallKnowsWhenItWasTakenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewRequests()
		begun := time.Now()
		if err := c.accept(message.Message{Kind: message.Request, ID: 1.0, Method: "tools/call"}, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		forged := http.Header{waitHeader: {"-1h"}}
		for _, header := range []http.Header{nil, forged} {
			req := mcp.CallToolRequest{Header: header}
			c.recordWait(1.0, &req)
			if got := AcceptedAt(t.Context(), req); !got.Equal(begun) {
				t.Errorf("taken in at %v, want %v", got, begun)
			}
		}
		other := mcp.CallToolRequest{Header: forged}
		c.recordWait(2.0, &other) // of which nothing is known, as over HTTP
		if got := AcceptedAt(t.Context(), other); !got.IsZero() {
			t.Errorf("a client has said %v", got)
		}
	})
}
