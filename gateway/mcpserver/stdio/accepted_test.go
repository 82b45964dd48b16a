package stdio

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/mcpserver/message"
)

// The time that a call waits before it is begun counts for its limit.
func TestACallKnowsWhenItWasTakenIn(t *testing.T) { eachWay(t, testACallKnowsWhenItWasTakenIn) }

func testACallKnowsWhenItWasTakenIn(t *testing.T, w way) {
	synctest.Test(t, func(t *testing.T) {
		c, told := NewRequests(), make(chan time.Time, 1)
		s := w.toy(c, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			told <- AcceptedAt(ctx)
			return mcp.NewToolResultText("x"), nil
		})
		c.beginCalls(t.Context(), s, &writer{out: io.Discard, requests: c}, logTo(t))
		begun := time.Now()
		line := []byte(call(1))
		m, err := message.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.accept(m, line); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		c.openSession(nil)
		if got := <-told; !got.Equal(begun) {
			t.Errorf("taken in at %v, want %v", got, begun)
		}
		c.stop()
		c.waitForCalls()
	})
	if got := AcceptedAt(t.Context()); !got.IsZero() {
		t.Errorf("a call that was not taken in was so at %v", got)
	}
}
