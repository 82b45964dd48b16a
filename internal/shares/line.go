package shares

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Line limits how much is done at once, and serves waiting callers fairly. The next place goes to the payer with the
// fewest places; among equals, to the one that recently had places for the shortest time; then to its caller by the
// same rules; then to who has waited longest. So a newcomer goes first. It is safe for concurrent use.
type Line struct {
	size int
	// onePerPayer limits each payer to one place.
	onePerPayer bool

	mu      sync.Mutex
	inUse   int
	payers  parties
	callers parties   // by caller name, which includes the payer
	waiting []*waiter // in order of arrival
}

// parties are the payers or callers that have a place, wait for one, or had one recently.
type parties struct {
	first      string // the first party that ever waited
	begun      bool
	hasSeveral bool // there was a second party
	accounts   map[string]*account
}

// account is the use of one party.
type account struct {
	running, waiting int
	began            []time.Time   // when its current places began, the oldest first
	had              time.Duration // how long it recently had places, decayed up to the time at
	at               time.Time
}

type waiter struct {
	payer, caller string
	ready         chan struct{} // closed when the waiter has a place
}

const (
	// halfLife is the time after which half of a party's earlier use is forgotten.
	halfLife = 10 * time.Second
	// negligible is the recent use below which a party counts as a newcomer.
	negligible = time.Millisecond
)

// NewLine returns a line with size places. If there are several payers, the last place is reserved for one that has
// none; if there is one payer with several callers, for a caller that has none.
func NewLine(size int) *Line {
	return &Line{size: size, payers: newParties(), callers: newParties()}
}

// NewQueues returns a line with size places, at most one for each payer: what one payer does is done sequentially.
func NewQueues(size int) *Line {
	return &Line{size: size, onePerPayer: true, payers: newParties(), callers: newParties()}
}

func newParties() parties { return parties{accounts: map[string]*account{}} }

// Acquire waits until there is a place for the caller, which pays as [Agent] defines. It reports whether it waited.
// The error is that of ctx; then there is nothing to release.
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
	if i < 0 { // it got its place at the same moment as ctx ended
		s.release(caller)
		return waited, ctx.Err()
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.payers.of(mine.payer).waiting--
	s.callers.of(mine.caller).waiting--
	s.forget(time.Now())
	return waited, ctx.Err()
}

// Release returns a place that [Line.Acquire] acquired.
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

// grant assigns free places to waiters.
func (s *Line) grant() {
	now := time.Now()
	for s.inUse < s.size {
		at := -1
		var next *waiter
		for i, w := range s.waiting {
			if s.mayStart(w) && (next == nil || s.isBefore(w, next, now)) {
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

// mayStart reports whether a waiter may have a place now. The last place is reserved for a party that has none, as
// long as there are several parties.
func (s *Line) mayStart(w *waiter) bool {
	party := s.payers.of(w.payer)
	if s.onePerPayer {
		return party.running == 0
	}
	if !s.payers.hasSeveral {
		party = s.callers.of(w.caller)
	}
	isAlone := !s.payers.hasSeveral && !s.callers.hasSeveral
	isWithinShare := party.running < max(1, s.size-1) && s.inUse < s.size-1
	return isAlone || party.running == 0 || isWithinShare
}

// isBefore reports whether waiter a gets a place before waiter b.
func (s *Line) isBefore(a, b *waiter, now time.Time) bool {
	return 0 > cmp.Or(
		s.payers.of(a.payer).compare(s.payers.of(b.payer), now),
		s.callers.of(a.caller).compare(s.callers.of(b.caller), now),
	)
}

// forget drops the accounts of parties that have no place, do not wait, and have negligible recent use.
func (s *Line) forget(now time.Time) {
	s.payers.forget(now)
	s.callers.forget(now)
}

func (p *parties) of(name string) *account {
	entry := p.accounts[name]
	if entry == nil {
		entry = &account{}
		p.accounts[name] = entry
	}
	return entry
}

// enter counts a party as waiting.
func (p *parties) enter(name string) {
	if !p.begun {
		p.begun = true
		p.first = name
	}
	p.hasSeveral = p.hasSeveral || name != p.first
	p.of(name).waiting++
}

func (p *parties) forget(now time.Time) {
	for name, entry := range p.accounts {
		if entry.running == 0 && entry.waiting == 0 && entry.recentUse(now) < negligible {
			delete(p.accounts, name)
		}
	}
}

// begin records that a waiting party got a place.
func (a *account) begin(now time.Time) {
	a.waiting--
	a.running++
	a.began = append(a.began, now)
}

// end records that a party returned its oldest place.
func (a *account) end(now time.Time) {
	a.had = a.recentUse(now) + now.Sub(a.began[0])
	a.at = now
	a.began = a.began[1:]
	a.running--
}

// recentUse returns for how long a party recently had places, decayed by half per [halfLife]. Current places are not
// included.
func (a *account) recentUse(now time.Time) time.Duration {
	if a.had == 0 {
		return 0
	}
	return time.Duration(float64(a.had) * math.Exp2(-float64(now.Sub(a.at))/float64(halfLife)))
}

// compare returns a negative number if the party a goes before other.
func (a *account) compare(other *account, now time.Time) int {
	return cmp.Or(a.running-other.running, cmp.Compare(a.recentUse(now), other.recentUse(now)))
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
