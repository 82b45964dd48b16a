package mcpserver

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/exec/progress"
	"vaultwicket/gateway/mcpserver/wire"
)

// progressInterval is the time between two progress notifications. Most calls end before
// the first one.
const progressInterval = time.Second

// report sends progress notifications for a call that has a progress token: how far it has
// come where that is known, and the elapsed seconds. The call is to be made with the context
// that report returns. stop ends the notifications and returns when no more will be sent:
// clients drop those that arrive after the result.
func report(ctx context.Context, req mcp.CallToolRequest) (_ context.Context, stop func()) {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return ctx, func() {}
	}
	var latest atomic.Pointer[progress.Count]
	counted := progress.With(ctx, func(c progress.Count) { latest.Store(&c) })
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for p := (rising{}); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			params := p.next(latest.Load())
			params["progressToken"] = req.Params.Meta.ProgressToken
			if err := wire.Notify(ctx, string(mcp.MethodNotificationProgress), params); err != nil {
				return // the client has disconnected, or has cancelled the call
			}
		}
	}()
	return counted, func() {
		cancel()
		<-done
	}
}

// rising makes the parameters of one notification after the other. The protocol wants
// progress to rise with each; a count that does not is in the message alone.
type rising struct{ seconds, progress int }

// next returns the parameters for one more second. The count is nil where none is known.
func (r *rising) next(count *progress.Count) map[string]any {
	r.seconds++
	message := fmt.Sprintf("running for %d s", r.seconds)
	if count == nil {
		r.progress++
		return map[string]any{"progress": r.progress, "message": message}
	}
	params := map[string]any{"message": message + ", " + count.String()}
	if count.Done > r.progress {
		r.progress = count.Done
		params["total"] = count.Total
	} else {
		r.progress++
	}
	params["progress"] = r.progress
	return params
}
