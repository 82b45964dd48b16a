package mcpserver

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// The time that a call waits before it is handed over counts for its limit, and no
// client says how long that was.
func TestACallKnowsWhenItWasTakenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		begun := time.Now()
		if err := c.take(message{kind: request, id: 1.0, method: "tools/call"}, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		forged := http.Header{waitedHeader: {"-1h"}}
		for _, header := range []http.Header{nil, forged} {
			req := mcp.CallToolRequest{Header: header}
			c.stamp(1.0, &req)
			if got := takenIn(req); !got.Equal(begun) {
				t.Errorf("taken in at %v, want %v", got, begun)
			}
		}
		other := mcp.CallToolRequest{Header: forged}
		c.stamp(2.0, &other) // of which nothing is known, as over HTTP
		if got := takenIn(other); !got.IsZero() {
			t.Errorf("a client has said %v", got)
		}
	})
}
