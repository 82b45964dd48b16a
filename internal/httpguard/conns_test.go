package httpguard

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAGateBehindTLSKnowsItsConnections(t *testing.T) {
	g := NewConnLimiter(nil, 1)
	one, other := net.Pipe()
	defer other.Close()
	c := &conn{Conn: one, limiter: g}
	_, ok := g.admit(c)
	require.That(t, ok, "not admitted")
	MarkAuthenticated(NewServer(t.Context(), nil, nil).ConnContext(t.Context(), tls.Server(c, &tls.Config{})))
	assert.That(t, len(g.open) == 1 && c.authenticated, "%d open, authenticated: %v", len(g.open), c.authenticated)
	if err := errors.Join(c.Close(), c.Close()); err != nil || len(g.open) != 0 {
		t.Errorf("%v, %d open", err, len(g.open))
	}
}
