package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func cancelled(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

// Requests of two sessions may have the same id. A cancellation reaches that of its
// own session and no other, and what it reaches gets no answer.
func TestACancellationStaysInItsSession(t *testing.T) {
	r := open(t, nil)
	mine, other := r.session(), r.session()
	toMine := r.begun(callHTTP(1, "block", "{}"), sessionHeader, mine)
	toOther := r.begun(callHTTP(1, "block", "{}"), sessionHeader, other)
	assert.Equal(t, r.post(cancelled(1), sessionHeader, mine).status, http.StatusAccepted)
	soon(t, "the end of my call", r.ended)
	answer := soon(t, "my answer", toMine)
	assert.That(t, isUnanswered(answer), "my call: %+v", answer)
	close(r.release)
	assert.Equal(t, soon(t, "the other answer", toOther).text(t), "released", "the other call")
}

// isUnanswered reports whether a request that was taken back got what it should: the
// end of a stream with nothing in it.
func isUnanswered(answer exchanged) bool {
	return answer.status == http.StatusOK && answer.header.Get("Content-Type") == eventStream && answer.body == ""
}

func TestACancellationNamesItsRequest(t *testing.T) {
	r := open(t, nil)
	session := r.session()
	named := func(message, id string) string { return strings.Replace(message, "7", id, 1) }
	begin := func() <-chan exchanged {
		return r.begun(named(callHTTP(7, "block", "{}"), `"1"`), sessionHeader, session)
	}
	cancel := func(id string) {
		t.Helper()
		assert.Equal(t, r.post(named(cancelled(7), id), sessionHeader, session).status, http.StatusAccepted, "%s", id)
	}
	answers := begin()
	cancel(`"1"`)
	answer := soon(t, "the answer", answers)
	assert.That(t, isUnanswered(answer), "%+v", answer)
	answers = begin()
	for _, other := range []string{"1", `"2"`, `"1 "`, `""`} {
		cancel(other)
	}
	close(r.release)
	assert.Equal(t, soon(t, "the answer", answers).text(t), "released")
	cancel(`"1"`) // it is over
}

// A call that has begun a stream, by telling or by asking something, ends with it.
func TestACancelledCallEndsItsStream(t *testing.T) {
	for _, tool := range []string{"chat", "ask"} {
		r := open(t, nil)
		session := r.session()
		stream := r.follow(http.MethodPost, callHTTP(1, tool, "{}"), sessionHeader, session)
		for line := ""; !strings.HasPrefix(line, "data: "); {
			line = soon(t, "the first event", stream.lines)
		}
		assert.Equal(t, r.post(cancelled(1), sessionHeader, session).status, http.StatusAccepted, "%s", tool)
		for open := true; open; {
			select {
			case line, more := <-stream.lines:
				open = more
				assert.Equal(t, line, "", "%s: after the cancellation came", tool)
			case <-time.After(patience):
				t.Fatalf("%s: the stream does not end", tool)
			}
		}
		text := r.post(callHTTP(1, "count", `{"to":0}`), sessionHeader, session).text(t)
		assert.That(t, text == "0", "%s: the session goes on with %q", tool, text)
	}
}

// Clients without sessions cannot cancel by message at all, neither each other's
// requests nor those of sessions.
func TestACancellationWithoutASessionIsSwallowed(t *testing.T) {
	r := open(t, nil)
	body, headers := modernCall(1, "block", "{}")
	modernAnswers := r.begun(body, headers...)
	id := r.session()
	legacyAnswers := r.begun(callHTTP(1, "block", "{}"), sessionHeader, id)
	body, headers = modern(0, "notifications/cancelled", `"requestId":1`)
	body = strings.Replace(body, `"id":0,`, "", 1)
	for _, more := range [][]string{nil, {sessionHeader, id}} {
		assert.Equal(t, r.post(body, append(headers, more...)...).status, http.StatusAccepted)
	}
	if answer := r.post(cancelled(1)); answer.status != http.StatusBadRequest { // an old one without its session
		t.Errorf("%+v", answer)
	}
	close(r.release)
	assert.Equal(t, soon(t, "an answer", modernAnswers).text(t), "released")
	assert.Equal(t, soon(t, "an answer in a session", legacyAnswers).text(t), "released")
}

func TestAConnectionThatBreaksCancelsItsCall(t *testing.T) {
	r := open(t, nil)
	id := r.session()
	modernBody, modernHeaders := modernCall(1, "block", "{}")
	for name, request := range map[string]func(context.Context){
		"legacy": func(ctx context.Context) {
			_, _ = r.try(ctx, http.MethodPost, endpoint, callHTTP(1, "block", "{}"), sessionHeader, id)
		},
		"modern": func(ctx context.Context) {
			_, _ = r.try(ctx, http.MethodPost, endpoint, modernBody, modernHeaders...)
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); request(ctx) }()
		soon(t, name, r.started)
		cancel()
		assert.ErrorIs(t, soon(t, name, r.ended), context.Canceled, "%s", name)
		<-done
	}
}

// Each request gets its own notifications, also while a stream of the session is open.
func TestNotificationsGoToTheirRequest(t *testing.T) {
	r := open(t, nil)
	id := r.session()
	stream := r.stream(id)
	defer stream.end()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 20 {
				checkCount(t, r.post(callHTTP(n, "count", fmt.Sprintf(`{"to":%d}`, n)), sessionHeader, id), n)
			}
		})
	}
	all.Wait()
}

// openStream is an answer that does not end by itself.
type openStream struct {
	lines chan string // closed at its end
	end   context.CancelFunc
}

// stream opens that of a session.
func (r *running) stream(id string) openStream {
	r.t.Helper()
	return r.follow(http.MethodGet, "", sessionHeader, id)
}

// follow sends a request and waits for the head of its answer.
func (r *running) follow(method, body string, headers ...string) openStream {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(r.request(ctx, method, endpoint, body, headers...))
	require.NoError(r.t, err)
	require.Equal(r.t, answer.StatusCode, http.StatusOK)
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		for s := bufio.NewScanner(answer.Body); s.Scan(); {
			lines <- s.Text()
		}
	}()
	r.t.Cleanup(func() {
		cancel()
		for range lines { // until it has ended
		}
	})
	return openStream{lines, cancel}
}

func TestAStreamCarriesWhatNoRequestAskedFor(t *testing.T) {
	r := open(t, nil)
	id := r.session()
	stream := r.stream(id)
	r.server.Announce("notifications/test")
	assert.Equal(t, soon(t, "the event", stream.lines), "event: message")
	assert.Contains(t, soon(t, "the event", stream.lines), "notifications/test")
}

// A panic answers its request and tells the client nothing, and the next request is
// served.
func TestAPanicIsNobodysBusiness(t *testing.T) {
	for _, params := range []string{`{"name":"panic"}`, `{"name":"panic","requestState":"x"}`} {
		var log fake.Log
		r := open(t, func(c *HTTPConfig) { c.Server.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		id := r.session()
		answer := r.post(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":`+params+`}`, sessionHeader, id)
		if answer.status != http.StatusOK || !strings.Contains(answer.body, `"error"`) ||
			!strings.Contains(answer.body, `"id":5`) || strings.Contains(answer.body, "secret") {
			t.Errorf("%+v", answer)
		}
		if text := log.String(); strings.Contains(text, "secret") || !strings.Contains(text, "panic=string") || !strings.Contains(text, "newToy") {
			t.Errorf("told %q", log.String())
		}
		who := r.post(callHTTP(1, "who", "{}"), sessionHeader, id).text(t)
		assert.That(t, who != "", "the session did not go on")
	}
}

func TestNoSecretReachesTheLog(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var log fake.Log
		r := open(t, func(c *HTTPConfig) { c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: level})) })
		id := r.session()
		r.post(`{"jsonrpc":"2.0","id":99,"result":{"x":1}}`, sessionHeader, id) // answers nothing
		r.send(http.MethodPost, endpoint, "", "Authorization", "Bearer "+otherToken)
		text := log.String()
		for _, secret := range []string{id, goodToken, otherToken} {
			assert.That(t, !strings.Contains(text, secret), "%v: %s", level, text)
		}
	}
}

// A probe that panics is not taken for one that says yes.
func TestAProbeThatPanics(t *testing.T) {
	var log fake.Log
	r := open(t, func(c *HTTPConfig) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.Ready = func() error { return []error{}[len(c.Addr)] }
	})
	answer := r.send(http.MethodGet, "/readyz", "")
	assert.Equal(t, answer.status, 500)
	assert.Equal(t, answer.body, "internal error\n")
	assert.Contains(t, log.String(), "index out of range", "told")
}

func TestProbes(t *testing.T) {
	var sick error
	r := open(t, func(c *HTTPConfig) {
		c.Ready = func() error { return sick }
		c.Metrics = func(w io.Writer, agent string) { fmt.Fprint(w, "calls 1"+agent) }
	})
	for _, test := range []struct {
		path, token, body string
		status            int
	}{
		{"/healthz?x=y", "", "ok\n", 200},
		{"/metrics", "", "Unauthorized\n", 401}, {"/metrics", "Bearer " + goodToken, "calls 1", 200},
	} {
		answer := r.send(http.MethodGet, test.path, "", "Authorization", test.token)
		assert.Equal(t, answer.status, test.status, "%s", test.path)
		assert.Equal(t, answer.body, test.body, "%s", test.path)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		answer := r.send(http.MethodPost, path, "")
		assert.Equal(t, answer.status, 405, "POST %s", path)
		assert.Equal(t, answer.header.Get("Allow"), "GET, HEAD", "POST %s", path)
	}
	sick = errors.New("no vault")
	answer := r.send(http.MethodGet, "/readyz", "")
	assert.Equal(t, answer.status, 503)
	assert.Equal(t, answer.body, "not ready: no vault\n")
	assert.Equal(t, open(t, nil).send(http.MethodGet, "/metrics", "").status, 404, "without metrics")
}
