package streamable

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

var (
	errFull    = errors.New("too many sessions are open")
	errStopped = errors.New("the server is stopping")
)

// sessions are those of clients of the protocols that have them. An id is 130
// random bits, and good only for the token it was given to.
type sessions struct {
	max    int
	idle   time.Duration
	opened func(*session)
	ended  func(*session) // whatever is kept for it elsewhere is to go

	mu     sync.Mutex
	byID   map[string]*session
	closed bool
}

// session is one of them. It ends when nothing was going on in it for a while,
// when its client says so, or with the server, and ends its requests with it.
type session struct {
	id     string
	owner  owner
	caller string

	version string // of the protocol that was agreed on; set before the id is given out

	ctx context.Context // until the session ends
	end context.CancelFunc

	requests int         // going on
	timer    *time.Timer // of the idle end, while there are none
	turn     int         // of timers: one that was stopped too late must not end it
	stream   context.CancelFunc
	ongoing  ongoing
}

func newSessions(max int, idle time.Duration) *sessions {
	nothing := func(*session) {}
	return &sessions{max: max, idle: idle, opened: nothing, ended: nothing, byID: map[string]*session{}}
}

// begin opens a session with its first request going on. The error is errFull or
// errStopped.
func (s *sessions) begin(by owner, version string) (*session, error) {
	id := rand.Text()
	x := &session{id: id, owner: by, caller: callerOf("session", []byte(id)), version: version, requests: 1}
	x.ctx, x.end = context.WithCancel(context.Background())
	if err := s.add(x); err != nil {
		x.end()
		return nil, err
	}
	s.opened(x)
	return x, nil
}

func (s *sessions) add(x *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errStopped
	case len(s.byID) >= s.max:
		return errFull
	}
	s.byID[x.id] = x
	return nil
}

// enter begins a request in a session; [sessions.leave] must follow. It is nil
// when there is none with this id, or it is somebody else's: that is the same to
// who asks.
func (s *sessions) enter(id string, by owner) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if x == nil || x.owner != by {
		return nil
	}
	x.requests++
	x.turn++
	if x.timer != nil {
		x.timer.Stop()
	}
	return x
}

// leave ends a request of a session.
func (s *sessions) leave(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.requests--; x.requests > 0 || s.byID[x.id] != x {
		return
	}
	turn := x.turn
	x.timer = time.AfterFunc(s.idle, func() { s.expire(x, turn) })
}

// expire ends a session unless something has happened in it since.
func (s *sessions) expire(x *session, turn int) {
	s.remove(x, func() bool { return x.turn == turn })
}

// finish ends a session, once.
func (s *sessions) finish(x *session) {
	s.remove(x, func() bool { return true })
}

// remove ends a session if it is open and the condition holds, which is asked
// under the lock.
func (s *sessions) remove(x *session, holds func() bool) {
	s.mu.Lock()
	if s.byID[x.id] != x || !holds() {
		s.mu.Unlock()
		return
	}
	delete(s.byID, x.id)
	if x.timer != nil {
		x.timer.Stop()
	}
	s.mu.Unlock()
	x.end()
	s.ended(x)
}

// listen makes cancel the end of the stream of a session. It has one: a client
// that opens another has lost the first, which ends.
func (s *sessions) listen(x *session, cancel context.CancelFunc) {
	s.mu.Lock()
	before := x.stream
	x.stream = cancel
	s.mu.Unlock()
	if before != nil {
		before()
	}
}

// close ends all sessions; no other begins.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	var all []*session
	for _, x := range s.byID {
		all = append(all, x)
	}
	s.mu.Unlock()
	for _, x := range all {
		s.finish(x)
	}
}
