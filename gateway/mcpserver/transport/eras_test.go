package transport

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestCallersAreSessionsOrTheToken(t *testing.T) {
	r := open(t, nil)
	who := func(body string, headers []string) string { return r.post(body, headers...).text(t) }
	one, two := r.session(), r.session()
	inSession := func(id string) string { return who(callHTTP(1, "who", "{}"), []string{sessionHeader, id}) }
	a, b := inSession(one), inSession(two)
	assert.That(t, a != b, "callers %q and %q of two sessions", a, b)
	assert.Equal(t, a, inSession(one), "callers %q and %q of two sessions", a, b)
	assert.That(t, strings.HasPrefix(a, "session-"), "callers %q and %q of two sessions", a, b)
	assert.That(t, !strings.Contains(a, one), "callers %q and %q of two sessions", a, b)
	c, d := who(modernCall(1, "who", "{}")), who(modernCall(2, "who", "{}"))
	assert.Equal(t, c, d, "callers %q and %q of one token without sessions", c, d)
	assert.That(t, strings.HasPrefix(c, "token-"), "callers %q and %q of one token without sessions", c, d)
	// A session that such a client names is not its own.
	body, headers := modernCall(3, "who", "{}")
	e := who(body, append(headers, sessionHeader, one))
	assert.That(t, e == c, "caller %q with the header of a session, want %q", e, c)
}

func TestNotificationsComeBeforeTheResultInBothEras(t *testing.T) {
	r := open(t, nil)
	id := r.session()
	for range 50 {
		body, headers := modernCall(1, "count", `{"to":7}`)
		checkCount(t, r.post(body, headers...), 7)
		checkCount(t, r.post(callHTTP(1, "count", `{"to":7}`), sessionHeader, id), 7)
	}
	// An answer without notifications is a document, also after one with them.
	answer := r.post(callHTTP(2, "count", `{"to":0}`), sessionHeader, id)
	assert.Equal(t, answer.header.Get("Content-Type"), "application/json")
	assert.Equal(t, answer.text(t), "0")
}

func checkCount(t *testing.T, answer exchanged, to int) {
	t.Helper()
	all := answer.messages(t)
	require.Equal(t, len(all), to+1, "%d messages: %s", len(all), answer.body)
	require.That(t, answer.text(t) != "", "%d messages: %s", len(all), answer.body)
	for n, m := range all[:to] {
		params, _ := m["params"].(map[string]any)
		require.Equal(t, m["method"], "notifications/progress", "message %d is %v", n, m)
		require.Equal[any](t, params["progress"], float64(n+1), "message %d is %v", n, m)
	}
}
