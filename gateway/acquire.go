package gateway

import (
	"context"
	"errors"
	"time"
	"vaultwicket/gateway/semaphore"
)

// places are what a call has to have a place of while it runs. A call that changes
// something waits for the changes before it, and has no other place meanwhile; within a
// batch, the batch has that place.
func (g *door) places(plan Plan, by approved) []*semaphore.Semaphore {
	if plan.call.Effect().Mutates() && !by.inBatch {
		return []*semaphore.Semaphore{g.writing, g.slots}
	}
	return []*semaphore.Semaphore{g.slots}
}

// enter waits for a place behind each door, in their order, but no longer than
// ctx lasts, and not through a pause. leave gives the places back.
func (g *shared) enter(ctx context.Context, req Request, command string, doors ...*semaphore.Semaphore) (leave func(), err error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	var passed []*semaphore.Semaphore
	leave = func() {
		for _, door := range passed {
			door.Release(req.Caller)
		}
	}
	for _, door := range doors {
		waited, err := door.Acquire(ctx, req.Caller)
		if err != nil {
			leave()
			return nil, g.notBegun(err, command)
		}
		passed = append(passed, door)
		if !waited {
			continue
		}
		if err := g.admission.open(); err != nil {
			leave()
			return nil, err
		}
	}
	return leave, nil
}

// limited bounds how long a call may take from when it was taken in: waiting for its
// turn counts, the time in which a person was asked does not.
func (g *shared) limited(ctx context.Context, req Request, asking time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, req.Taken.Add(g.runner.Timeout()+asking))
}

// notBegun says why a call ended while it waited for its turn.
func (g *shared) notBegun(err error, command string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return refuse(codeTimeout, "nothing was changed; send fewer calls at once, or try again later",
			"command %q: the time limit of %v passed while the call waited for its turn", command, g.runner.Timeout())
	}
	return refuse(codeCancelled, "", "command %q: cancelled before it started", command)
}
