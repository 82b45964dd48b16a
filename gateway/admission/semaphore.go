package admission

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Semaphore bounds the calls that run at once, fairly: the next waiting call is of the caller with
// the fewest running calls, and among those of the one served the longest time ago. It is safe for
// concurrent use.
type Semaphore struct {
	size int
	// share is how many calls of one caller run at most, so that the next caller does
	// not have to wait. It counts from the second caller on.
	share int

	mu      sync.Mutex
	first   string // caller
	shared  bool   // there was a second one
	inUse   int
	served  uint64
	callers map[string]*callerState // that have a call running or waiting
	waiting []*waiter               // in the order in which they came
}

// callerState is what is known about one caller.
type callerState struct {
	running, waiting int
	served           uint64 // when a call of it was last let run, 0 for never
}

type waiter struct {
	caller string
	ready  chan struct{} // closed when it may run
}

// NewSemaphore returns a semaphore for size calls at once. Where there are several callers, the last
// place is left to one that has no call running.
func NewSemaphore(size int) *Semaphore {
	return &Semaphore{size: size, share: max(1, size-1), callers: map[string]*callerState{}}
}

// NewQueues returns a semaphore for size calls at once, each of another caller: those of one caller run one after the
// other, in the order in which they came.
func NewQueues(size int) *Semaphore {
	return &Semaphore{size: size, share: 1, shared: true, callers: map[string]*callerState{}}
}

// Acquire waits until a call of a caller may run. It reports whether it waited. The error is that
// of ctx; nothing is to be released then.
func (s *Semaphore) Acquire(ctx context.Context, caller string) (waited bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	if s.served == 0 {
		s.first = caller
	}
	s.shared = s.shared || caller != s.first
	mine := &waiter{caller: caller, ready: make(chan struct{})}
	s.of(caller).waiting++
	s.waiting = append(s.waiting, mine)
	s.grant()
	waited = slices.Contains(s.waiting, mine)
	s.mu.Unlock()
	select {
	case <-mine.ready:
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return waited, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, mine)
	if i < 0 { // it was let run at the same moment
		s.releaseLocked(caller)
		return waited, ctx.Err()
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.of(caller).waiting--
	s.forget(caller)
	return waited, ctx.Err()
}

// Release ends a call that [Semaphore.Acquire] let run.
func (s *Semaphore) Release(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseLocked(caller)
}

func (s *Semaphore) releaseLocked(caller string) {
	s.inUse--
	s.of(caller).running--
	s.forget(caller)
	s.grant()
}

// isBefore reports whether a caller gets a place before another one, which may be nil: who has fewer running, and then who
// got one less recently.
func (l *callerState) isBefore(other *callerState) bool {
	switch {
	case other == nil:
		return true
	case l.running != other.running:
		return l.running < other.running
	}
	return l.served < other.served
}

// grant lets calls run while there is room.
func (s *Semaphore) grant() {
	for s.inUse < s.size {
		at := -1
		var best *callerState
		for i, w := range s.waiting {
			l := s.of(w.caller)
			// The last place is kept for a caller that has none running, as long as there is more than one.
			isWithinShare := l.running < s.share && s.inUse < s.size-1
			mayRun := !s.shared || l.running == 0 || isWithinShare
			if mayRun && l.isBefore(best) {
				at = i
				best = l
			}
		}
		if best == nil {
			return
		}
		s.served++
		s.inUse++
		best.running = best.running + 1
		best.waiting = best.waiting - 1
		best.served = s.served
		close(s.waiting[at].ready)
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
}

func (s *Semaphore) of(caller string) *callerState {
	l := s.callers[caller]
	if l == nil {
		l = &callerState{}
		s.callers[caller] = l
	}
	return l
}

// forget drops a caller without a call that runs or waits.
func (s *Semaphore) forget(caller string) {
	if l := s.of(caller); l.running == 0 && l.waiting == 0 {
		delete(s.callers, caller)
	}
}

// Running returns how many calls run.
func (s *Semaphore) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inUse
}

// Waiting returns how many calls wait to run.
func (s *Semaphore) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

type pastPause struct{}

// PastPause returns the context of a call that a pause does not keep: of the owner, who takes
// a change back.
func PastPause(ctx context.Context) context.Context { return context.WithValue(ctx, pastPause{}, true) }

// Acquire acquires each of the semaphores for a caller, in their order. It waits until
// ctx is done, and not through a pause. release releases them.
func (a *Controller) Acquire(
	ctx context.Context,
	caller, command string,
	semaphores ...*Semaphore,
) (release func(), err error) {
	caller = cmp.Or(ownerfiles.AgentOf(caller), caller) // an agent is one, however many sessions it has
	var acquired []*Semaphore
	release = func() {
		for _, s := range acquired {
			s.Release(caller)
		}
	}
	for _, s := range semaphores {
		waited, err := s.Acquire(ctx, caller)
		if err != nil {
			release()
			return nil, a.NotStarted(err, command)
		}
		acquired = append(acquired, s)
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
