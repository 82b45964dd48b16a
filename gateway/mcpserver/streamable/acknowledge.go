package streamable

import "context"

// Acknowledged waits until the client of subscriptions/listen has been told what it
// will hear of, or has gone. It is for a hook behind that request: where there is
// nothing to hear of, mcp-go has the answer ready at once, and drops the
// acknowledgement if the goroutine that delivers it comes second. Other requests
// must not wait here.
func Acknowledged(ctx context.Context) {
	r, ok := ctx.Value(responseKey{}).(*response)
	if !ok {
		return // it did not come through this door
	}
	select {
	case <-r.passed:
	case <-ctx.Done():
	}
}
