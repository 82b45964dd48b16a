package streamable

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"vaultwicket/gateway/mcpserver/wire"
)

var (
	errFull    = errors.New("too many sessions are open")
	errStopped = errors.New("the server is stopping")
)

// sessions are those of clients of the protocols that have them. An id is 130
// random bits, and good only for the token it was given to.
//
// Where there are too many, one in which nothing is going on ends for the next: the
// one that was idle for longest, of the client that has the most. So a client that
// leaves its sessions behind, or opens very many, costs its own and not those of
// others.
type sessions struct {
	max    int
	idle   time.Duration
	opened func(*session)
	ended  func(*session) // whatever is kept for it elsewhere is to go

	mu      sync.Mutex
	byID    map[string]*session
	clients map[client]int // how many sessions each has
	rests   uint64         // how often a session became idle
	closed  bool
}

// client tells the programs apart that share a token: by where they connect from and
// by the name that they give themselves.
type client struct{ host, name string }

// session is one of them. It ends when nothing was going on in it for a while,
// when its client says so, or with the server, and ends its requests with it.
type session struct {
	*wire.Session
	id     string
	owner  owner
	client client
	caller string

	version string // of the protocol that was agreed on; set before the id is given out

	ctx context.Context // until the session ends
	end context.CancelFunc

	requests int         // going on
	timer    *time.Timer // of the idle end, while there are none
	rested   uint64      // when it became idle, in the count of all
	turn     int         // of timers: one that was stopped too late must not end it
	stream   context.CancelFunc
	ongoing  ongoing
}

func newSessions(max int, idle time.Duration) *sessions {
	nothing := func(*session) {}
	return &sessions{max: max, idle: idle, opened: nothing, ended: nothing, byID: map[string]*session{}, clients: map[client]int{}}
}

// begin opens a session with its first request going on. The error is errFull or
// errStopped.
func (s *sessions) begin(by owner, from client, version string) (*session, error) {
	id := rand.Text()
	x := &session{Session: wire.NewSession(id), id: id, owner: by, client: from, caller: callerOf("session", []byte(id)), version: version, requests: 1}
	x.ctx, x.end = context.WithCancel(context.Background())
	out, err := s.add(x)
	if err != nil {
		x.end()
		return nil, err
	}
	if out != nil {
		out.end()
		s.ended(out)
	}
	s.opened(x)
	return x, nil
}

// add takes a session in, and returns the one that has to end for it.
func (s *sessions) add(x *session) (out *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errStopped
	case s.busy(x.client) >= max(1, s.max/2) && s.max > 1:
		return nil, errFull // in which something is going on, so none of them can end
	case len(s.byID) >= s.max:
		s.clients[x.client]++ // with the one that it wants
		out = s.surplus()
		s.release(x.client)
		if out == nil {
			return nil, errFull
		}
		s.drop(out)
	}
	s.byID[x.id] = x
	s.clients[x.client]++
	return out, nil
}

// busy counts the sessions of a client in which something is going on.
func (s *sessions) busy(of client) (n int) {
	if s.clients[of] < s.max/2 {
		return 0 // it does not matter
	}
	for _, x := range s.byID {
		if x.client == of && x.requests > 0 {
			n++
		}
	}
	return n
}

// surplus returns the session that can best be done without, nil where something is
// going on in all of them.
func (s *sessions) surplus() (out *session) {
	for _, x := range s.byID {
		switch {
		case x.requests > 0:
		case out == nil, s.clients[x.client] > s.clients[out.client]:
			out = x
		case s.clients[x.client] == s.clients[out.client] && x.rested < out.rested:
			out = x
		}
	}
	return out
}

// drop takes a session out. It is called under the lock.
func (s *sessions) drop(x *session) {
	delete(s.byID, x.id)
	s.release(x.client)
	if x.timer != nil {
		x.timer.Stop()
	}
}

func (s *sessions) release(c client) {
	if s.clients[c]--; s.clients[c] == 0 {
		delete(s.clients, c)
	}
}

// has reports whether there is a session of that owner.
func (s *sessions) has(id string, by owner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	return x != nil && x.owner == by
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
	s.rests++
	x.rested = s.rests
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
	s.drop(x)
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
