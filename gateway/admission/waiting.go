package admission

import (
	"context"
	"errors"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

type pastPause struct{}

// PastPause returns the context of a call that runs even during a pause: the owner undoes a change.
func PastPause(ctx context.Context) context.Context { return context.WithValue(ctx, pastPause{}, true) }

// Acquire acquires a place in each of the lines for a caller, one after the other. It waits until ctx is done, and
// fails if the gateway is paused after a wait. The caller must call release.
func (a *Controller) Acquire(
	ctx context.Context,
	caller, command string,
	lines ...*shares.Line,
) (release func(), err error) {
	var acquired []*shares.Line
	release = func() {
		for _, line := range acquired {
			line.Release(caller)
		}
	}
	for _, line := range lines {
		waited, err := line.Acquire(ctx, caller)
		if err != nil {
			release()
			return nil, a.NotStarted(err, command)
		}
		acquired = append(acquired, line)
		if !waited {
			continue
		}
		if err := a.Open(); err != nil && ctx.Value(pastPause{}) == nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// WithDeadline bounds the time of a call since it was received. The time that it waits for its turn counts; the time
// for which the user was asked does not.
func (a *Controller) WithDeadline(
	ctx context.Context,
	received time.Time,
	asking time.Duration,
) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, received.Add(a.timeout()+asking))
}

// NotStarted returns the error for a call that ended while it waited. err is the error of its context.
func (a *Controller) NotStarted(err error, command string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return failure.New(failure.CodeTimeout, "nothing was changed; send fewer calls at once, or try again later",
			"command %q: the time limit of %v passed while the call waited for its turn", command, a.timeout())
	}
	return failure.New(failure.CodeCancelled, "", "command %q: cancelled before it started", command)
}
