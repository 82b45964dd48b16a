package streamable

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"

	"github.com/mark3labs/mcp-go/server"
)

func TestBothErasWorkOnOneEndpoint(t *testing.T) {
	r := open(t, nil)

	id := r.session()
	legacy := []string{server.HeaderKeySessionID, id, "Mcp-Protocol-Version", legacyVersion}
	assert.Equal(t, r.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, legacy...).status, http.StatusAccepted, "initialized")
	answer := r.post(call(1, "who", "{}"), legacy...)
	who := answer.text(t)
	assert.That(t, strings.HasPrefix(who, "session-") && !strings.Contains(who, id), "legacy caller %q", who)

	body, headers := modernCall(1, "who", "{}")
	answer = r.post(body, headers...)
	assert.That(t, strings.HasPrefix(answer.text(t), "token-") && answer.header.Get(server.HeaderKeySessionID) == "", "modern: %+v", answer)
	body, headers = modern(2, "server/discover", "")
	answer = r.post(body, headers...)
	assert.That(t, answer.status == http.StatusOK && strings.Contains(answer.body, "2026-07-28"), "discover: %+v", answer)
}

func TestCallersAreSessionsOrTheToken(t *testing.T) {
	r := open(t, nil)
	who := func(body string, headers []string) string { return r.post(body, headers...).text(t) }
	one, two := r.session(), r.session()
	inSession := func(id string) string { return who(call(1, "who", "{}"), []string{server.HeaderKeySessionID, id}) }
	a, b := inSession(one), inSession(two)
	assert.That(t, a != b && a == inSession(one) && a != "", "callers %q and %q of two sessions", a, b)
	c, d := who(modernCall(1, "who", "{}")), who(modernCall(2, "who", "{}"))
	assert.That(t, c == d && c != a && c != "", "callers %q and %q of one token without sessions", c, d)
	// A session that such a client names is not its own.
	body, headers := modernCall(3, "who", "{}")
	e := who(body, append(headers, server.HeaderKeySessionID, one))
	assert.That(t, e == c, "caller %q with the header of a session, want %q", e, c)
}

func TestNotificationsComeBeforeTheResultInBothEras(t *testing.T) {
	r := open(t, nil)
	id := r.session()
	for range 50 {
		body, headers := modernCall(1, "count", `{"to":7}`)
		checkCount(t, r.post(body, headers...), 7)
		checkCount(t, r.post(call(1, "count", `{"to":7}`), server.HeaderKeySessionID, id), 7)
	}
	// An answer without notifications is a document, also after one with them.
	answer := r.post(call(2, "count", `{"to":0}`), server.HeaderKeySessionID, id)
	assert.That(t, answer.header.Get("Content-Type") == "application/json" && answer.text(t) == "0", "%+v", answer)
}

func checkCount(t *testing.T, answer exchanged, to int) {
	t.Helper()
	all := answer.messages(t)
	require.That(t, len(all) == to+1 && answer.text(t) != "", "%d messages: %s", len(all), answer.body)
	for n, m := range all[:to] {
		params, _ := m["params"].(map[string]any)
		require.That(t, m["method"] == "notifications/progress" && params["progress"] == float64(n+1), "message %d is %v", n, m)
	}
}

func tcp(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A socket that was passed is served if it is at the address of the settings, and else
// refused and closed.
func TestAPassedSocketIsAtItsAddress(t *testing.T) {
	loop := tcp(t, "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(loop.Addr().String())
	everywhere := tcp(t, "0.0.0.0:0")
	_, other, _ := net.SplitHostPort(everywhere.Addr().String())
	for _, test := range []struct {
		l    net.Listener
		addr string
		ok   bool
	}{
		{loop, "127.0.0.1:" + port, true},
		{loop, "localhost:" + port, true},
		{loop, "127.0.0.1:0", true},
		{loop, "0.0.0.0:" + port, true}, // open to less than the settings allow
		{loop, "127.0.0.1:1", false},
		{loop, "127.0.0.2:" + port, false},
		{everywhere, "127.0.0.1:" + other, false}, // and the token would be sent unencrypted
		{everywhere, "localhost:" + other, false},
		{everywhere, "0.0.0.0:" + other, true},
	} {
		a := require.Value(parseAddr(test.addr))(t)
		err := checkPassed(test.l, a, test.addr)
		if wrong, ok := errors.AsType[*SettingError](err); ok == test.ok || ok && (wrong.Setting != "http" || wrong.Hint() == "") {
			t.Errorf("a socket at %v for %s: %v", test.l.Addr(), test.addr, err)
		}
	}
	a, _ := parseAddr("127.0.0.1:1")
	_, err := listener(context.Background(), Config{Addr: "127.0.0.1:1", Listener: loop}, a)
	assert.That(t, err != nil, "it is opened")
	_, err = loop.Accept()
	assert.ErrorIs(t, err, net.ErrClosed, "the refused socket is left open")
}

// Everybody can connect to a socket in the file system that systemd makes by default.
func TestAPassedUnixSocketIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such address")
	}
	folder := require.Value(os.MkdirTemp("", "s"))(t)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s")
	l := require.Value(net.Listen("unix", path))(t)
	defer l.Close()
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o660: false, 0o606: false} {
		require.NoError(t, os.Chmod(path, mode))
		assert.Equal(t, (checkPassed(l, address{network: "unix", text: path}, "unix:"+path) == nil), ok, "with mode %v", mode)
	}
	assert.That(t, checkPassed(l, address{network: "unix", text: path + "2"}, "unix:"+path+"2") != nil, "another path passes")
	assert.That(t, checkPassed(l, address{network: "tcp", text: "127.0.0.1:0", host: "127.0.0.1"}, "127.0.0.1:0") != nil, "a socket passes for a TCP address")
}
