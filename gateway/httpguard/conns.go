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

// ConnLimiter is a listener that bounds the connections. When there are too many, one has to go: the oldest
// from which no request with the token has come, so that whoever has none cannot
// keep those out who have; if there is none such, the one that has been between two
// requests for longest.
type ConnLimiter struct {
	net.Listener
	max int

	mu              sync.Mutex
	open            int
	unauthenticated *list.List // of *conn, oldest first
	idle            *list.List // of authenticated *conn, longest idle first
}

// conn is one of them.
type conn struct {
	net.Conn
	limiter       *ConnLimiter
	authenticated bool          // a request with the token came over it
	list          *list.List    // in which it is: one of the gate's, or nil
	element       *list.Element // in list
	released      bool          // it has no place any more
}

// NewConnLimiter returns a listener that has max connections open at most.
func NewConnLimiter(l net.Listener, max int) *ConnLimiter {
	return &ConnLimiter{Listener: l, max: max, unauthenticated: list.New(), idle: list.New()}
}

// Accept returns the next connection that there is room for.
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

// admit takes in c, and names who has to go for it.
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

// release gives the place of a connection free, once.
func (g *ConnLimiter) release(c *conn) {
	if !c.released {
		c.released = true
		g.move(c, nil)
		g.open--
	}
}

// Close closes a connection and gives its place free.
func (c *conn) Close() error {
	c.limiter.mu.Lock()
	c.limiter.release(c)
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// CloseUnauthenticated closes all connections without a request with the token.
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

// connOf returns the connection below one of net/http, nil if it is none of ours.
func connOf(c net.Conn) *conn {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

// WithConn puts a connection into the context of its requests. It is the hook of
// net/http for that.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, connOf(c))
}

// MarkAuthenticated notes that a request with the token came over the connection of ctx.
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

// TrackState notes when a connection is between two requests. It is the hook of
// net/http for that.
func TrackState(raw net.Conn, state http.ConnState) {
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
