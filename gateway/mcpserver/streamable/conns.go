package streamable

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"sync"
)

// gate bounds the connections. When there are too many, the oldest from which no
// request with the token has come has to go: whoever has none cannot keep those
// out who have.
type gate struct {
	net.Listener
	max int

	mu        sync.Mutex
	open      int
	strangers *list.List // of *conn, oldest first
}

// conn is one of them.
type conn struct {
	net.Conn
	gate *gate
	seat *list.Element // among the strangers; nil when it is known or closed
	gone bool          // it has no place any more
}

func newGate(l net.Listener, max int) *gate {
	return &gate{Listener: l, max: max, strangers: list.New()}
}

// Accept returns the next connection that there is room for.
func (g *gate) Accept() (net.Conn, error) {
	for {
		raw, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, gate: g}
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
func (g *gate) admit(c *conn) (evicted *conn, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open >= g.max {
		oldest := g.strangers.Front()
		if oldest == nil {
			return nil, false
		}
		evicted = oldest.Value.(*conn)
		g.release(evicted)
	}
	g.open++
	c.seat = g.strangers.PushBack(c)
	return evicted, true
}

// unseat takes a connection from the strangers.
func (g *gate) unseat(c *conn) {
	if c.seat != nil {
		g.strangers.Remove(c.seat)
		c.seat = nil
	}
}

// release gives the place of a connection free, once.
func (g *gate) release(c *conn) {
	if !c.gone {
		c.gone = true
		g.unseat(c)
		g.open--
	}
}

// Close closes a connection and gives its place free.
func (c *conn) Close() error {
	c.gate.mu.Lock()
	c.gate.release(c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// dismiss closes the connections of all strangers.
func (g *gate) dismiss() {
	g.mu.Lock()
	var all []*conn
	for e := g.strangers.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*conn))
	}
	g.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

type connKey struct{}

// remember puts a connection into the context of its requests.
func remember(ctx context.Context, c net.Conn) context.Context {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// known notes that a request with the token came over the connection of ctx.
func known(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		c.gate.unseat(c)
	}
}
