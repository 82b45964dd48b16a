package httpguard

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// ConnLimiter is a listener that limits the open connections. At the limit it closes one for the
// next: the oldest without an authenticated request, so that a client without the token cannot
// keep others out, or else the one that has been idle between two requests for longest.
type ConnLimiter struct {
	net.Listener
	max int

	mu              sync.Mutex
	open            int
	unauthenticated *list.List // of *conn, oldest first
	idle            *list.List // of authenticated *conn, longest idle first
}

// conn is a connection of a [ConnLimiter].
type conn struct {
	net.Conn
	limiter       *ConnLimiter
	authenticated bool          // it had an authenticated request
	list          *list.List    // the list of the limiter that it is in, or nil
	element       *list.Element // in list
	released      bool          // it is not counted any more
}

// NewConnLimiter returns a listener with up to max open connections.
func NewConnLimiter(l net.Listener, max int) *ConnLimiter {
	return &ConnLimiter{Listener: l, max: max, unauthenticated: list.New(), idle: list.New()}
}

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
	if g.open >= g.max {
		oldest := cmp.Or(g.unauthenticated.Front(), g.idle.Front())
		if oldest == nil {
			return nil, false
		}
		evicted = oldest.Value.(*conn)
		g.release(evicted)
	}
	g.open++
	g.move(c, g.unauthenticated)
	return evicted, true
}

// move puts a connection at the end of a list, or of none.
func (g *ConnLimiter) move(c *conn, to *list.List) {
	if c.list != nil {
		c.list.Remove(c.element)
	}
	c.list, c.element = to, nil
	if to != nil {
		c.element = to.PushBack(c)
	}
}

// release stops counting a connection.
func (g *ConnLimiter) release(c *conn) {
	if !c.released {
		c.released = true
		g.move(c, nil)
		g.open--
	}
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
	var all []*conn
	for e := g.unauthenticated.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*conn))
	}
	g.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

type connKey struct{}

// connOf returns the connection below one of net/http, nil if it is not of a [ConnLimiter].
func connOf(c net.Conn) *conn {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

// withConn puts a connection into the context of its requests: the ConnContext of an http.Server.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, connOf(c))
}

// MarkAuthenticated records that the connection of ctx had an authenticated request.
func MarkAuthenticated(ctx context.Context) {
	if c, _ := ctx.Value(connKey{}).(*conn); c != nil {
		c.limiter.mu.Lock()
		defer c.limiter.mu.Unlock()
		if !c.released {
			c.authenticated = true
			c.limiter.move(c, nil)
		}
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
	switch {
	case c.released || !c.authenticated:
	case state == http.StateIdle:
		c.limiter.move(c, c.limiter.idle)
	default:
		c.limiter.move(c, nil)
	}
}
