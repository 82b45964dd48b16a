// Package httpguard has the checks that the MCP transport and the local page make first: the Host
// header against DNS rebinding, the origin against CSRF, and limits on time, connections and
// streams.
//
// It does not check tokens or paths: a request that passes is not authenticated.
package httpguard

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Time limits for a client.
const (
	HeadLimit = 10 * time.Second // for the request line and headers
	IdleLimit = 2 * time.Minute  // between two requests

	headSize = 16 << 10 // maximum bytes of the request line and headers; net/http adds 4 KiB

	// writeLimit is how long a client may take to read one message. A stream as a whole has no
	// limit: it may be silent for hours.
	writeLimit = 30 * time.Second
)

// NewServer returns a server for the connections of a [ConnLimiter]. It speaks only HTTP/1.1, where a
// connection has one request at a time, so that the limit on connections also limits requests. base
// is the parent of the contexts of all requests.
func NewServer(base context.Context, h http.Handler, log *log.Logger) *http.Server {
	s := &http.Server{
		Handler:                      h,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            HeadLimit,
		IdleTimeout:                  IdleLimit,
		MaxHeaderBytes:               headSize,
		ErrorLog:                     log,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, connOf(c))
		},
		ConnState: trackState,
		Protocols: &http.Protocols{},
	}
	s.Protocols.SetHTTP1(true)
	return s
}

// IsPath reports whether the target of a request is a path, and not a URL as in requests to a proxy.
func IsPath(r *http.Request) bool { return r.URL.Host == "" && strings.HasPrefix(r.RequestURI, "/") }

// LimitRead sets how long the client may take to send the rest of the request. The limit applies to
// the connection, so it replaces that of an earlier request. It has no effect on writers without a
// connection, as in tests.
func LimitRead(w http.ResponseWriter, limit time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit))
}

// EndReadLimit removes the limit of [LimitRead] after the whole request was read. Otherwise net/http,
// which keeps reading in order to notice that the client disconnects, would cancel the request at
// the limit.
func EndReadLimit(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// LimitWrite sets how long the client may take to read the next message.
func LimitWrite(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
}

// Streams limits the number of responses that last until the client or the server ends them, so
// that connections remain for other requests.
type Streams struct {
	max int

	mu     sync.Mutex
	open   map[int]func() // functions that end the open streams
	next   int
	closed bool
}

// NewStreams returns Streams that allows max concurrent streams.
func NewStreams(max int) *Streams { return &Streams{max: max, open: map[int]func(){}} }

// Add adds a stream. Streams calls cancel to end it, possibly more than once; the caller must call
// done when it has ended. ok is false if there are too many streams, or after [Streams.Close].
func (s *Streams) Add(cancel func()) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.open) >= s.max {
		return nil, false
	}
	key := s.next
	s.next++
	s.open[key] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, key)
	}, true
}

// Count returns how many streams are open.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Close ends all streams, and makes Add refuse further ones.
func (s *Streams) Close() {
	s.mu.Lock()
	s.closed = true
	cancels := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
}

// ConnLimit returns the number of connections that a server may have open: wanted, but at most a
// quarter of the files that the process may have open, so that enough remain for the calls.
func ConnLimit(wanted int) int {
	files, isLimited := fileLimit()
	if !isLimited {
		return wanted
	}
	return max(1, min(wanted, files/4))
}

// ConnLimiter is a listener that limits the open connections. At the limit, or if the process can
// open no more files, it closes one to make room for the next: the oldest one without an
// authenticated request, so that clients without a token cannot keep others out; if there is none,
// the one that has been idle for longest.
type ConnLimiter struct {
	net.Listener
	max int

	mu        sync.Mutex
	open      []*conn // oldest first
	idleCount uint64  // counts how often a connection became idle; orders conn.idleSince
}

// conn is a connection of a [ConnLimiter].
type conn struct {
	net.Conn
	limiter       *ConnLimiter
	authenticated bool   // it had an authenticated request
	idleSince     uint64 // value of limiter.idleCount when the connection became idle; 0 while it is in use
}

// NewConnLimiter returns a listener on l with at most max open connections.
func NewConnLimiter(l net.Listener, max int) *ConnLimiter { return &ConnLimiter{Listener: l, max: max} }

// Accept returns the next connection. If there is no room and no other connection can be closed, it
// closes the new one and waits for the next.
func (g *ConnLimiter) Accept() (net.Conn, error) {
	for {
		raw, err := g.Listener.Accept()
		noFilesLeft := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
		if noFilesLeft && g.evict() {
			continue
		}
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, limiter: g}
		evicted, ok := g.admit(c)
		if evicted != nil {
			evicted.Close()
		}
		if ok {
			return c, nil
		}
		raw.Close()
	}
}

// admit registers c. If another connection must be closed to make room, admit returns it. ok is false
// if there is no room.
func (g *ConnLimiter) admit(c *conn) (evicted *conn, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.open) >= g.max {
		evicted = g.leastNeeded()
		if evicted == nil {
			return nil, false
		}
		g.open = slices.DeleteFunc(g.open, func(other *conn) bool { return other == evicted })
	}
	g.open = append(g.open, c)
	return evicted, true
}

// leastNeeded returns the connection to close to make room, nil if all are in use. The caller holds
// mu.
func (g *ConnLimiter) leastNeeded() (least *conn) {
	for _, old := range g.open {
		isIdle := old.authenticated && old.idleSince > 0
		switch {
		case !old.authenticated && (least == nil || least.authenticated):
			least = old
		case isIdle && least == nil,
			isIdle && least.authenticated && old.idleSince < least.idleSince:
			least = old
		}
	}
	return least
}

// evict closes the least needed connection, and reports whether there was one.
func (g *ConnLimiter) evict() bool {
	g.mu.Lock()
	least := g.leastNeeded()
	g.mu.Unlock()
	if least == nil {
		return false
	}
	least.Close()
	return true
}

// Close closes a connection and stops counting it.
func (c *conn) Close() error {
	c.limiter.mu.Lock()
	c.limiter.open = slices.DeleteFunc(c.limiter.open, func(other *conn) bool { return other == c })
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// CloseUnauthenticated closes all connections without an authenticated request.
func (g *ConnLimiter) CloseUnauthenticated() {
	g.mu.Lock()
	unauthenticated := slices.DeleteFunc(slices.Clone(g.open), func(c *conn) bool { return c.authenticated })
	g.mu.Unlock()
	for _, c := range unauthenticated {
		c.Close()
	}
}

// connKey is the context key of the connection of a request.
type connKey struct{}

// connOf returns the connection that c wraps, nil if it is not one of a [ConnLimiter].
func connOf(c net.Conn) *conn {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

// MarkAuthenticated records that the connection of ctx has had an authenticated request.
func MarkAuthenticated(ctx context.Context) {
	if c, _ := ctx.Value(connKey{}).(*conn); c != nil {
		c.limiter.mu.Lock()
		defer c.limiter.mu.Unlock()
		c.authenticated = true
	}
}

// trackState records when a connection becomes idle. It is the ConnState hook of an http.Server.
func trackState(raw net.Conn, state http.ConnState) {
	c := connOf(raw)
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.idleSince = 0
	if state == http.StateIdle {
		c.limiter.idleCount++
		c.idleSince = c.limiter.idleCount
	}
}
