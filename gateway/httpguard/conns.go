package httpguard

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
)

// ConnLimiter is a listener that limits the open connections. At the limit it closes one for the
// next: the oldest without an authenticated request, so that a client without the token cannot
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
		for _, old := range g.open {
			switch {
			case !old.authenticated && (evicted == nil || evicted.authenticated):
				evicted = old
			case old.authenticated && old.rested > 0 && (evicted == nil || evicted.authenticated && old.rested < evicted.rested):
				evicted = old
			}
		}
		if evicted == nil {
			return nil, false
		}
		g.release(evicted)
	}
	g.open = append(g.open, c)
	return evicted, true
}

// release stops counting a connection.
func (g *ConnLimiter) release(c *conn) {
	g.open = slices.DeleteFunc(g.open, func(other *conn) bool { return other == c })
}

// Close closes a connection and stops counting it.
func (c *conn) Close() error {
	c.limiter.mu.Lock()
	c.limiter.release(c)
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
