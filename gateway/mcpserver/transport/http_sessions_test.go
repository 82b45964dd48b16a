package transport

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// offline is a handler without a network, for tests with a clock of their own.
type offline struct {
	*handler
	toy   *httpToy
	ended []string // callers
	mu    sync.Mutex
}

func newDirect(t *testing.T, change func(*HTTPConfig)) *offline {
	t.Helper()
	x := &offline{toy: newToy()}
	c := HTTPConfig{Server: x.toy.server, Token: goodToken, Ended: func(caller string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.ended = append(x.ended, caller)
	}}
	if change != nil {
		change(&c)
	}
	c = require.Value(c.complete())(t)
	h := require.Value(newHosts("localhost", nil, nil))(t)
	x.handler = require.Value(newHandler(c, h))(t)
	t.Cleanup(x.sessions.close)
	return x
}

// send sends a request and returns the answer, when there is one. Headers are
// pairs.
func (x *offline) send(ctx context.Context, method, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost/mcp", strings.NewReader(body))
	r.RequestURI, r.URL.Host, r.URL.Scheme = endpoint, "", ""
	r.Header.Set("Authorization", "Bearer "+goodToken)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	x.ServeHTTP(w, r)
	return w
}

func (x *offline) session(t *testing.T) string {
	t.Helper()
	w := x.send(t.Context(), http.MethodPost, initialize(legacyVersion))
	id := w.Header().Get(sessionHeader)
	require.Equal(t, w.Code, http.StatusOK, "initialize: %d %s", w.Code, w.Body)
	require.That(t, id != "", "initialize: %d %s", w.Code, w.Body)
	return id
}

func (x *offline) ping(t *testing.T, id string) int {
	return x.send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, id).Code
}

func TestAThousandIdleSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newDirect(t, func(c *HTTPConfig) { c.Idle = time.Hour })
		var ids []string
		for range defaultSessions {
			ids = append(ids, x.session(t))
		}
		time.Sleep(time.Hour - time.Second)
		assert.Equal(t, x.ping(t, ids[0]), http.StatusOK, "before its time is over")
		time.Sleep(time.Second)
		synctest.Wait()
		open := len(x.sessions.byID)
		assert.Equal(t, open, 1, "%d sessions are open, %d have ended", open, len(x.ended))
		assert.Equal(t, len(x.ended), defaultSessions-1, "%d sessions are open, %d have ended", open, len(x.ended))
		assert.Equal(t, x.ping(t, ids[0]), http.StatusOK, "not the idle ones ended")
		assert.Equal(t, x.ping(t, ids[1]), http.StatusNotFound, "not the idle ones ended")
		x.session(t) // there is room again
	})
}

// For one session more than there may be, the one that was idle for longest ends: of
// the client that has the most of them.
func TestTheLongestIdleSessionEndsForTheNext(t *testing.T) {
	const most = 10
	s := newSessions(most, time.Hour)
	defer s.close()
	open := func(name string) *session {
		t.Helper()
		x := require.Value(s.begin(owner{}, client{host: shares.Network(name)}))(t)
		s.leave(x)
		return x
	}
	is := func(x *session) bool { return s.has(x.id, owner{}) }
	a := []*session{open("a")}
	b := []*session{open("b"), open("b")}
	for len(a) < most-len(b) {
		a = append(a, open("a"))
	}
	s.leave(s.enter(a[0].id, owner{})) // so that it is not idle for longest
	c := open("c")
	require.That(t, !is(a[1]), "not the session of the largest client that was idle for longest has ended")
	require.That(t, is(a[0]), "not the session of the largest client that was idle for longest has ended")
	require.That(t, is(c), "not the session of the largest client that was idle for longest has ended")
	assert.Equal(t, len(s.byID), most, "not the session of the largest client that was idle for longest has ended")
	for range 5 * most {
		open("a") // which costs its own
	}
	require.That(t, is(b[0]), "a client with many sessions has ended those of others")
	require.That(t, is(b[1]), "a client with many sessions has ended those of others")
	assert.That(t, is(c), "a client with many sessions has ended those of others")
	assert.That(t, a[1].ctx.Err() != nil, "the session that ended goes on")
	assert.That(t, len(s.byID) == most, "%d sessions", len(s.byID))
}

// A session in which something is going on does not end for another one, and one
// client cannot have all of them.
func TestASessionInUseDoesNotEndForTheNext(t *testing.T) {
	const most = 10
	s := newSessions(most, time.Hour)
	defer s.close()
	for range most / 2 {
		require.Value(s.begin(owner{}, client{host: "a"}))(t)
	}
	_, err := s.begin(owner{}, client{host: "a"})
	assert.ErrorIs(t, err, errFull, "more than half for one client")
	for range most / 2 {
		require.Value(s.begin(owner{}, client{host: "b"}))(t)
	}
	_, err = s.begin(owner{}, client{host: "c"})
	assert.ErrorIs(t, err, errFull, "all are in use")
	assert.Equal(t, len(s.byID), most, "all are in use")
}

// Clients are told apart by the network that they connect from, and not by what they call themselves.
func TestClientsAreToldApart(t *testing.T) {
	from := func(address string) client { return clientOf("", &http.Request{RemoteAddr: address}) }
	assert.Equal(t, from("127.0.0.1:4711"), client{"", shares.Network("127.0.0.1")}, "an address")
	assert.Equal(t, from("[2001:db8::1]:1"), from("[2001:db8::ffff:2]:2"), "two addresses of one network")
	assert.That(t, from("192.0.2.1:1") != from("192.0.2.2:1"), "two addresses are one client")
	assert.Equal(t, from("@"), client{"", shares.Network("@")}, "a socket")
}

// TestAFloodOfNamesEndsNoSessionInUse: without agents, sessions in which nothing was asked end before one that is used,
// however long that rests.
func TestAFloodOfNamesEndsNoSessionInUse(t *testing.T) {
	const most = 1000
	s := newSessions(most, time.Hour)
	defer s.close()
	quiet := require.Value(s.begin(owner{}, client{host: "127.0.0.1"}))(t)
	s.leave(quiet)
	for range wasUsed { // it is ready, and asks for something
		s.leave(s.enter(quiet.id, owner{}))
	}
	for range most + 50 {
		s.leave(require.Value(s.begin(owner{}, client{host: "127.0.0.1"}))(t))
	}
	assert.That(t, s.has(quiet.id, owner{}), "the session in use has ended")
}

func TestASessionIsNotIdleWhileACallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newDirect(t, func(c *HTTPConfig) { c.Idle = time.Minute })
		id := x.session(t)
		done := make(chan int)
		go func() {
			done <- x.send(t.Context(), http.MethodPost, callHTTP(1, "block", "{}"), sessionHeader, id).Code
		}()
		<-x.toy.started
		time.Sleep(time.Hour)
		close(x.toy.release)
		assert.Equal(t, <-done, http.StatusOK, "the call")
		time.Sleep(59 * time.Second)
		assert.Equal(t, x.ping(t, id), http.StatusOK, "after the call")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, x.ping(t, id), http.StatusNotFound, "idle")
	})
}

// A timer that fires while a request comes in does not end the session.
func TestAnOldTimerEndsNothing(t *testing.T) {
	s := newSessions(1, time.Hour)
	defer s.close()
	x := require.Value(s.begin(owner{}, client{}))(t)
	s.leave(x)
	before := x.turn
	require.That(t, s.enter(x.id, owner{}) == x, "not entered")
	s.expire(x, before)
	s.leave(x)
	s.expire(x, before)
	assert.That(t, x.ctx.Err() == nil, "it ended")
	s.expire(x, x.turn)
	assert.That(t, x.ctx.Err() != nil, "it did not end")
}

func TestDeleteEndsASessionAndWhatRunsInIt(t *testing.T) {
	r := open(t, nil)
	id, other := r.session(), r.session()
	answers := r.begun(callHTTP(7, "block", "{}"), sessionHeader, id)
	assert.Equal(t, r.send(http.MethodDelete, endpoint, "", sessionHeader, id).status, http.StatusOK)
	assert.ErrorIs(t, soon(t, "the end of the call", r.ended), context.Canceled)
	answer := soon(t, "the answer", answers)
	assert.Equal(t, answer.status, http.StatusServiceUnavailable)
	assert.Contains(t, answer.body, `"id":7`)
	assert.Contains(t, answer.body, "is unknown")
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		assert.Equal(t, r.send(method, endpoint, callHTTP(1, "who", "{}"), sessionHeader, id).status,
			http.StatusNotFound, "%s with a session that has ended", method)
		assert.Equal(t, r.send(method, endpoint, callHTTP(1, "who", "{}"), sessionHeader, "MADEUP"+id).status,
			http.StatusNotFound, "%s with an invented session", method)
	}
	assert.That(t, r.post(callHTTP(1, "who", "{}"), sessionHeader, other).text(t) != "", "the other session ended too")
}

// A session belongs to the token it was opened with: who has another and knows the
// id can neither use nor end it, and does not learn that it exists.
func TestASessionCannotBeTakenOver(t *testing.T) {
	x := newDirect(t, nil)
	id := x.session(t)
	mine := x.bearer
	x.bearer = newBearer(otherToken, x.Log)
	ctx, cancel := context.WithTimeout(t.Context(), patience) // a stream that opens would not end
	defer cancel()
	theirs := []string{"Authorization", "Bearer " + otherToken, sessionHeader}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		stolen := x.send(ctx, method, callHTTP(1, "who", "{}"), append(theirs, id)...)
		invented := x.send(ctx, method, callHTTP(1, "who", "{}"), append(theirs, "INVENTED")...)
		if stolen.Code != http.StatusNotFound || stolen.Body.String() != invented.Body.String() || stolen.Code != invented.Code {
			t.Errorf("%s: %d %s, and of an invented one: %d %s", method, stolen.Code, stolen.Body, invented.Code, invented.Body)
		}
	}
	x.bearer = mine
	assert.Equal(t, x.ping(t, id), http.StatusOK, "the owner")
}

func TestASessionKeepsToItsProtocol(t *testing.T) {
	r := open(t, nil)
	id := r.post(initialize("2025-06-18")).header.Get(sessionHeader)
	for version, want := range map[string]int{"": 200, "2025-06-18": 200, "2025-11-25": 400, "2025-03-26": 400, "1999-01-01": 400} {
		assert.Equal(t, r.post(callHTTP(1, "who", "{}"), sessionHeader, id, "Mcp-Protocol-Version", version).status, want, "%q", version)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		answer := r.send(method, endpoint, "", sessionHeader, id, "Mcp-Protocol-Version", "2026-07-28")
		assert.Equal(t, answer.status, http.StatusMethodNotAllowed, "%s of a client without sessions: %+v", method, answer)
		assert.Equal(t, answer.header.Get("Allow"), http.MethodPost, "%s of a client without sessions: %+v", method, answer)
	}
	assert.Equal(t, r.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`).status, http.StatusBadRequest, "without a session")
}

// Whatever a client does that does not lead to an open session leaves none.
func TestAFailedInitializeLeavesNothing(t *testing.T) {
	x := newDirect(t, nil)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":3}}`,
		`{"jsonrpc":"1.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":null,"method":"initialize","params":{}}`,
	} {
		w := x.send(t.Context(), http.MethodPost, body)
		if id := w.Header().Get(sessionHeader); id != "" || len(x.sessions.byID) != 0 {
			t.Errorf("%s: %d %s, %d sessions, id %q", body, w.Code, w.Body, len(x.sessions.byID), id)
		}
	}
	for range 100 { // the end of the session must not pass for an interruption of the request
		w := x.send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":3}}`)
		require.Equal(t, w.Code, http.StatusOK)
		require.Contains(t, w.Body.String(), "unparsable initialize request")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	x.send(gone, http.MethodPost, initialize(legacyVersion))
	assert.That(t, len(x.sessions.byID) == 0, "%d sessions of a client that has gone", len(x.sessions.byID))
}

func TestSessionsAreToldOf(t *testing.T) {
	var opened, ended []string
	x := newDirect(t, func(c *HTTPConfig) {
		c.Opened = func(caller string) { opened = append(opened, caller) }
		c.Ended = func(caller string) { ended = append(ended, caller) }
	})
	id := x.session(t)
	x.send(t.Context(), http.MethodDelete, "", sessionHeader, id)
	x.session(t)
	x.sessions.close()
	assert.Equal(t, len(opened), 2, "opened %v, ended %v", opened, ended)
	assert.Equal(t, fmt.Sprint(opened), fmt.Sprint(ended), "opened %v, ended %v", opened, ended)
	assert.Equal(t, x.send(t.Context(), http.MethodPost, initialize(legacyVersion)).Code, http.StatusServiceUnavailable, "after the end")
}

func TestIdsAreLongAndDifferent(t *testing.T) {
	s := newSessions(3000, time.Hour)
	defer s.close()
	for range 1000 {
		x, err := s.begin(owner{}, client{})
		require.NoError(t, err)
		require.That(t, len(x.id) >= 26, "%q, %v", x.id, err)
	}
	assert.That(t, len(s.byID) == 1000, "%d ids", len(s.byID))
}

// A session that is open costs memory, and none when it has ended.
func TestMemoryOfSessions(t *testing.T) {
	x := newDirect(t, nil)
	used := func() int64 {
		runtime.GC()
		runtime.GC() // pools keep what they have for one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const sessions = 900
	round := func() (each int64) {
		before := used()
		var ids []string
		for range sessions {
			ids = append(ids, x.session(t))
		}
		each = (used() - before) / sessions
		for _, id := range ids {
			x.send(t.Context(), http.MethodDelete, "", sessionHeader, id)
		}
		x.ended = nil
		return each
	}
	// What grows once, as maps and pools do, is left out.
	each := min(round(), round())
	const most = 96 * sessions
	left := int64(math.MaxInt64) // what is left each time: other tests of the process leave something now and then
	until := time.Now().Add(20 * time.Second)
	for n := 0; (n < 30 || time.Now().Before(until)) && left > most; n++ {
		before := used()
		round()
		left = min(left, used()-before)
	}
	t.Logf("%d bytes a session, %d left of %d", each, left, sessions)
	assert.That(t, each <= 32<<10, "%d bytes a session, %d left of %d", each, left, sessions)
	assert.That(t, left <= most, "%d bytes a session, %d left of %d", each, left, sessions)
}

// TestSessionsAreOfAgents: however many clients an agent says to be, it loses sessions of its own, and its calls leave
// sessions to others.
func TestSessionsAreOfAgents(t *testing.T) {
	const most = 16
	s := newSessions(most, time.Hour)
	quiet := require.Value(s.begin(owner{}, client{"agent quiet", "127.0.0.1"}))(t)
	s.leave(quiet)
	for range 3 * most {
		x := require.Value(s.begin(owner{1}, client{"agent loud", "127.0.0.1"}))(t)
		s.leave(x)
	}
	assert.That(t, s.has(quiet.id, owner{}), "the session of another agent has ended")
	busy := 0
	for range 3 * most { // all of them have a call under way
		if _, err := s.begin(owner{1}, client{"agent loud", "127.0.0.1"}); err == nil {
			busy++
		}
	}
	assert.Equal(t, busy, most/2, "sessions with calls of one agent")
	require.Value(s.begin(owner{2}, client{"agent new", "127.0.0.1"}))(t)
	assert.That(t, s.has(quiet.id, owner{}), "the session of another agent has ended")
}
