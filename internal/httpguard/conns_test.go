package httpguard

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
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
	assert.Equal(t, len(g.open), 1, "%d open, authenticated: %v", len(g.open), c.authenticated)
	assert.That(t, c.authenticated, "%d open, authenticated: %v", len(g.open), c.authenticated)
	if err := errors.Join(c.Close(), c.Close()); err != nil || len(g.open) != 0 {
		t.Errorf("%v, %d open", err, len(g.open))
	}
}

// scarce is a listener of a process that can have few connections open.
type scarce struct {
	net.Listener
	max  int
	open atomic.Int32
}

func (l *scarce) Accept() (net.Conn, error) {
	if int(l.open.Load()) >= l.max {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	l.open.Add(1)
	one, _ := net.Pipe()
	return &scarceConn{one, l}, nil
}

type scarceConn struct {
	net.Conn
	of *scarce
}

func (c *scarceConn) Close() error {
	c.of.open.Add(-1)
	return c.Conn.Close()
}

// Where the process can open no more files, connections without a token make room, and never those with one.
func TestSilentConnectionsLeaveDescriptors(t *testing.T) {
	l := &scarce{max: 10}
	g := NewConnLimiter(l, 100)
	s := NewServer(t.Context(), nil, nil)
	var callers []*conn
	for range 3 {
		c := require.Value(g.Accept())(t)
		MarkAuthenticated(s.ConnContext(t.Context(), c))
		callers = append(callers, c.(*conn))
	}
	for i := range 120 {
		_, err := g.Accept()
		require.That(t, err == nil, "connection %d: %v", i, err)
	}
	for _, c := range callers {
		assert.That(t, slices.Contains(g.open, c), "a caller with a token was closed for a silent connection")
	}
	full := NewConnLimiter(&scarce{max: 2}, 100)
	for range 2 {
		MarkAuthenticated(s.ConnContext(t.Context(), require.Value(full.Accept())(t)))
	}
	_, err := full.Accept()
	assert.That(t, errors.Is(err, syscall.EMFILE), "where nothing can be closed the error is %v", err)
}

func TestConnectionsTakeAQuarterOfTheFiles(t *testing.T) {
	files, isLimited := fileLimit()
	got := ConnLimit(1 << 30)
	assert.Equal(t, ConnLimit(1), 1, "%d of %d files", got, files)
	want := 1 << 30
	if isLimited {
		want = max(1, files/4)
	}
	assert.Equal(t, got, want, "of %d files", files)
}
