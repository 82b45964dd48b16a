package exec

import (
	"context"
	"sync"
)

// Hold is the right of one call to hold a large answer. A [Runner] gives it to one
// call at a time: each large answer is megabytes, and a few callers could
// otherwise fill the memory of a machine. A program with a large answer waits
// for it, up to the time limit of its call.
//
// Whoever keeps the text of an [Outcome] for longer than the call of Run puts a
// Hold into its context, and releases it with the text.
type Hold struct {
	semaphore chan struct{} // of the Runner

	mu   sync.Mutex
	held bool
}

// Hold returns a Hold that has nothing yet.
func (r *Runner) Hold() *Hold { return &Hold{semaphore: r.large} }

type holdKey struct{}

// WithHold has the programs of a call keep their large answer under h. One program
// at a time may run under a Hold; the text of the one before is to be dropped.
func WithHold(ctx context.Context, h *Hold) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// Release gives the right back, if it is held.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.held = false
		<-h.semaphore
	}
}

// take waits for the right as long as ctx lasts.
func (h *Hold) take(ctx context.Context) bool {
	if h == nil {
		return true // a program that answers no call, such as a probe
	}
	h.mu.Lock() // the other stream of the program may be waiting
	defer h.mu.Unlock()
	if h.held {
		return true
	}
	select {
	case h.semaphore <- struct{}{}:
		h.held = true
	case <-ctx.Done():
	}
	return h.held
}

// holding has a program run under a Hold: that of its call, or one of its own. What
// an earlier program of the same call has left is given back: a call must not wait
// for its turn while others wait for the end of it.
func (r *Runner) holding(ctx context.Context) (held context.Context, end func()) {
	if h := holdOf(ctx); h != nil {
		h.Release()
		return ctx, func() {}
	}
	h := r.Hold()
	return WithHold(ctx, h), h.Release
}

func holdOf(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{}).(*Hold)
	return h
}
