package streamable

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
	inSession := func(id string) string { return who(call(1, "who", "{}"), []string{sessionHeader, id}) }
	a, b := inSession(one), inSession(two)
	assert.That(t, a != b && a == inSession(one) && strings.HasPrefix(a, "session-") && !strings.Contains(a, one), "callers %q and %q of two sessions", a, b)
	c, d := who(modernCall(1, "who", "{}")), who(modernCall(2, "who", "{}"))
	assert.That(t, c == d && strings.HasPrefix(c, "token-"), "callers %q and %q of one token without sessions", c, d)
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
		checkCount(t, r.post(call(1, "count", `{"to":7}`), sessionHeader, id), 7)
	}
	// An answer without notifications is a document, also after one with them.
	answer := r.post(call(2, "count", `{"to":0}`), sessionHeader, id)
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
