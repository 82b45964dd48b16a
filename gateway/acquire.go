package gateway

import (
	"context"
	"errors"
	"time"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/semaphore"
)

// places are what a call has to have a place of while it runs. A call that changes
// something waits for the changes before it, and has no other place meanwhile; within a
// batch, the batch has that place.
func (g *vaultGateway) places(plan Plan, by approved) []*semaphore.Semaphore {
	if plan.call.Effect().Mutates() && !by.inBatch {
		return []*semaphore.Semaphore{g.writing, g.running}
	}
	return []*semaphore.Semaphore{g.running}
}

// acquire acquires each of the semaphores, in their order, but waits no longer than
// ctx lasts, and not through a pause. leave gives the places back.
func (g *shared) acquire(ctx context.Context, req Request, command string, semaphores ...*semaphore.Semaphore) (release func(), err error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	var acquired []*semaphore.Semaphore
	release = func() {
		for _, s := range acquired {
			s.Release(req.Caller)
		}
	}
	for _, s := range semaphores {
		waited, err := s.Acquire(ctx, req.Caller)
		if err != nil {
			release()
			return nil, g.notStarted(err, command)
		}
		acquired = append(acquired, s)
		if !waited {
			continue
		}
		if err := g.admission.open(); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// withDeadline bounds how long a call may take from when it was taken in: waiting for its
// resolveCursor counts, the time in which a person was asked does not.
func (g *shared) withDeadline(ctx context.Context, req Request, asking time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, req.Taken.Add(g.runner.Timeout()+asking))
}

// notStarted says why a call ended while it waited for its turn.
func (g *shared) notStarted(err error, command string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return failure.New(failure.CodeTimeout, "nothing was changed; send fewer calls at once, or try again later",
			"command %q: the time limit of %v passed while the call waited for its turn", command, g.runner.Timeout())
	}
	return failure.New(failure.CodeCancelled, "", "command %q: cancelled before it started", command)
}
