package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/shares"
)

var (
	errFull    = errors.New("too many sessions, and all of them are active; end one with DELETE, or try again later")
	errStopped = errors.New("the server is stopping")
)

// sessions are the open sessions of the protocol versions that have them. An id has 130
// random bits, and is valid only with the token that it was issued for.
//
// At the limit an idle session is evicted for a new one: of the agent with the most, of the address with the most, first one
// in which nothing was asked since it was opened, and of those the least recently used (LRU). So whoever abandons sessions,
// or opens very many, loses its own, by whatever names.
type sessions struct {
	max    int
	idle   time.Duration
	opened func(*session)
	ended  func(*session)

	mu     sync.Mutex
	byID   map[string]*session
	rests  uint64 // how often a session became idle, the clock of the LRU order
	closed bool
}

// client is who opened a session. What a client says of itself is no part of it: it could be another name each time.
type client struct {
	payer shares.Payer // the agent, "" for the token of no agent
	host  shares.Payer // the network that it connects from
}

// session ends when it was idle for some time, when its client ends it, or with the server. Its
// requests end with it.
type session struct {
	*Session
	id     string
	owner  owner
	client client
	caller string

	ctx context.Context // until the session ends
	end context.CancelFunc

	requests int         // running
	timer    *time.Timer // of the idle end, while there are none
	rested   uint64      // when it became idle, in the count of all
	turn     int         // of timers: one that was stopped too late must not end it; 0 if nothing was asked since it was opened
	stream   context.CancelFunc
	ongoing  sync.Map // the requests, each a *cancellable
}

func newSessions(max int, idle time.Duration) *sessions {
	nothing := func(*session) {}
	return &sessions{max: max, idle: idle, opened: nothing, ended: nothing, byID: map[string]*session{}}
}

// begin opens a session with its first request running; [sessions.leave] must follow. The error
// is errFull or errStopped.
func (s *sessions) begin(by owner, from client) (*session, error) {
	id := rand.Text()
	x := &session{
		Session:  NewSession(),
		id:       id,
		owner:    by,
		client:   from,
		caller:   callerOf("session", []byte(id)),
		requests: 1,
	}
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

// add adds a session, and returns the one that is evicted for it, if any.
func (s *sessions) add(x *session) (out *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errStopped
	}
	busy := 0
	ofPayer := map[shares.Payer]int{x.client.payer: 1} // how many sessions each agent has, with the new one
	of := map[client]int{x.client: 1}                  // and each client
	working := map[shares.Payer]int{}                  // how many sessions of each agent are not idle
	for _, other := range s.byID {
		ofPayer[other.client.payer]++
		of[other.client]++
		if other.requests > 0 {
			working[other.client.payer]++
			working[everybody]++
		}
		if other.client == x.client && other.requests > 0 {
			busy++
		}
	}
	own := int64(working[x.client.payer])
	hasShare := x.client.payer == "" || shares.Half.Allows(int64(s.max), int64(working[everybody]), own, 1)
	if s.max > 1 && (busy >= max(1, s.max/2) || !hasShare) {
		return nil, errFull // none of them is idle
	}
	if len(s.byID) >= s.max {
		for _, other := range s.byID {
			if other.requests > 0 {
				continue
			}
			goesFirst := out == nil || 0 > cmp.Or(
				ofPayer[out.client.payer]-ofPayer[other.client.payer],
				of[out.client]-of[other.client],
				cmp.Compare(min(other.turn, wasUsed), min(out.turn, wasUsed)),
				cmp.Compare(other.rested, out.rested),
			)
			if goesFirst {
				out = other
			}
		}
		if out == nil {
			return nil, errFull
		}
		s.drop(out)
	}
	s.byID[x.id] = x
	return out, nil
}

// wasUsed is the turn from which on a session was used: its client has said that it is ready, and asked for something.
const wasUsed = 2

// everybody is in place of a payer for all of them.
const everybody = shares.Payer("\x00everybody")

// drop removes a session, with mu held.
func (s *sessions) drop(x *session) {
	delete(s.byID, x.id)
	if x.timer != nil {
		x.timer.Stop()
	}
}

// has reports whether there is a session of that owner.
func (s *sessions) has(id string, by owner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	return x != nil && x.owner == by
}

// enter begins a request in a session; [sessions.leave] must follow. It returns nil if there is
// no such session, or it belongs to another owner: the caller must not learn which.
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

const anyTurn = -1

// finish ends a session, once.
func (s *sessions) finish(x *session) { s.expire(x, anyTurn) }

// expire ends a session unless it was used since the timer of that turn began.
func (s *sessions) expire(x *session, turn int) {
	s.mu.Lock()
	if s.byID[x.id] != x || turn != anyTurn && x.turn != turn {
		s.mu.Unlock()
		return
	}
	s.drop(x)
	s.mu.Unlock()
	x.end()
	s.ended(x)
}

// listen records how to end the stream of a session. A session has one: a client that opens
// another has lost the first, which ends.
func (s *sessions) listen(x *session, cancel context.CancelFunc) {
	s.mu.Lock()
	before := x.stream
	x.stream = cancel
	s.mu.Unlock()
	if before != nil {
		before()
	}
}

// close ends all sessions, and refuses further ones.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.byID))
	s.mu.Unlock()
	for _, x := range all {
		s.finish(x)
	}
}

// cancellable is a running request, which the client of its session can cancel by its id (specification of
// 2025-11-25, "Cancellation").
type cancellable struct {
	id  any // string or float64
	end func()
}

// callerOf returns a stable, short name for the holder of a secret of a kind, safe for logs and
// no credential. The kind is part of the digest, so that no digest is valid for two kinds.
//
// Until protocol 2025-11-25 a client opens a session, and the caller is a digest of its id: two
// agents are two callers although they share a token, and a caller ends with its session. Since
// 2026-07-28 there are no sessions, and everything that a client says about itself is its own
// choice and could be the name of another. So the caller is a digest of the token: all clients of
// that protocol version that share a token are one caller.
func callerOf(kind string, secret []byte) string {
	sum := sha256.Sum256(append([]byte("vaultwicket "+kind+"\x00"), secret...))
	return kind + "-" + hex.EncodeToString(sum[:8])
}
