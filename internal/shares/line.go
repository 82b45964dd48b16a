package shares

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Line bounds what is done at once, and lets those who wait go on fairly: the next place is for the payer with the fewest
// places, among those for the one that has had places for the shortest time lately, then for its caller by the same, and
// then for who waits longest. So a newcomer goes before everybody who has had some. It is safe for concurrent use.
type Line struct {
	size int
	// isOneEach says that a payer has one place at most.
	isOneEach bool

	mu      sync.Mutex
	inUse   int
	payers  parties
	callers parties   // by their payers and names
	waiting []*waiter // in the order in which they came
}

// parties are those that have a place or wait, or had one lately.
type parties struct {
	first    string // that had a place
	begun    bool
	areMany  bool // there was a second one
	accounts map[string]*account
}

// account is what is known about one party.
type account struct {
	running, waiting int
	began            []time.Time   // of the places that it has, the oldest first
	had              time.Duration // how long it had places lately, as of at
	at               time.Time
}

type waiter struct {
	payer, caller string
	ready         chan struct{} // closed when it has its place
}

const (
	// halfOfTime is the time in which half of what somebody had is forgotten.
	halfOfTime = 10 * time.Second
	// forgotten is how little of it is as good as nothing.
	forgotten = time.Millisecond
)

// NewLine returns a line for so many at once. Where there are several payers, the last place is left to one that has none;
// where there is one with several callers, to one of those.
func NewLine(size int) *Line {
	return &Line{size: size, payers: newParties(), callers: newParties()}
}

// NewQueues returns a line for so many at once, each of another payer: what one payer does is done one after the other.
func NewQueues(size int) *Line {
	return &Line{size: size, isOneEach: true, payers: newParties(), callers: newParties()}
}

func newParties() parties { return parties{accounts: map[string]*account{}} }

// Acquire waits until there is a place for a caller, which pays as [Agent] says. It reports whether it waited. The error is
// that of ctx; nothing is to be released then.
func (s *Line) Acquire(ctx context.Context, caller string) (waited bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	mine := &waiter{payer: string(Agent(caller)), caller: caller, ready: make(chan struct{})}
	s.payers.enter(mine.payer)
	s.callers.enter(mine.caller)
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
	if i < 0 { // it got its place at the same moment
		s.release(caller)
		return waited, ctx.Err()
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.payers.of(mine.payer).waiting--
	s.callers.of(mine.caller).waiting--
	s.forget(time.Now())
	return waited, ctx.Err()
}

// Release gives back a place that [Line.Acquire] has given.
func (s *Line) Release(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(caller)
}

func (s *Line) release(caller string) {
	now := time.Now()
	s.payers.of(string(Agent(caller))).end(now)
	s.callers.of(caller).end(now)
	s.inUse--
	s.grant()
	s.forget(now)
}

// grant gives places while there are some.
func (s *Line) grant() {
	now := time.Now()
	for s.inUse < s.size {
		at := -1
		var next *waiter
		for i, w := range s.waiting {
			if s.mayHave(w) && (next == nil || s.isBefore(w, next, now)) {
				at = i
				next = w
			}
		}
		if next == nil {
			return
		}
		s.inUse++
		s.payers.of(next.payer).begin(now)
		s.callers.of(next.caller).begin(now)
		close(next.ready)
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
}

// mayHave reports whether who waits may have a place: the last one is kept for a party that has none, as long as there is
// more than one.
func (s *Line) mayHave(w *waiter) bool {
	party := s.payers.of(w.payer)
	if s.isOneEach {
		return party.running == 0
	}
	if !s.payers.areMany {
		party = s.callers.of(w.caller)
	}
	isAlone := !s.payers.areMany && !s.callers.areMany
	isWithinShare := party.running < max(1, s.size-1) && s.inUse < s.size-1
	return isAlone || party.running == 0 || isWithinShare
}

// isBefore reports whether one who waits gets a place before another.
func (s *Line) isBefore(one, other *waiter, now time.Time) bool {
	return 0 > cmp.Or(
		s.payers.of(one.payer).compare(s.payers.of(other.payer), now),
		s.callers.of(one.caller).compare(s.callers.of(other.caller), now),
	)
}

// forget drops accounts of parties that have no place, do not wait, and have had as good as nothing lately.
func (s *Line) forget(now time.Time) {
	s.payers.forget(now)
	s.callers.forget(now)
}

func (p *parties) of(name string) *account {
	known := p.accounts[name]
	if known == nil {
		known = &account{}
		p.accounts[name] = known
	}
	return known
}

// enter notes that a party waits.
func (p *parties) enter(name string) {
	if !p.begun {
		p.begun = true
		p.first = name
	}
	p.areMany = p.areMany || name != p.first
	p.of(name).waiting++
}

func (p *parties) forget(now time.Time) {
	for name, known := range p.accounts {
		if known.running == 0 && known.waiting == 0 && known.lately(now) < forgotten {
			delete(p.accounts, name)
		}
	}
}

// begin notes that a party which waited has a place, and end that it gives one back.
func (a *account) begin(now time.Time) {
	a.waiting--
	a.running++
	a.began = append(a.began, now)
}

func (a *account) end(now time.Time) {
	a.had = a.lately(now) + now.Sub(a.began[0])
	a.at = now
	a.began = a.began[1:]
	a.running--
}

// lately returns how long a party has had places lately, without those that it has.
func (a *account) lately(now time.Time) time.Duration {
	if a.had == 0 {
		return 0
	}
	return time.Duration(float64(a.had) * math.Exp2(-float64(now.Sub(a.at))/float64(halfOfTime)))
}

// compare returns what is negative if a party goes before another one.
func (a *account) compare(other *account, now time.Time) int {
	return cmp.Or(a.running-other.running, cmp.Compare(a.lately(now), other.lately(now)))
}

// Running returns how many places are taken.
func (s *Line) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inUse
}

// Waiting returns how many wait for a place.
func (s *Line) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}
