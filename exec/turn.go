package exec

import (
	"context"
	"errors"
)

// turn is the right of one call to use the app, which answers one call at a time. It is
// used by one goroutine. nil is a turn that is somebody else's to begin and end.
type turn struct {
	r    *Runner
	held bool
}

// turn returns a turn that has not begun.
func (r *Runner) turn() *turn { return &turn{r: r} }

// begin waits until no other call uses the app. A turn that has begun and not ended goes
// on.
func (t *turn) begin(ctx context.Context) error {
	if t == nil || t.held {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return stoppedBy(err, t.r.config.Timeout, false)
	}
	t.r.queued.Add(1)
	defer t.r.queued.Add(-1)
	select {
	case t.r.queue <- struct{}{}:
		t.held = true
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &Stopped{code: CodeTimeout, reason: "the time limit passed while the call was queued: the app answers one call at a time",
				hint: "nothing was changed; try again later, with fewer calls at once"}
		}
		return stoppedBy(ctx.Err(), t.r.config.Timeout, false)
	}
}

// end lets the next call use the app. It may be called again.
func (t *turn) end() {
	if t != nil && t.held {
		t.held = false
		<-t.r.queue
	}
}
