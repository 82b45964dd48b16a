// Package httpguard has the checks that the MCP transport and the local page make before all
// others: the Host header, against DNS rebinding, the origin, against CSRF, and limits of time,
// connections and streams.
//
// It knows no token and no path. A request that passes is not authenticated.
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

// Limits of time for a client.
const (
	HeadLimit = 10 * time.Second // for the request line and headers
	IdleLimit = 2 * time.Minute  // between two requests

	headSize = 16 << 10 // of the request line and headers, in bytes; net/http adds 4 KiB

	// writeLimit is how long a client may take to read one message. A stream may be silent for
	// hours.
	writeLimit = 30 * time.Second
)

// NewServer returns an HTTP/1.1 server for the connections of a [ConnLimiter]: a connection has
// one request at a time, so the limit of connections is one of requests too. base is the context
// of all requests.
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

// IsPath reports whether the target of a request is a path, and not a URL as for a proxy.
func IsPath(r *http.Request) bool { return r.URL.Host == "" && strings.HasPrefix(r.RequestURI, "/") }

// LimitRead sets how long the client may take to send the rest of the request. The limit is one
// of the connection, so it replaces that of an earlier request. It does nothing for the writer of
// a test.
func LimitRead(w http.ResponseWriter, limit time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit))
}

// EndReadLimit ends the limit of [LimitRead] for a request that is complete. Otherwise net/http,
// which reads on to notice a client that disconnects, cancels the request at the limit.
func EndReadLimit(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// LimitWrite sets how long the client may take to read what is written next.
func LimitWrite(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
}

// Streams limits the responses that end only with the client or the server, so that connections
// are left for other requests.
type Streams struct {
	max int

	mu     sync.Mutex
	open   map[int]func() // how to end each
	next   int
	closed bool
}

// NewStreams returns Streams that allows max at once.
func NewStreams(max int) *Streams { return &Streams{max: max, open: map[int]func(){}} }

// Add adds a stream that cancel ends; done must be called at its end. ok is false if there are too
// many, or after [Streams.Close].
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

// Close ends all streams, and refuses further ones.
func (s *Streams) Close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, cancel := range all {
		cancel()
	}
}

// ConnLimit returns how many connections a server may have open that wants so many: at most a quarter of the files that
// the process may have open, so that connections leave enough of them for the calls.
func ConnLimit(wanted int) int {
	files, isLimited := fileLimit()
	if !isLimited {
		return wanted
	}
	return max(1, min(wanted, files/4))
}

// ConnLimiter is a listener that limits the open connections. At the limit, or where the process can open no more
// files, it closes one for the next: the oldest without an authenticated request, so that a client without the token cannot
// keep others out, or else the one that has been idle between two requests for longest.
type ConnLimiter struct {
	net.Listener
	max int

	mu    sync.Mutex
	open  []*conn // oldest first
	rests uint64  // how often a connection became idle
}

// conn is a connection of a [ConnLimiter].
type conn struct {
	net.Conn
	limiter       *ConnLimiter
	authenticated bool   // it had an authenticated request
	rested        uint64 // when it became idle, in the count of the limiter; 0 while it is not
}

// NewConnLimiter returns a listener with up to max open connections.
func NewConnLimiter(l net.Listener, max int) *ConnLimiter { return &ConnLimiter{Listener: l, max: max} }

// Accept returns the next connection. One for which none can be closed is closed itself.
func (g *ConnLimiter) Accept() (net.Conn, error) {
	for {
		raw, err := g.Listener.Accept()
		if isFull := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE); isFull && g.evict() {
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

// admit counts c, and returns the connection to close for it, if any.
func (g *ConnLimiter) admit(c *conn) (evicted *conn, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.open) >= g.max {
		if evicted = g.leastNeeded(); evicted == nil {
			return nil, false
		}
		g.open = slices.DeleteFunc(g.open, func(other *conn) bool { return other == evicted })
	}
	g.open = append(g.open, c)
	return evicted, true
}

// leastNeeded returns the connection to close for another one, nil if there is none. It is called with mu held.
func (g *ConnLimiter) leastNeeded() (least *conn) {
	for _, old := range g.open {
		isIdle := old.authenticated && old.rested > 0
		switch {
		case !old.authenticated && (least == nil || least.authenticated):
			least = old
		case isIdle && least == nil,
			isIdle && least.authenticated && old.rested < least.rested:
			least = old
		}
	}
	return least
}

// evict closes the connection that is needed least, and reports whether there is one.
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
	all := slices.DeleteFunc(slices.Clone(g.open), func(c *conn) bool { return c.authenticated })
	g.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// connOf returns the connection below one of net/http, nil if it is not of a [ConnLimiter].
func connOf(c net.Conn) *conn {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

// MarkAuthenticated records that the connection of ctx had an authenticated request.
func MarkAuthenticated(ctx context.Context) {
	if c, _ := ctx.Value(connKey{}).(*conn); c != nil {
		c.limiter.mu.Lock()
		defer c.limiter.mu.Unlock()
		c.authenticated = true
	}
}

// trackState records when a connection is idle between two requests: the ConnState of an
// http.Server.
func trackState(raw net.Conn, state http.ConnState) {
	c := connOf(raw)
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	if c.rested = 0; state == http.StateIdle {
		c.limiter.rests++
		c.rested = c.limiter.rests
	}
}
