package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// progressEvery is how often a client hears that a call goes on. Most calls have
// ended before they would be told of once.
const progressEvery = time.Second

// report tells a client that gave a token that its call goes on: the seconds that
// it has taken. What is returned ends that, and comes back when nothing more will
// be said: clients drop what comes behind the answer.
func (h handler) report(ctx context.Context, req mcp.CallToolRequest) (stop func()) {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		ticker := time.NewTicker(progressEvery)
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
				return // the client has gone, or has cancelled the call
			}
		}
	}()
	return func() {
		cancel()
		<-silent
	}
}
