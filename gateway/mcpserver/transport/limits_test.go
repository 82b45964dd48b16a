package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// pipes is a listener of connections in memory, whose deadlines keep to the clock of
// the test.
type pipes struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{calls: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.calls <- theirs
	return ours
}

// inBubble runs a test with a server on pipes.
func inBubble(t *testing.T, change func(*HTTPConfig), test func(t *testing.T, x *offline, p *pipes, stop func() error)) {
	synctest.Test(t, func(t *testing.T) {
		x := newDirect(t, change)
		p := newPipes()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- x.serve(ctx, httpguard.NewConnLimiter(p, x.MaxConnections), nil) }()
		stop := sync.OnceValue(func() error { cancel(); return <-done })
		test(t, x, p, stop)
		_ = stop()
	})
}

const goodHead = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + goodToken +
	"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

// block makes a call in a session, and waits until it runs.
func (x *offline) block(c net.Conn, id string) {
	body := callHTTP(1, "block", "{}")
	_, _ = fmt.Fprintf(c, "%sMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", goodHead, id, len(body), body)
	<-x.toy.started
}

// drip writes text and then nothing, and returns the status of the answer, and when
// the connection had ended.
func drip(t *testing.T, p *pipes, text string) (status int, after time.Duration) {
	t.Helper()
	begin := time.Now()
	c := p.dial()
	defer c.Close()
	go func() { _, _ = io.WriteString(c, text) }()
	status, _ = readAnswer(bufio.NewReader(c))
	_, _ = io.Copy(io.Discard, c)
	return status, time.Since(begin)
}

func TestSlowClientsAreNotWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name, text string
		status     int
		within     time.Duration
	}{
		{"nothing at all", "", 0, httpguard.HeadLimit},
		{"a head that does not end", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ", 0, httpguard.HeadLimit},
		{"a body that does not come", goodHead + "Content-Length: 100\r\n\r\n", 408, bodyLimit + time.Second},
		{"a body that does not end", goodHead + "Content-Length: 100\r\n\r\n{\"jsonrpc\"", 408, bodyLimit + time.Second},
		{"chunks that do not end", goodHead + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"jso\r\n", 408, bodyLimit + time.Second},
		{"a body that does not come, without the token", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 401, unreadLimit + time.Second},
		{"a body that does not come, from a wrong name", "POST /mcp HTTP/1.1\r\nHost: evil\r\nContent-Length: 100\r\n\r\n", 403, unreadLimit + time.Second},
		{"nothing after an answer", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200, httpguard.IdleLimit},
		{"nothing after a refusal", "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, httpguard.IdleLimit},
	} {
		inBubble(t, nil, func(t *testing.T, x *offline, p *pipes, stop func() error) {
			status, after := drip(t, p, test.text)
			assert.Equal(t, status, test.status, "%s: %d after %v, want %d within %v", test.name, status, after, test.status, test.within)
			assert.That(t, after <= test.within, "%s: %d after %v, want %d within %v", test.name, status, after, test.status, test.within)
			used := x.budget.budget()
			assert.That(t, used == 0, "%s: %d bytes are still held", test.name, used)
		})
	}
}

// A client with a poor line is waited for.
func TestASlowBodyIsRead(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		c := p.dial()
		defer c.Close()
		body := initialize(legacyVersion)
		_, _ = fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", goodHead, len(body), body[:10])
		time.Sleep(bodyLimit - time.Second) // of the fake clock
		go func() { _, _ = io.WriteString(c, body[10:]) }()
		status, text := readAnswer(bufio.NewReader(c))
		assert.Equal(t, status, http.StatusOK, "%s", text)
	})
}

// A client that does not read its answer costs its call, not more, also when the
// callHTTP does not care for what becomes of its notifications.
func TestAnAnswerThatNobodyReads(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		body, headers := modernCall(1, "chat", "{}")
		head := goodHead
		for i := 0; i < len(headers); i += 2 {
			head += headers[i] + ": " + headers[i+1] + "\r\n"
		}
		c := p.dial()
		defer c.Close()
		_, _ = fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
		assert.ErrorIs(t, <-x.toy.ended, context.Canceled)
		synctest.Wait()
		x.running.Wait() // the bubble ends in a deadlock while the call still runs
	})
}

// A call may take longer than a body or an answer, and a stream may be silent for
// longer than either.
func TestLimitsAreNotThoseOfTheCall(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		id := x.session(t)
		stream := p.dial()
		defer stream.Close()
		_, _ = io.WriteString(stream, strings.Replace(goodHead, "POST", "GET", 1)+"Mcp-Session-Id: "+id+"\r\n\r\n")
		events := bufio.NewReader(stream)
		line, err := events.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "200")
		told := make(chan struct{}, 1)
		go func() {
			for {
				line, err := events.ReadString('\n')
				if strings.Contains(line, "notifications/test") {
					told <- struct{}{}
				}
				if err != nil {
					return
				}
			}
		}()

		c := p.dial()
		defer c.Close()
		answers := bufio.NewReader(c)
		for range 2 { // the second on the same connection, after the deadlines of the first
			x.block(c, id)
			time.Sleep(10 * time.Minute) // of the fake clock
			x.toy.release <- struct{}{}
			_, text := readAnswer(answers)
			assert.Contains(t, text, "released")
		}
		x.toy.server.Announce("notifications/test")
		<-told // or the stream has ended
		assert.That(t, x.streams.Count() == 1, "%d streams", x.streams.Count())
	})
}

// endlessly repeats a byte.
type endlessly byte

func (e endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestLongBodiesCostNothing(t *testing.T) {
	r := open(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// A length that is said is believed before anything is read.
	assert.Equal(t, statusOf(r.raw(goodHead+"Content-Length: 1073741824\r\n\r\n", false)), http.StatusRequestEntityTooLarge, "1 GB that is said")
	// One that is not said is read up to the limit.
	q := r.request(t.Context(), http.MethodPost, endpoint, "")
	q.Body, q.ContentLength = io.NopCloser(io.LimitReader(endlessly(' '), 1<<30)), -1
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(q)
	if err == nil {
		answer.Body.Close()
		assert.Equal(t, answer.StatusCode, http.StatusRequestEntityTooLarge, "1 GB in chunks")
	}
	runtime.ReadMemStats(&after)
	used := after.TotalAlloc - before.TotalAlloc
	assert.That(t, used <= 64<<20, "allocated %d bytes", used)
}

func TestTheLimitOfABodyIsExact(t *testing.T) {
	t.Parallel()
	r := open(t, func(c *HTTPConfig) { c.MaxBody = 200 })
	id := r.session()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for size, want := range map[int]int{200: 200, 201: 413} {
		body := ping + strings.Repeat(" ", size-len(ping))
		assert.Equal(t, r.post(body, sessionHeader, id).status, want, "%d bytes", size)
		chunked := fmt.Sprintf("%sMcp-Session-Id: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", goodHead, id, size, body)
		assert.Equal(t, statusOf(r.raw(chunked, false)), want, "%d bytes in a chunk", size)
	}
}

// Bodies that do not come cost others nothing, however many there are, and whether
// they have sent little or nearly all.
func TestLargeBodiesShareTheirRoom(t *testing.T) {
	inBubble(t, func(c *HTTPConfig) { c.MaxBody = 1000 }, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		for name, part := range map[string]string{"little": "{", "nearly all": "{" + strings.Repeat(" ", 998)} {
			var holders []net.Conn
			for range parts + 1 {
				c := p.dial()
				holders = append(holders, c)
				_, _ = io.WriteString(c, goodHead+"Content-Length: 1000\r\n\r\n"+part)
			}
			time.Sleep(stalledAfter) // of the fake clock
			w := x.send(t.Context(), http.MethodPost, initialize(legacyVersion))
			assert.That(t, w.Code == http.StatusOK, "%s: %d %s", name, w.Code, w.Body)
			for _, c := range holders {
				c.Close()
			}
			synctest.Wait()
			used := x.budget.budget()
			assert.Equal(t, used, 0, "%s: %d bytes are held at the end", name, used)
			assert.Equal(t, len(x.budget.incoming), 0, "%s: %d bytes are held at the end", name, used)
			assert.Equal(t, len(x.budget.bySender), 0, "%s: %d bytes are held at the end", name, used)
		}
		id := x.session(t)

		// A short one in chunks, whose length is not known beforehand, takes only its
		// own while it is worked on.
		body := callHTTP(1, "block", "{}")
		c := p.dial()
		defer c.Close()
		_, _ = fmt.Fprintf(c, "%sMcp-Session-Id: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", goodHead, id, len(body), body)
		<-x.toy.started
		used := x.budget.budget()
		assert.That(t, used == int64(len(body)), "%d bytes are held for %d", used, len(body))
	})
}

func TestHugeHeads(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	for name, text := range map[string]string{
		"one header":   "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
		"many headers": "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: y\r\n", 64<<10) + "\r\n",
		"the target":   "GET /" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, statusOf(r.raw(text, true)), http.StatusRequestHeaderFieldsTooLarge)
		})
	}
}

// Where two readers could see different ends of a request, there is no second
// request on the connection.
func TestNoRequestIsSmuggled(t *testing.T) {
	r := open(t, nil)
	const second = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, text := range map[string]string{
		"two lengths":               goodHead + "Content-Length: 2\r\nContent-Length: 50\r\n\r\n{}" + second,
		"two lengths in one header": goodHead + "Content-Length: 2, 50\r\n\r\n{}" + second,
		"a length and chunks":       goodHead + "Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + second,
		"chunks and a length":       goodHead + "Transfer-Encoding: chunked\r\nContent-Length: 50\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + second,
		"chunks twice":              goodHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second,
		"an unknown encoding":       goodHead + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + second,
		"an encoding before chunks": goodHead + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + second,
		"a length with a sign":      goodHead + "Content-Length: +2\r\n\r\n{}" + second,
		"a chunk in wrong digits":   goodHead + "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n" + second,
		"a bare newline":            strings.ReplaceAll(goodHead, "\r\n", "\n") + "Content-Length : 2\n\n{}" + second,
	} {
		answer := r.raw(text, true)
		assert.That(t, !strings.Contains(answer, "ok\n"), "%s: %q", name, answer)
		assert.Equal(t, strings.Count(answer, "HTTP/1.1 "), 1, "%s", name)
	}
	// Requests one after the other on one connection are no trick, and are answered
	// in their order.
	answer := r.raw(second+"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"+second, true)
	assert.Equal(t, strings.Count(answer, "200 OK"), 2)
	assert.That(t, strings.Index(answer, "404") >= strings.Index(answer, "200 OK"), "%q", answer)
	assert.Equal(t, strings.Count(answer, "HTTP/1.1 "), 3)
	// Each of them needs the token.
	answer = r.raw(strings.Replace(goodHead, "/mcp", "/readyz", 1)+"Content-Length: 0\r\n\r\nGET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", true)
	assert.Contains(t, answer, "401")
	assert.That(t, !strings.Contains(answer, "200 OK"), "%q", answer)
}

// Who has no token makes room: 100 silent connections, and a client that has one is
// served at once and stays.
func TestUnauthenticatedKeepNobodyOut(t *testing.T) {
	r := open(t, func(c *HTTPConfig) { c.MaxConnections = 8 })
	client := r.dial()
	defer client.Close()
	answers := bufio.NewReader(client)
	ready := func() {
		t.Helper()
		_, _ = io.WriteString(client, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+goodToken+"\r\n\r\n")
		status, text := readAnswer(answers)
		require.Equal(t, status, 200, "%s", text)
	}
	ready()
	for range 100 {
		c := r.dial()
		defer c.Close()
	}
	ready()
	assert.Equal(t, r.send(http.MethodGet, "/readyz", "").status, 200, "a new one with the token")
	ready()
}

// Of those with the token, one that is between two requests makes room, and one that
// is not stays.
func TestTheGateCountsRight(t *testing.T) {
	inBubble(t, func(c *HTTPConfig) { c.MaxConnections = 2 }, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		id := x.session(t)
		enter := func(working bool) (c net.Conn, served bool) {
			c = p.dial()
			if !working {
				go func() {
					_, _ = io.WriteString(c, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+goodToken+"\r\n\r\n")
				}()
				status, _ := readAnswer(bufio.NewReader(c))
				synctest.Wait()
				return c, status != 0
			}
			x.block(c, id)
			return c, true
		}
		isOpen := func(c net.Conn) bool {
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			_, err := c.Read(make([]byte, 1))
			return errors.Is(err, os.ErrDeadlineExceeded)
		}
		working, _ := enter(true)
		first, _ := enter(false)
		second, served := enter(false)
		assert.That(t, served, "the idle one has not made room for the next")
		assert.That(t, !isOpen(first), "the idle one has not made room for the next")
		assert.That(t, isOpen(second), "the idle one has not made room for the next")
		assert.That(t, isOpen(working), "the idle one has not made room for the next")
		second.Close()
		synctest.Wait()
		other, _ := enter(true)
		late, served := enter(false)
		assert.That(t, !served, "served %v; those that work must stay", served)
		assert.That(t, !isOpen(late), "served %v; those that work must stay", served)
		assert.That(t, isOpen(working), "served %v; those that work must stay", served)
		assert.That(t, isOpen(other), "served %v; those that work must stay", served)
		other.Close()
		synctest.Wait()
		again, served := enter(false)
		assert.That(t, served, "no room after one has left")
		assert.That(t, isOpen(again), "no room after one has left")
		working.Close()
	})
}

// Streams end only with their clients. They leave room for requests.
func TestStreamsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newDirect(t, func(c *HTTPConfig) { c.MaxConnections = 4 })
		ids := []string{x.session(t), x.session(t), x.session(t)}
		ctx, cancel := context.WithCancel(t.Context())
		stream := func(id string) *httptest.ResponseRecorder {
			return x.send(ctx, http.MethodGet, "", sessionHeader, id)
		}
		go stream(ids[0])
		go stream(ids[1])
		synctest.Wait()
		w := stream(ids[2])
		assert.Equal(t, w.Code, http.StatusServiceUnavailable, "a third stream")
		assert.That(t, w.Header().Get("Retry-After") != "", "a third stream: %d", w.Code)
		body, headers := modern(1, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		assert.Equal(t, x.send(ctx, http.MethodPost, body, headers...).Code, http.StatusServiceUnavailable, "a subscription")
		assert.Equal(t, x.ping(t, ids[2]), http.StatusOK, "a request")
		x.send(ctx, http.MethodDelete, "", sessionHeader, ids[0])
		synctest.Wait()
		go stream(ids[2])
		synctest.Wait()
		assert.That(t, x.streams.Count() == 2, "%d streams after one has made room", x.streams.Count())
		cancel()
		synctest.Wait()
		assert.That(t, x.streams.Count() == 0, "%d streams after their clients have left", x.streams.Count())
	})
}
