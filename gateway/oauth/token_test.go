package oauth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vaultwicket/vaultwicket/gateway/oauth"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const resource = "https://notes.example/mcp"

// clock is a time that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

// pair is an issuer with a verifier.
type pair struct {
	*harness.Issuer
	*oauth.Verifier
	clock *clock
	key   harness.SigningKey
}

func newPair(t *testing.T) *pair { return newPairWith(t, "", "") }

// newPairWith is newPair with a server that asks the issuer about tokens, with credentials.
func newPairWith(t *testing.T, id, secret string) *pair {
	p := &pair{clock: &clock{time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}, key: harness.NewKey("k1", jose.ES256)}
	p.Issuer = harness.NewIssuer(t, p.key)
	var err error
	p.Verifier, err = oauth.New(oauth.Config{Issuer: p.URL, Resource: resource, Claim: "sub", Now: p.clock.now, ClientID: id, Secret: secret})
	require.NoError(t, err)
	return p
}

func (p *pair) claims(changes map[string]any) map[string]any {
	return p.Claims(resource, p.clock.Time, changes)
}

func (p *pair) token(changes map[string]any) string { return p.key.Sign(p.T, p.claims(changes), nil) }

// outcome is "ok", "invalid" or "unavailable".
func (p *pair) outcome(token string) string {
	_, err := p.Verify(p.T.Context(), token)
	var invalid *oauth.Invalid
	var away *oauth.Unavailable
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &invalid):
		return "invalid"
	case errors.As(err, &away):
		return "unavailable"
	}
	return err.Error()
}

// What a valid token says, in the forms in which issuers write it.
func TestATokenSaysWhoseItIs(t *testing.T) {
	p := newPair(t)
	for _, test := range []struct {
		what             string
		changes          map[string]any
		subjects, scopes []string
	}{
		{"as it is", nil, []string{"ann@example"}, []string{"vault:read"}},
		{"for several servers", map[string]any{"aud": []string{"https://other.example", resource}}, []string{"ann@example"}, []string{"vault:read"}},
		{"several scopes", map[string]any{"scope": "openid vault:write"}, []string{"ann@example"}, []string{"openid", "vault:write"}},
		{"scopes in a list", map[string]any{"scope": nil, "scp": []string{"vault:read", "vault:write"}}, []string{"ann@example"}, []string{"vault:read", "vault:write"}},
		{"no scope", map[string]any{"scope": nil}, []string{"ann@example"}, nil},
		{"no subject", map[string]any{"sub": nil}, nil, []string{"vault:read"}},
		{"a subject that is no text", map[string]any{"sub": nil, "scope": 7}, nil, nil},
		{"a subject that is too long", map[string]any{"sub": strings.Repeat("a", 257)}, nil, []string{"vault:read"}},
		{"just about expired", map[string]any{"exp": p.clock.Add(-29 * time.Second).Unix()}, []string{"ann@example"}, []string{"vault:read"}},
		{"just about valid", map[string]any{"nbf": p.clock.Add(29 * time.Second).Unix()}, []string{"ann@example"}, []string{"vault:read"}},
	} {
		token, err := p.Verify(t.Context(), p.token(test.changes))
		require.Equal(t, err, nil, "%s", test.what)
		require.EqualSlices(t, token.Subjects, test.subjects, "%s", test.what)
		assert.EqualSlices(t, token.Scopes, test.scopes, "%s", test.what)
	}
	holder := func(changes map[string]any) [32]byte {
		return require.Value(p.Verify(t.Context(), p.token(changes)))(t).Holder
	}
	if holder(nil) != holder(map[string]any{"scope": "vault:write"}) || holder(nil) == holder(map[string]any{"sub": "bob"}) || holder(nil) != holder(map[string]any{"client_id": "x"}) {
		t.Error("a holder is not a user")
	}
}

// encoded is a part of a JWT.
func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// Every one of these is refused, before and after a valid token was seen.
func TestNoForgedTokenCounts(t *testing.T) {
	p := newPair(t)
	other, foreign := harness.NewKey("k1", jose.ES256), harness.NewIssuer(t, harness.NewKey("f", jose.ES256))
	unnamed := other
	unnamed.ID = ""
	weak := require.Value(rsa.GenerateKey(rand.Reader, 2048))(t)
	encryption, narrow := harness.NewKey("enc", jose.ES256), harness.NewKey("narrow", jose.EdDSA)
	forEncryption, otherAlg := encryption.Public(), narrow.Public()
	forEncryption.Use, otherAlg.Algorithm = "enc", "ES256"
	p.Publish(p.key.Public(), forEncryption, otherAlg, jose.JSONWebKey{Key: &weak.PublicKey, KeyID: "rsa", Algorithm: "RS256", Use: "sig"}, jose.JSONWebKey{Key: []byte(strings.Repeat("s", 64)), KeyID: "shared", Algorithm: "HS256"})
	good := p.token(nil)
	require.Equal(t, p.outcome(good), "ok")
	head, body, sum := cut(good)
	hmac := func(id string, secret []byte) string {
		return harness.SigningKey{ID: id, Alg: jose.HS256, Secret: secret}.Sign(t, p.claims(nil), nil)
	}
	public := require.Value(p.key.Public().MarshalJSON())(t)
	at := func(by time.Duration) int64 { return p.clock.Add(by).Unix() }
	attacks := map[string]string{
		"nothing": "", "two dots": "..", "a word": "token", "one part": head, "two parts": head + "." + body, "four parts": good + "." + sum, "an encrypted form": good + ".x.y",
		"no signature": head + "." + body + ".", "no body": head + ".." + sum, "no header": "." + body + "." + sum, "a space": " " + good, "a newline": good + "\n", "padding": good + "=", "other base64": good[:len(good)-1] + "/",
		"a JSON form":               `{"payload":"` + body + `","signatures":[{"protected":"` + head + `","signature":"` + sum + `"}]}`,
		"a flat JSON form":          `{"payload":"` + body + `","protected":"` + head + `","signature":"` + sum + `"}`,
		"no algorithm":              encoded(`{"alg":"none","typ":"at+jwt"}`) + "." + body + ".",
		"no algorithm, in capitals": encoded(`{"alg":"NONE"}`) + "." + body + "." + sum, "no alg": encoded(`{"typ":"at+jwt"}`) + "." + body + "." + sum,
		"an unknown algorithm":        encoded(`{"alg":"XX256","kid":"k1"}`) + "." + body + "." + sum,
		"another algorithm":           encoded(`{"alg":"ES384","kid":"k1"}`) + "." + body + "." + sum,
		"two algorithms":              encoded(`{"alg":"ES256","alg":"none","kid":"k1"}`) + "." + body + "." + sum,
		"a list of algorithms":        encoded(`{"alg":["ES256"],"kid":"k1"}`) + "." + body + "." + sum,
		"a critical extension":        encoded(`{"alg":"ES256","kid":"k1","crit":["exp"],"exp":1}`) + "." + body + "." + sum,
		"unencoded content":           encoded(`{"alg":"ES256","kid":"k1","b64":false,"crit":["b64"]}`) + "." + body + "." + sum,
		"changed claims":              head + "." + encoded(`{"iss":"`+p.URL+`","aud":"`+resource+`","sub":"admin","exp":9999999999}`) + "." + sum,
		"a changed header":            encoded(`{"alg":"ES256","kid":"k1","x":1}`) + "." + body + "." + sum,
		"a cut signature":             good[:len(good)-4],
		"the signature of zeros":      head + "." + body + "." + encoded(strings.Repeat("\x00", 64)),
		"a signature in DER":          head + "." + body + "." + encoded("\x30\x06\x02\x01\x01\x02\x01\x01"),
		"the key of another":          other.Sign(t, p.claims(nil), nil),
		"another key without a name":  unnamed.Sign(t, p.claims(nil), nil),
		"an unknown key":              harness.NewKey("k9", jose.ES256).Sign(t, p.claims(nil), nil),
		"a key in the header":         embedded(t, other, p.claims(nil)),
		"a URL of keys in the header": other.Sign(t, p.claims(nil), map[jose.HeaderKey]any{"jku": foreign.URL + "/keys"}),
		"a certificate in the header": other.Sign(t, p.claims(nil), map[jose.HeaderKey]any{"x5u": foreign.URL, "x5t": "x"}),
		"a path as the key":           harness.SigningKey{ID: "../../../dev/null", Alg: jose.HS256, Secret: make([]byte, 32)}.Sign(t, p.claims(nil), nil),
		"the public key as a secret":  hmac("k1", public), "the secret of no length": hmac("k1", make([]byte, 32)), "a published secret": hmac("shared", []byte(strings.Repeat("s", 64))),
		"an RSA key as a secret": hmac("rsa", weak.PublicKey.N.Bytes()),
		"a key for encryption":   encryption.Sign(t, p.claims(nil), nil), "a key for another algorithm": narrow.Sign(t, p.claims(nil), nil),
		"an RSA key with another padding": harness.SigningKey{ID: "rsa", Alg: jose.PS256, Secret: weak}.Sign(t, p.claims(nil), nil),
		"a claim twice":                   p.key.Sign(t, `{"iss":"`+p.URL+`","aud":"x","aud":"`+resource+`","exp":9999999999}`, nil),
		"claims in other cases":           p.key.Sign(t, `{"ISS":"`+p.URL+`","Aud":"`+resource+`","EXP":9999999999}`, nil),
		"no claims":                       p.key.Sign(t, `{}`, nil), "a list of claims": p.key.Sign(t, `[]`, nil), "no JSON": p.key.Sign(t, `x`, nil), "null": p.key.Sign(t, `null`, nil),
		"claims and more": p.key.Sign(t, harness.JSON(t, p.claims(nil))+"{}", nil),
	}
	for what, kind := range map[string]any{"a logout": "logout+jwt", "a proof": "dpop+jwt", "an event": "secevent+jwt", "a client's": "client-authentication+jwt", "an identity": "application/id+jwt"} {
		attacks["the type of "+what] = p.key.Sign(t, p.claims(nil), map[jose.HeaderKey]any{"typ": kind})
	}
	for what, changes := range map[string]map[string]any{
		"another issuer": {"iss": foreign.URL}, "the issuer with a slash": {"iss": p.URL + "/"}, "no issuer": {"iss": nil}, "the issuer in capitals": {"iss": strings.ToUpper(p.URL)}, "a list of issuers": {"iss": []string{p.URL}},
		"another audience": {"aud": "https://other.example/mcp"}, "no audience": {"aud": nil}, "an empty audience": {"aud": ""}, "the origin as audience": {"aud": "https://notes.example"}, "the audience with a slash": {"aud": resource + "/"},
		"the audience without TLS": {"aud": "http://notes.example/mcp"}, "the client as audience": {"aud": "phone"}, "part of the audience": {"aud": resource + ".evil.example"}, "an audience that is no text": {"aud": 1}, "audiences without this": {"aud": []string{"a", "b"}},
		"expired": {"exp": at(-31 * time.Second)}, "expired long ago": {"exp": 1}, "expires never": {"exp": nil}, "expires in words": {"exp": "tomorrow"}, "expires at 0": {"exp": 0}, "expires before time": {"exp": -1},
		"not yet": {"nbf": at(31 * time.Second)}, "not for years": {"nbf": at(1e5 * time.Hour)}, "issued in the future": {"iat": at(31 * time.Second)},
		"bound to a key": {"cnf": map[string]any{"jkt": "x"}},
	} {
		attacks[what] = p.token(changes)
	}
	for what, token := range attacks {
		assert.Equal(t, p.outcome(token), "invalid", "%s", what)
	}
	assert.That(t, len(attacks) >= 80, "%d attacks", len(attacks))
	assert.Equal(t, p.Fetched(), 1, "forged tokens had the keys read, times")
	assert.That(t, foreign.Fetched() <= 0, "a token had keys of another server read")
}

func cut(token string) (head, body, sum string) {
	parts := strings.Split(token, ".")
	return parts[0], parts[1], parts[2]
}

// embedded signs with a key that the header has.
func embedded(t *testing.T, key harness.SigningKey, claims any) string {
	signer := require.Value(jose.NewSigner(jose.SigningKey{Algorithm: key.Alg, Key: key.Secret}, &jose.SignerOptions{EmbedJWK: true}))(t)
	signed := require.Value(signer.Sign([]byte(harness.JSON(t, claims))))(t)
	return require.Value(signed.CompactSerialize())(t)
}

func TestAVerifiedTokenExpires(t *testing.T) {
	p := newPair(t)
	token := p.token(map[string]any{"exp": p.clock.Add(time.Minute).Unix()})
	for _, step := range []struct {
		by   time.Duration
		want string
	}{{0, "ok"}, {59 * time.Second, "ok"}, {30 * time.Second, "ok"}, {2 * time.Second, "invalid"}, {time.Hour, "invalid"}} {
		p.clock.Time = p.clock.Add(step.by)
		assert.Equal(t, p.outcome(token), step.want, "after %v more", step.by)
	}
}

// Keys are read again when a token has a new one, and a key that is withdrawn ends its tokens
// within 15 minutes.
func TestKeysAreRotated(t *testing.T) {
	p := newPair(t)
	old := p.token(nil)
	next := harness.NewKey("k2", jose.EdDSA)
	require.Equal(t, p.outcome(old), "ok")
	p.Publish(next.Public())
	fresh := next.Sign(t, p.claims(nil), nil)
	if got := p.outcome(fresh); got != "invalid" || p.Fetched() != 1 {
		t.Errorf("a new key at once: %s, %d", got, p.Fetched())
	}
	p.clock.Time = p.clock.Add(11 * time.Second)
	if got := p.outcome(fresh); got != "ok" || p.Fetched() != 2 {
		t.Errorf("a new key later: %s, %d", got, p.Fetched())
	}
	p.clock.Time = p.clock.Add(15 * time.Minute)
	assert.Equal(t, p.outcome(old), "invalid", "a withdrawn key")
	assert.Equal(t, p.outcome(fresh), "ok", "the key in use")
	p.Publish()
	p.clock.Time = p.clock.Add(15 * time.Minute)
	assert.Equal(t, p.outcome(fresh), "invalid", "no keys any more")
}

// An issuer that does not answer, or not with what it should, is not one whose tokens count; keys
// that were read before count for a day.
func TestAnIssuerThatIsAway(t *testing.T) {
	status := func(code int) func(http.ResponseWriter) { return func(w http.ResponseWriter) { w.WriteHeader(code) } }
	write := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { fmt.Fprint(w, text) }
	}
	for what, how := range map[string]func(http.ResponseWriter){
		"away": status(503), "missing": status(404), "elsewhere": func(w http.ResponseWriter) { w.Header().Set("Location", "https://evil.example/"); w.WriteHeader(302) },
		"no JSON": write("<html>"), "an empty object": write("{}"), "endless": func(w http.ResponseWriter) { fmt.Fprint(w, "\""+strings.Repeat("a", 2<<20)) },
	} {
		p := newPair(t)
		p.Break(how)
		token := p.token(nil)
		for range 3 {
			assert.Equal(t, p.outcome(token), "unavailable", "%s at the start", what)
		}
		p.Break(nil)
		assert.Equal(t, p.outcome(token), "unavailable", "%s, and asked again at once", what)
		p.clock.Time = p.clock.Add(10 * time.Second)
		assert.Equal(t, p.outcome(token), "ok", "%s and back", what)
		p.Break(how)
		p.clock.Time = p.clock.Add(time.Hour)
		assert.Equal(t, p.outcome(p.token(nil)), "ok", "%s for an hour", what)
		p.clock.Time = p.clock.Add(24 * time.Hour)
		assert.Equal(t, p.outcome(p.token(nil)), "unavailable", "%s for a day", what)
	}
	for what, change := range map[string][2]string{
		"the metadata of another issuer": {"issuer", "https://evil.example"}, "no issuer": {"issuer", ""},
		"keys without TLS": {"jwks_uri", "http://evil.example/keys"}, "keys in a file": {"jwks_uri", "file:///etc/passwd"}, "no keys": {"jwks_uri", ""},
	} {
		p := newPair(t)
		p.Describe(change[0], change[1])
		got := p.outcome(p.token(nil))
		assert.Equal(t, got, "unavailable", "%s", what)
		assert.Equal(t, p.Fetched(), 0, "%s", what)
	}
}

// A client that goes away does not cancel what the others wait for.
func TestACancelledRequestStillReadsTheKeys(t *testing.T) {
	p := newPair(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Verify(ctx, p.token(nil))
	assert.NoError(t, err)
}

// Tokens without number do not take memory without bound, and each still counts.
func TestManyTokens(t *testing.T) {
	p := newPair(t)
	first := p.token(nil)
	for range 1100 {
		require.Equal(t, p.outcome(p.token(nil)), "ok")
	}
	assert.Equal(t, p.outcome(first), "ok")
}

func TestWrongConfigs(t *testing.T) {
	for _, c := range []oauth.Config{
		{}, {Issuer: "https://a.example", Resource: resource}, {Issuer: "http://a.example", Resource: resource, Claim: "sub"}, {Issuer: "a.example", Resource: resource, Claim: "sub"},
		{Issuer: "https://u:p@a.example", Resource: resource, Claim: "sub"}, {Issuer: "https://a.example?x", Resource: resource, Claim: "sub"}, {Issuer: "https://a.example", Resource: "https:///mcp", Claim: "sub"},
		{Issuer: "https://a.example", Resource: resource + "#x", Claim: "sub"}, {Issuer: "https://a.example", Resource: "ftp://127.0.0.1", Claim: "sub"},
	} {
		_, err := oauth.New(c)
		assert.That(t, err != nil, "%+v is accepted", c)
	}
}
