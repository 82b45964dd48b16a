package gateway

import (
	"context"
	"slices"
	"sync"
)

// turns hands out the places of calls that run at once. Where calls wait, the next
// one is of the caller who has the fewest running, and among those of the one who
// was served the longest time ago: a caller with many calls waits for itself.
type turns struct {
	places int
	// share is how many places one caller has at most, so that there is one for the
	// next caller at once. It counts from the second caller on.
	share int

	mu      sync.Mutex
	first   string // caller
	shared  bool   // there was another one
	taken   int
	served  uint64
	callers map[string]*lineUp // that have a call running or waiting
	waiting []*turn            // in the order in which they came
}

// lineUp is what is known of one caller.
type lineUp struct {
	running, waiting int
	served           uint64 // when it last got a place, 0 for never
}

type turn struct {
	caller string
	ready  chan struct{} // closed when it has a place
}

// newTurns returns turns with that many places. One caller leaves one of them free
// for others, where there are several.
func newTurns(places int) *turns {
	return &turns{places: places, share: max(1, places-1), callers: map[string]*lineUp{}}
}

// acquire waits for a place of a caller as long as ctx lasts, and tells whether it
// had to.
func (t *turns) acquire(ctx context.Context, caller string) (waited bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	t.mu.Lock()
	t.meet(caller)
	mine := &turn{caller: caller, ready: make(chan struct{})}
	t.lineUp(caller).waiting++
	t.waiting = append(t.waiting, mine)
	t.next()
	t.mu.Unlock()
	select {
	case <-mine.ready:
	default:
		waited = true
	}
	select {
	case <-mine.ready:
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return waited, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, mine)
	if i < 0 { // it got its place in the same moment
		t.giveBack(caller)
		return waited, ctx.Err()
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.lineUp(caller).waiting--
	t.forget(caller)
	return waited, ctx.Err()
}

// release gives a place of a caller back.
func (t *turns) release(caller string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveBack(caller)
}

func (t *turns) giveBack(caller string) {
	t.taken--
	t.lineUp(caller).running--
	t.forget(caller)
	t.next()
}

// next hands out what is free.
func (t *turns) next() {
	for t.taken < t.places {
		best := -1
		for i, w := range t.waiting {
			if t.mayHave(w.caller) && (best < 0 || t.before(w.caller, t.waiting[best].caller)) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := t.waiting[best]
		t.waiting = slices.Delete(t.waiting, best, best+1)
		t.served++
		t.taken++
		l := t.lineUp(w.caller)
		l.running, l.waiting, l.served = l.running+1, l.waiting-1, t.served
		close(w.ready)
	}
}

func (t *turns) mayHave(caller string) bool {
	return !t.shared || t.lineUp(caller).running < t.share
}

// meet notes whether there are several callers.
func (t *turns) meet(caller string) {
	if t.served == 0 {
		t.first = caller
	}
	t.shared = t.shared || caller != t.first
}

func (t *turns) before(a, b string) bool {
	x, y := t.lineUp(a), t.lineUp(b)
	return x.running < y.running || x.running == y.running && x.served < y.served
}

func (t *turns) lineUp(caller string) *lineUp {
	l := t.callers[caller]
	if l == nil {
		l = &lineUp{}
		t.callers[caller] = l
	}
	return l
}

// forget drops a caller of whom nothing is going on.
func (t *turns) forget(caller string) {
	if l := t.lineUp(caller); l.running == 0 && l.waiting == 0 {
		delete(t.callers, caller)
	}
}

// running returns how many places are taken.
func (t *turns) running() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken
}
