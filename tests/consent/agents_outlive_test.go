package consent

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/go-jose/go-jose/v4"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	agentOrigin = "https://notes.example"
	callback    = "https://client.example/cb"
	pkceProof   = "a-verifier-of-more-than-forty-three-characters-000"
)

// owner is the device of the owner, signing in at a server.
type owner struct {
	t      *testing.T
	server *harness.HTTPServer
	device virtualwebauthn.Authenticator
	key    virtualwebauthn.Credential
	client string // that asks for rights
}

var party = virtualwebauthn.RelyingParty{ID: "notes.example", Name: "vaultwicket", Origin: agentOrigin}

// newOwner adds a passkey with the link of "passkey add", and registers a client.
func newOwner(r *harness.Program, server *harness.HTTPServer) *owner {
	r.T.Helper()
	o := &owner{t: r.T, server: server}
	_, code, _ := strings.Cut(strings.TrimSpace(r.Must("passkey", "add", "--public-url="+publicURL)), "#")
	_, begun := o.send("/oauth/setup/begin", map[string]any{"code": code})
	text, _ := json.Marshal(begun["options"])
	options := require.Value(virtualwebauthn.ParseAttestationOptions(string(text)))(o.t)
	handle, _ := base64.RawURLEncoding.DecodeString(begun["options"].(map[string]any)["user"].(map[string]any)["id"].(string))
	o.device = virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: handle})
	for o.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(o.key.Key.AttestationData()) < 77; {
		o.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2) // the library leaves zeros at the beginning of a coordinate out
	}
	made := virtualwebauthn.CreateAttestationResponse(party, o.device, o.key, *options)
	status, answer := o.send("/oauth/setup/finish", map[string]any{"ticket": begun["ticket"], "credential": json.RawMessage(made)})
	require.Equal(o.t, status, http.StatusOK, "the passkey: %v", answer)
	_, registered := o.send("/oauth/register", map[string]any{"client_name": "A phone", "redirect_uris": []string{callback}})
	o.client = fmt.Sprint(registered["client_id"])
	return o
}

// post sends a request without a token, and returns the answer.
func (o *owner) post(path, body string, headers ...string) (status int, answer map[string]any) {
	o.t.Helper()
	response, text := visit(o.server, http.MethodPost, path, body, headers...)
	_ = json.Unmarshal([]byte(text), &answer)
	return response.StatusCode, answer
}

// send sends a request of a page.
func (o *owner) send(path string, body any) (status int, answer map[string]any) {
	o.t.Helper()
	return o.post(path, harness.JSON(o.t, body), "Origin", agentOrigin)
}

// decide signs in and grants a client the rights of an agent. The code is "" where that is refused.
func (o *owner) decide(agent string) (code string) {
	o.t.Helper()
	sum := sha256.Sum256([]byte(pkceProof))
	query := url.Values{
		"response_type": {"code"}, "client_id": {o.client}, "redirect_uri": {callback}, "scope": {all}, "resource": {publicURL},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	_, begun := o.send("/oauth/begin", map[string]any{})
	text, _ := json.Marshal(begun["options"])
	options := require.Value(virtualwebauthn.ParseAssertionOptions(string(text)))(o.t)
	signed := virtualwebauthn.CreateAssertionResponse(party, o.device, o.key, *options)
	_, wanted := o.send("/oauth/finish", map[string]any{"ticket": begun["ticket"], "credential": json.RawMessage(signed), "query": "?" + query.Encode()})
	_, decided := o.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": agent, "scope": "vault:destructive", "allow": true})
	location, err := url.Parse(fmt.Sprint(decided["location"]))
	if err != nil {
		return ""
	}
	return location.Query().Get("code")
}

// exchange sends a code, or a refresh token, for tokens.
func (o *owner) exchange(kind, secret string) (status int, tokens map[string]any) {
	o.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {secret}, "client_id": {o.client}, "redirect_uri": {callback}, "code_verifier": {pkceProof}}
	if kind == "refresh token" {
		form = url.Values{"grant_type": {"refresh_token"}, "refresh_token": {secret}, "client_id": {o.client}}
	}
	return o.post("/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// given is what an agent was given, and what is kept for it.
type given struct {
	*harness.Program
	stdio           *harness.Client
	signIn, issuing *harness.HTTPServer
	owner           *owner
	issuer          *harness.Issuer
	key             harness.SigningKey

	bearer, access, refresh, code, issued string
	byBearer, byAccess, byIssued          *caller // with sessions
	cursor                                string
	streams                               map[string]<-chan struct{} // closed at their ends
}

const agentOfTest = `[agents.ann]
oauth = ["ann@example"]
[agents.ann.access]
"/" = "rwd"
`

var (
	repeated = harness.Calling("append", "path=Both/Plan.md", "content=repeated").With("idempotencyKey", "k")
	allowed  = harness.Calling("append", "path=Both/Plan.md", "content=allowed")
	typed    = []string{"run", "--agent=ann", "append", "path=Ann/Plan.md", "content=typed"} // another note: an approval ends with a change
	waits    = harness.Calling("append", "path=Both/Plan.md", "content=waits")
	reading  = harness.Calling("read", "path=Ann/Plan.md")
)

// start starts the servers.
func (g *given) start() {
	g.stdio = serverOf(g.Program, "ann")
	g.Flags = []string{"--public-url=" + publicURL, "--sign-in=passkey"}
	g.signIn = g.OverHTTP()
	g.Flags = []string{"--public-url=" + publicURL, "--oauth-issuer=" + g.issuer.URL}
	g.issuing = g.OverHTTP()
	g.Flags = nil
	if g.owner != nil {
		g.owner.server = g.signIn
	}
}

// give gives the agent one of everything.
func give(t *testing.T) *given {
	g := &given{Program: harness.New(t, agentNotes), key: harness.NewKey("k1", jose.ES256), streams: map[string]<-chan struct{}{}}
	g.Tables = agentOfTest
	g.Set("confirm", `"writes"`)
	g.issuer = harness.NewIssuer(t, g.key)
	g.bearer = tokenOf(g.Program, "ann")
	g.start()
	g.owner = newOwner(g.Program, g.signIn)
	status, tokens := g.owner.exchange("code", g.owner.decide("ann"))
	require.Equal(t, status, http.StatusOK, "the first token: %v", tokens)
	g.access, g.refresh = fmt.Sprint(tokens["access_token"]), fmt.Sprint(tokens["refresh_token"])
	g.code = g.owner.decide("ann")
	g.issued = g.key.Sign(t, g.issuer.Claims(publicURL, time.Now(), map[string]any{"sub": "ann@example", "scope": all}), nil)
	g.byBearer, g.byAccess, g.byIssued = callerOf(g.signIn, g.bearer), callerOf(g.signIn, g.access), callerOf(g.issuing, g.issued)
	for kind, c := range map[string]*caller{"bearer": g.byBearer, "access": g.byAccess, "issued": g.byIssued} {
		require.Equal(t, c.connect(), http.StatusOK, "a session by %s", kind)
		g.streams[kind] = c.listen()
	}
	for _, call := range []harness.Call{repeated, allowed} {
		g.stdio.Do(call)
		approve(g.Program, "ann")
		if call["idempotencyKey"] != nil { // the other stays approved, and is not made
			got := g.stdio.Do(call)
			require.That(t, got.OK, "%+v", got.Error)
		}
	}
	g.Run(typed...)
	approve(g.Program, "ann")
	g.stdio.Do(waits)
	listed := g.stdio.Do(harness.Calling("files").With("limit", 1))
	require.That(t, listed.Truncated != nil, "no cursor: %+v", listed)
	g.cursor = listed.Truncated.Cursor
	return g
}

// listen opens the stream of the session. The channel is closed at its end.
func (c *caller) listen() <-chan struct{} {
	c.T.Helper()
	response := require.Value(c.Client.Do(c.Request(c.T.Context(), http.MethodGet, "/mcp", "", "Mcp-Session-Id", c.session)))(c.T)
	require.Equal(c.T, response.StatusCode, http.StatusOK, "a stream")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
	}()
	return ended
}

// with returns a caller of a server with another token, in the session of the first.
func (c *caller) with(server *harness.HTTPServer, token string) *caller {
	return &caller{Endpoint: server.As(token), session: c.session}
}

// counting returns what of it counts, by its names.
func (g *given) counting() map[string]bool {
	t := g.T
	answers := func(c *caller) bool {
		got, status := c.do(reading)
		return status == http.StatusOK && got.OK
	}
	made := func(got gateway.Result) bool { return got.OK }
	counts := map[string]bool{}
	fresh := func(server *harness.HTTPServer, token string) bool {
		c := callerOf(server, token)
		return c.connect() == http.StatusOK && answers(c)
	}
	counts["bearer token"] = fresh(g.signIn, g.bearer)
	counts["access token"] = fresh(g.signIn, g.access)
	counts["access token of an issuer"] = fresh(g.issuing, g.issued)
	counts["session"] = answers(g.byBearer)
	counts["session of an access token"] = answers(g.byAccess)
	counts["session of a token of an issuer"] = answers(g.byIssued)
	counts["cursor"] = made(g.stdio.Do(harness.Call{"command": "files", "cursor": g.cursor}))
	counts["kept answer"] = resource(g.stdio, "vaultwicket://output/"+g.cursor) != ""
	counts["question"] = strings.Contains(g.stdio.Do(harness.Calling("approvals")).Stdout, "append")
	counts["key"] = made(g.stdio.Do(repeated)) // otherwise it is another call, which requires approval
	counts["approval"] = made(g.stdio.Do(allowed))
	_, _, status := g.Run(typed...)
	counts["approval in the terminal"] = status == 0
	status, _ = g.owner.exchange("code", g.code)
	counts["code"] = status == http.StatusOK
	status, _ = g.owner.exchange("refresh token", g.refresh) // replaces the access token
	counts["refresh token"] = status == http.StatusOK
	counts["grant"] = strings.Contains(g.Must("passkey", "list", "--json"), `"ann"`)
	require.That(t, len(counts) == 15, "%v", counts)
	return counts
}

// openStreams returns the streams that are open.
func (g *given) openStreams() map[string]bool {
	open := map[string]bool{}
	for kind, ended := range g.streams {
		select {
		case <-ended:
			open[kind] = false
		default:
			open[kind] = true
		}
	}
	return open
}

// endStreams waits for the ends of the streams.
func (g *given) endStreams(how string) {
	for kind, ended := range g.streams {
		within(g.T, how+": the stream by "+kind+" ends", func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
	}
}

// Everything that an agent was given, and everything that is kept for it, ends with its credentials,
// and does not count again when the agent has rights again.
func TestNothingOutlivesItsAgent(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(g *given) (token string){
		"rotate": func(g *given) string { return g.Must("agent", "rotate", "ann") },
		"revoke and rotate": func(g *given) string {
			g.Must("agent", "revoke", "ann")
			for what, counts := range g.counting() {
				assert.That(g.T, !counts, "revoked: the %s counts", what)
			}
			assert.Equal(g.T, g.owner.decide("ann"), "", "revoked: a code for a client")
			g.endStreams("revoked")
			return g.Must("agent", "rotate", "ann")
		},
		"remove and add": func(g *given) string {
			g.Tables = "[agents.other]\n"
			g.Save()
			g.Must("agent", "remove", "ann")
			g.endStreams("removed")
			for what, counts := range g.counting() {
				// The agent is not defined, so what it typed is refused as wrong.
				assert.That(g.T, !counts, "removed: the %s counts", what)
			}
			token := g.Must("agent", "add", "ann", "--tier=v3", "--allow-mutations")
			g.Tables = agentOfTest
			g.start() // a server that runs gives nothing back
			return token
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			g := give(t)
			again := strings.TrimSpace(end(g))
			g.endStreams(how)
			for what, counts := range g.counting() {
				assert.That(t, !counts, "%s: the %s counts", how, what)
			}
			waiting, _, err := consent.OpenStore(consent.Folder(filepath.Join(stateOf(g.Program))), nil).List()
			require.NoError(t, err)
			for _, q := range waiting { // of the calls above
				assert.Equal(t, q.State, consent.Pending, "%s: a question of before", how)
			}
			// What is given later counts.
			c := callerOf(g.signIn, again)
			require.Equal(t, c.connect(), http.StatusOK, "%s: the new token", how)
			got, _ := c.do(reading)
			assert.That(t, got.OK, "%s: a call with the new token: %+v", how, got.Error)
			status, tokens := g.owner.exchange("code", g.owner.decide("ann"))
			require.Equal(t, status, http.StatusOK, "%s: the new grant: %v", how, tokens)
			access := fmt.Sprint(tokens["access_token"])
			c = callerOf(g.signIn, access)
			require.Equal(t, c.connect(), http.StatusOK, "%s: the new access token", how)
			got, _ = c.do(reading)
			assert.That(t, got.OK, "%s: a call with the new access token: %+v", how, got.Error)
			_, status = g.byAccess.with(g.signIn, access).do(reading)
			assert.Equal(t, status, http.StatusNotFound, "%s: the session of before with the new access token", how)
			later := g.issuer.Claims(publicURL, time.Now(), map[string]any{"sub": "ann@example", "scope": all, "iat": time.Now().Add(2 * time.Second).Unix()})
			issued := g.key.Sign(t, later, nil)
			_, status = g.byIssued.with(g.issuing, issued).do(reading)
			assert.Equal(t, status, http.StatusNotFound, "%s: the session of before with a new token of the issuer", how)
			c = callerOf(g.issuing, issued)
			require.Equal(t, c.connect(), http.StatusOK, "%s: a new token of the issuer", how)
		})
	}
}

// A pause, and an expiry that the user moves, take all rights, and give back what was there.
func TestAPauseGivesBackWhatItTook(t *testing.T) {
	t.Parallel()
	g := give(t)
	g.Must("pause", "--agent=ann")
	for _, call := range []harness.Call{reading, repeated, allowed, harness.Calling("approvals"), {"command": "files", "cursor": g.cursor}} {
		assert.Equal(t, agentCodeOf(g.stdio, call), "paused", "%v", call)
	}
	for kind, c := range map[string]*caller{"bearer": g.byBearer, "access": g.byAccess, "issued": g.byIssued} {
		got, status := c.do(reading)
		require.Equal(t, status, http.StatusOK, "%s: in the session", kind)
		assert.Equal(t, harness.CodeOf(got), "paused", "%s: in the session", kind)
	}
	_, _, status := g.Run(typed...)
	assert.That(t, status != 0, "a call at the terminal")
	g.Must("resume", "--agent=ann")
	for kind, open := range g.openStreams() {
		assert.That(t, open, "the stream by %s has ended", kind)
	}
	for what, counts := range g.counting() {
		assert.That(t, counts, "resumed: the %s does not count", what)
	}
}

func TestAnExpiryThatIsMovedGivesBackWhatItTook(t *testing.T) {
	t.Parallel()
	g := give(t)
	g.Tables = strings.Replace(agentOfTest, "[agents.ann]\n", "[agents.ann]\nexpires = 2001-01-01\n", 1)
	g.Save()
	within(t, "the agent expires", func() bool { return agentCodeOf(g.stdio, reading) == "agent_denied" })
	g.endStreams("expired")
	for what, counts := range g.counting() {
		// The grant stays in the list: it counts again when the agent does.
		assert.Equal(t, counts, what == "grant", "expired: the %s counts", what)
	}
	assert.Equal(t, g.owner.decide("ann"), "", "expired: a code for a client")
	g.Tables = agentOfTest
	g.start() // a server that runs gives nothing back
	g.byBearer, g.byAccess, g.byIssued = callerOf(g.signIn, g.bearer), callerOf(g.signIn, g.access), callerOf(g.issuing, g.issued)
	after := g.counting()
	for _, what := range []string{"bearer token", "access token of an issuer", "refresh token", "grant", "key", "approval in the terminal"} {
		assert.That(t, after[what], "moved: the %s does not count", what)
	}
}
