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

// sessions has the open sessions, for the protocol versions with sessions. An id has 130 random bits,
// and is valid only with the token that it was issued for.
//
// At the limit, an idle session is evicted for a new one: one of the agent with the most sessions, and
// of the address with the most; among these first a session that was never used, and then the least
// recently used. So whoever abandons sessions, or opens very many, loses its own, regardless of the
// names that it reports.
type sessions struct {
	max    int
	idle   time.Duration
	opened func(*session)
	ended  func(*session)

	mu        sync.Mutex
	byID      map[string]*session
	idleCount uint64 // counts how often a session became idle; orders session.idleSince
	closed    bool
}

// client identifies who opened a session. It does not include the name that a client reports, which could be different
// each time.
type client struct {
	payer shares.Payer // the agent, "" if the token is not that of an agent
	host  shares.Payer // the network that it connects from
}

// session is an open session. It ends when it has been idle for too long, when its client ends it, or
// with the server. Its requests end with it.
type session struct {
	*Session
	id     string
	owner  owner
	client client
	caller string

	ctx context.Context // until the session ends
	end context.CancelFunc

	requests  int         // number of running requests
	timer     *time.Timer // ends the session when it has been idle for too long
	idleSince uint64      // value of sessions.idleCount when it became idle
	// turn counts the requests after the first. A timer that could not be stopped in time must not end the
	// session, so it compares turn.
	turn    int
	stream  context.CancelFunc // ends the notification stream, nil if there is none
	ongoing sync.Map           // running requests, as *cancellable
}

func newSessions(max int, idle time.Duration) *sessions {
	nothing := func(*session) {}
	return &sessions{max: max, idle: idle, opened: nothing, ended: nothing, byID: map[string]*session{}}
}

// begin opens a session whose first request is running; the caller must call [sessions.leave]. The
// error is errFull or errStopped.
func (s *sessions) begin(owner owner, client client) (*session, error) {
	id := rand.Text()
	x := &session{
		Session:  NewSession(),
		id:       id,
		owner:    owner,
		client:   client,
		caller:   callerOf("session", []byte(id)),
		requests: 1,
	}
	x.ctx, x.end = context.WithCancel(context.Background())
	evicted, err := s.add(x)
	if err != nil {
		x.end()
		return nil, err
	}
	if evicted != nil {
		evicted.end()
		s.ended(evicted)
	}
	s.opened(x)
	return x, nil
}

// add adds a session. It returns the session that was evicted for it, nil if there is none.
func (s *sessions) add(x *session) (evicted *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errStopped
	}
	busy := 0
	ofPayer := map[shares.Payer]int{x.client.payer: 1} // number of sessions per agent, including the new one
	ofClient := map[client]int{x.client: 1}            // the same per client
	working := map[shares.Payer]int{}                  // number of sessions per agent that are not idle
	for _, other := range s.byID {
		ofPayer[other.client.payer]++
		ofClient[other.client]++
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
		return nil, errFull // evicting an idle session of somebody else would be unfair
	}
	if len(s.byID) >= s.max {
		for _, other := range s.byID {
			if other.requests > 0 {
				continue
			}
			goesFirst := evicted == nil || 0 > cmp.Or(
				ofPayer[evicted.client.payer]-ofPayer[other.client.payer],
				ofClient[evicted.client]-ofClient[other.client],
				cmp.Compare(min(other.turn, wasUsed), min(evicted.turn, wasUsed)),
				cmp.Compare(other.idleSince, evicted.idleSince),
			)
			if goesFirst {
				evicted = other
			}
		}
		if evicted == nil {
			return nil, errFull
		}
		s.drop(evicted)
	}
	s.byID[x.id] = x
	return evicted, nil
}

// wasUsed is the minimum turn of a session that was used: its client reported that it is ready, and sent a request.
const wasUsed = 2

// everybody is a key for the total over all payers.
const everybody = shares.Payer("\x00everybody")

// drop removes a session. The caller holds mu.
func (s *sessions) drop(x *session) {
	delete(s.byID, x.id)
	if x.timer != nil {
		x.timer.Stop()
	}
}

// has reports whether there is a session with this id and owner.
func (s *sessions) has(id string, owner owner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	return x != nil && x.owner == owner
}

// enter begins a request in a session; the caller must call [sessions.leave]. It returns nil if there is
// no such session or it belongs to another owner; the client must not learn which.
func (s *sessions) enter(id string, owner owner) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if x == nil || x.owner != owner {
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
	x.requests--
	hasEnded := s.byID[x.id] != x
	if x.requests > 0 || hasEnded {
		return
	}
	s.idleCount++
	x.idleSince = s.idleCount
	turn := x.turn
	x.timer = time.AfterFunc(s.idle, func() { s.expire(x, turn) })
}

const anyTurn = -1

// finish ends a session, unless it has already ended.
func (s *sessions) finish(x *session) { s.expire(x, anyTurn) }

// expire ends a session if its turn is still the given one, or for anyTurn in any case.
func (s *sessions) expire(x *session, turn int) {
	s.mu.Lock()
	hasEnded := s.byID[x.id] != x
	wasUsedSince := turn != anyTurn && x.turn != turn
	if hasEnded || wasUsedSince {
		s.mu.Unlock()
		return
	}
	s.drop(x)
	s.mu.Unlock()
	x.end()
	s.ended(x)
}

// listen records the function that ends the stream of a session. A session has only one stream: if the
// client opens another, it has lost the first, so that is ended.
func (s *sessions) listen(x *session, cancel context.CancelFunc) {
	s.mu.Lock()
	previous := x.stream
	x.stream = cancel
	s.mu.Unlock()
	if previous != nil {
		previous()
	}
}

// close ends all sessions, and refuses further ones.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	open := slices.Collect(maps.Values(s.byID))
	s.mu.Unlock()
	for _, x := range open {
		s.finish(x)
	}
}

// cancellable is a running request that its client can cancel by its id (specification of 2025-11-25, section
// "Cancellation").
type cancellable struct {
	id  any // string or float64
	end func()
}

// callerOf returns a short, stable name for the holder of a secret, based on a digest. It is not a
// credential and may be logged. The kind of the secret is part of the digest, so that digests of
// different kinds never match.
//
// Up to protocol 2025-11-25 a client opens a session, and its caller is derived from the session id: two
// agents are different callers even if they share a token, and a caller ends with its session. Since
// 2026-07-28 there are no sessions, and a client could report any name, also that of another one. So its
// caller is derived from the token: all clients that share a token are one caller.
func callerOf(kind string, secret []byte) string {
	sum := sha256.Sum256(append([]byte("vaultwicket "+kind+"\x00"), secret...))
	return kind + "-" + hex.EncodeToString(sum[:8])
}
