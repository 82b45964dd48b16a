package streamable

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// gate bounds the connections. When there are too many, one has to go: the oldest
// from which no request with the token has come, so that whoever has none cannot
// keep those out who have; if there is none such, the one that has been between two
// requests for longest.
type gate struct {
	net.Listener
	max int

	mu        sync.Mutex
	open      int
	strangers *list.List // of *conn, oldest first
	idle      *list.List // of *conn that are no strangers, idle for longest first
}

// conn is one of them.
type conn struct {
	net.Conn
	gate  *gate
	known bool          // it is no stranger
	list  *list.List    // in which it is: one of the gate's, or nil
	seat  *list.Element // in list
	gone  bool          // it has no place any more
}

func newGate(l net.Listener, max int) *gate {
	return &gate{Listener: l, max: max, strangers: list.New(), idle: list.New()}
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
		oldest := cmp.Or(g.strangers.Front(), g.idle.Front())
		if oldest == nil {
			return nil, false
		}
		evicted = oldest.Value.(*conn)
		g.release(evicted)
	}
	g.open++
	g.move(c, g.strangers)
	return evicted, true
}

// move puts a connection at the end of a list, or of none.
func (g *gate) move(c *conn, to *list.List) {
	if c.list != nil {
		c.list.Remove(c.seat)
	}
	c.list, c.seat = to, nil
	if to != nil {
		c.seat = to.PushBack(c)
	}
}

// release gives the place of a connection free, once.
func (g *gate) release(c *conn) {
	if !c.gone {
		c.gone = true
		g.move(c, nil)
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

// ourConn returns the connection below one of net/http, nil if it is none of ours.
func ourConn(c net.Conn) *conn {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

// remember puts a connection into the context of its requests.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, ourConn(c))
}

// known notes that a request with the token came over the connection of ctx.
func known(ctx context.Context) {
	if c, _ := ctx.Value(connKey{}).(*conn); c != nil {
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		if !c.gone {
			c.known = true
			c.gate.move(c, nil)
		}
	}
}

// watch notes when a connection is between two requests. It is the hook of
// net/http for that.
func watch(raw net.Conn, state http.ConnState) {
	c := ourConn(raw)
	if c == nil {
		return
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	switch {
	case c.gone || !c.known:
	case state == http.StateIdle:
		c.gate.move(c, c.gate.idle)
	default:
		c.gate.move(c, nil)
	}
}
