package admission

import (
	"context"
	"errors"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

type pastPause struct{}

// PastPause returns the context of a call that a pause does not keep: of the owner, who takes
// a change back.
func PastPause(ctx context.Context) context.Context { return context.WithValue(ctx, pastPause{}, true) }

// Acquire acquires a place in each of the lines for a caller, in their order. It waits until
// ctx is done, and not through a pause. release releases them.
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

// WithDeadline bounds how long a call may take since it was received: the time in which
// it waits counts, the time in which the user was asked does not.
func (a *Controller) WithDeadline(
	ctx context.Context,
	received time.Time,
	asking time.Duration,
) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, received.Add(a.timeout()+asking))
}

// NotStarted returns the error of a call that ended while it waited, by the error of its context.
func (a *Controller) NotStarted(err error, command string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return failure.New(failure.CodeTimeout, "nothing was changed; send fewer calls at once, or try again later",
			"command %q: the time limit of %v passed while the call waited for its turn", command, a.timeout())
	}
	return failure.New(failure.CodeCancelled, "", "command %q: cancelled before it started", command)
}
