package httpguard

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
)

func TestAGateBehindTLSKnowsItsConnections(t *testing.T) {
	g := NewConnLimiter(nil, 1)
	one, other := net.Pipe()
	defer other.Close()
	c := &conn{Conn: one, limiter: g}
	if _, ok := g.admit(c); !ok {
		t.Fatal("not admitted")
	}
	MarkAuthenticated(withConn(t.Context(), tls.Server(c, &tls.Config{})))
	if g.unauthenticated.Len() != 0 || g.open != 1 || !c.authenticated {
		t.Errorf("%d unauthenticated of %d", g.unauthenticated.Len(), g.open)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil || g.open != 0 {
		t.Errorf("%v, %d open", err, g.open)
	}
}
