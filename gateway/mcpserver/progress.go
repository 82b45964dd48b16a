package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// progressInterval is the time between two progress notifications. Most calls end before
// the first one.
const progressInterval = time.Second

// report sends progress notifications with the elapsed seconds for a call that has a
// progress token. stop ends that and returns when no more notification will be sent:
// clients drop those that arrive after the result.
func (h handler) report(ctx context.Context, req mcp.CallToolRequest) (stop func()) {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for seconds := 1; ; seconds++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			err := h.notify(ctx, string(mcp.MethodNotificationProgress), map[string]any{
				"progressToken": req.Params.Meta.ProgressToken, "progress": seconds, "message": fmt.Sprintf("running for %d s", seconds),
			})
			if err != nil {
				return // the client has disconnected, or has cancelled the call
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
