package oauth_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/oauth"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// askingPair is a server that asks the issuer about tokens.
func askingPair(t *testing.T) *pair {
	p := newPairWith(t, harness.Credentials[0], harness.Credentials[1])
	p.Says("unused", `{"active":false}`)
	return p
}

// active is what the issuer says of a token that is valid, with changes.
func (p *pair) active(changes map[string]any) map[string]any {
	said := p.claims(changes)
	if _, set := changes["active"]; !set {
		said["active"] = true
	}
	return said
}

// Tokens that the issuer says are active count, as little as it says of them; of any other, and of
// any other answer, none does.
func TestTokensThatTheIssuerIsAskedAbout(t *testing.T) {
	p := askingPair(t)
	at := func(by time.Duration) int64 { return p.clock.Add(by).Unix() }
	for what, changes := range map[string]map[string]any{
		"as it is": nil, "without an issuer": {"iss": nil}, "without an expiry": {"exp": nil}, "several audiences": {"aud": []string{"x", resource}}, "a type": {"token_type": "Bearer", "typ": "Bearer", "token_use": "access_token"},
		"more than is known": {"username": "ann", "realm_access": map[string]any{"roles": []string{"x"}}},
	} {
		p.Says(what, p.active(changes))
		if token, err := p.Verify(t.Context(), what); err != nil || !slices.Equal(token.Subjects, []string{"ann@example"}) || !slices.Equal(token.Scopes, []string{"vault:read"}) {
			t.Errorf("%s: %+v, %v", what, token, err)
		}
	}
	valid := strings.TrimSuffix(harness.JSON(t, p.active(nil)), "\n")
	for what, said := range map[string]any{
		"inactive": p.active(map[string]any{"active": false}), "inactive, and nothing more": `{"active":false}`, "active as a text": p.active(map[string]any{"active": "true"}), "active as a number": p.active(map[string]any{"active": 1}),
		"active is null": p.active(map[string]any{"active": nil}), "active in a list": p.active(map[string]any{"active": []bool{true}}), "active in capitals": p.active(map[string]any{"active": nil, "Active": true}), "nothing": `{}`,
		"another issuer": p.active(map[string]any{"iss": "https://evil.example"}), "the issuer with a slash": p.active(map[string]any{"iss": p.URL + "/"}), "no audience": p.active(map[string]any{"aud": nil}), "another audience": p.active(map[string]any{"aud": "https://other.example/mcp"}),
		"the client as audience": p.active(map[string]any{"aud": "phone"}), "the audience with a slash": p.active(map[string]any{"aud": resource + "/"}), "an empty list of audiences": p.active(map[string]any{"aud": []string{}}), "the audience in capitals": p.active(map[string]any{"aud": nil, "AUD": resource}),
		"expired": p.active(map[string]any{"exp": at(-31 * time.Second)}), "expired in the year 1970": p.active(map[string]any{"exp": 1}), "not yet": p.active(map[string]any{"nbf": at(31 * time.Second)}), "from the future": p.active(map[string]any{"iat": at(time.Hour)}),
		"bound to a key": p.active(map[string]any{"cnf": map[string]any{"jkt": "x"}}), "of the type DPoP": p.active(map[string]any{"token_type": "DPoP"}), "of the type MAC": p.active(map[string]any{"token_type": "mac"}), "a refresh token": p.active(map[string]any{"token_use": "refresh_token"}),
		"a refresh token of Keycloak": p.active(map[string]any{"typ": "Refresh"}), "an identity": p.active(map[string]any{"typ": "ID"}), "a logout": p.active(map[string]any{"typ": "logout+jwt"}),
	} {
		p.Says(what, said)
		p.clock.Time = p.clock.Add(time.Millisecond)
		assert.Equal(t, p.outcome(what), "invalid", "%s", what)
	}
	for what, said := range map[string]string{
		"no JSON": "<html>", "half of it": valid[:len(valid)-1], "two documents": valid + valid, "a list": "[" + valid + "]", "null": "null", "true": "true", "empty": "", "active twice": `{"active":false,` + valid[1:], "the audience twice": `{"aud":"x",` + valid[1:],
		"endless": `{"active":true,"x":"` + strings.Repeat("a", 2<<20) + `"}`, "an expiry in words": strings.Replace(valid, `"exp":`, `"exp":"tomorrow","x":`, 1), "a list of issuers": strings.Replace(valid, `"iss":`, `"iss":["x"],"x":`, 1),
	} {
		p.Says(what, said)
		got := p.outcome(what)
		assert.That(t, got == "unavailable" || got == "invalid", "%s: %s", what, got)
	}
	for _, token := range []string{"", "unknown", "as it is ", "AS IT IS", "as it is&token=as it is", p.token(nil)} {
		assert.Equal(t, p.outcome(token), "invalid", "%q", token)
	}
	assert.That(t, !p.Looks("vwa_x"), "tokens of others are shown to the issuer")
	assert.That(t, !p.Looks(strings.Repeat("x", 5000)), "tokens of others are shown to the issuer")
	assert.That(t, p.Looks("x"), "tokens of others are shown to the issuer")
	assert.That(t, !newPair(t).Looks("x"), "tokens of others are shown to the issuer")
}

// The answer is known for a minute at most, and never longer than the token is valid.
func TestTheIssuerIsAskedAgain(t *testing.T) {
	p := askingPair(t)
	p.Says("token", p.active(nil))
	p.Says("brief", p.active(map[string]any{"exp": p.clock.Add(10 * time.Second).Unix()}))
	for _, token := range []string{"token", "token", "brief", "brief"} {
		require.Equal(t, p.outcome(token), "ok")
	}
	assert.Equal(t, p.Asked(), 2, "asked, times")
	p.Says("token", `{"active":false}`)
	p.clock.Time = p.clock.Add(59 * time.Second)
	if got := p.outcome("token"); got != "ok" || p.Asked() != 2 {
		t.Errorf("revoked a moment ago: %s, %d", got, p.Asked())
	}
	assert.Equal(t, p.outcome("brief"), "invalid", "expired")
	p.clock.Time = p.clock.Add(2 * time.Second)
	assert.Equal(t, p.outcome("token"), "invalid", "revoked a minute ago")
	p.Says("token", p.active(nil))
	assert.Equal(t, p.outcome("token"), "ok", "active again")
}

// TestATokenThatCountedDoesNotWaitForOthers: while made-up tokens of many networks take all there is to ask with, a token
// that counted a while ago is asked about again at once.
func TestATokenThatCountedDoesNotWaitForOthers(t *testing.T) {
	p := askingPair(t)
	p.Says("token", p.active(nil))
	require.Equal(t, p.outcome("token"), "ok", "the first time")
	require.NoError(t, p.OccupyForUnverified(t.Context()))
	p.clock.Time = p.clock.Add(oauth.LongestIntrospected + time.Second)
	assert.Equal(t, p.outcome("token"), "ok", "again")
	assert.Equal(t, p.Asked(), 2, "asked, times")
}

// An issuer that is away, refuses this server, or names no place to ask at: no new token counts, and
// the answer says that it is not the fault of the token.
func TestAnIssuerThatDoesNotAnswerAboutTokens(t *testing.T) {
	for what, how := range map[string]func(http.ResponseWriter){
		"away": func(w http.ResponseWriter) { w.WriteHeader(503) }, "elsewhere": func(w http.ResponseWriter) { w.Header().Set("Location", "https://evil.example/"); w.WriteHeader(307) },
		"created": func(w http.ResponseWriter) { w.WriteHeader(201); fmt.Fprint(w, `{"active":true}`) },
	} {
		p := askingPair(t)
		p.Says("known", p.active(nil))
		p.Says("new", p.active(nil))
		require.Equal(t, p.outcome("known"), "ok")
		p.Break(how)
		known, fresh := p.outcome("known"), p.outcome("new")
		assert.Equal(t, known, "ok", "%s", what)
		assert.Equal(t, fresh, "unavailable", "%s", what)
		p.Break(nil)
		assert.Equal(t, p.outcome("new"), "ok", "%s, and back", what)
	}
	for what, place := range map[string]any{"no place": "", "no text": 7, "without TLS": "http://evil.example/introspect", "a file": "file:///etc/passwd", "with a password": "https://u:p@evil.example/"} {
		p := askingPair(t)
		p.Says("token", p.active(nil))
		p.Describe("introspection_endpoint", place)
		got := p.outcome("token")
		assert.Equal(t, got, "unavailable", "%s", what)
		assert.That(t, p.Asked() <= 0, "%s: %s", what, got)
	}
	for _, credentials := range [][2]string{{"vaultwicket", "wrong"}, {"other", harness.Credentials[1]}, {"vaultwicket", ""}} {
		p := newPairWith(t, credentials[0], credentials[1])
		p.Says("token", p.active(nil))
		assert.Equal(t, p.outcome("token"), "unavailable", "%q", credentials)
	}
}
