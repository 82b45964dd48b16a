package oauth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	callback = "https://client.example/cb?x=1"
	verifier = "a-verifier-of-more-than-forty-three-characters-000"
)

// site is a server with its owner's device.
type site struct {
	*AuthorizationServer
	t      *testing.T
	http   *httptest.Server
	state  string
	clock  time.Time
	device virtualwebauthn.Authenticator
	key    virtualwebauthn.Credential
	rp     virtualwebauthn.RelyingParty
	client string

	standing map[string]string // generations of the credentials of agents, "revoked" for none
	ended    []string          // agents that cannot be granted

	waits   string   // the name of the one question that waits
	decided []string // what was answered
}

func newSite(t *testing.T) *site {
	s := &site{t: t, state: filepath.Join(t.TempDir(), "state"), clock: time.Now(), standing: map[string]string{}} // go-oauth2 has no other clock
	s.http = httptest.NewUnstartedServer(nil)
	port := strings.TrimPrefix(s.http.Listener.Addr().String(), "127.0.0.1:")
	var err error
	s.AuthorizationServer, err = NewServer(ServerConfig{
		Resource: "http://localhost:" + port + "/mcp", Scopes: []string{"vault:read", "vault:write", "vault:destructive"},
		Agents: func() []Agent {
			return []Agent{{"phone", []string{"Notes"}, "tier v1"}, {"other", []string{"Work"}, "tier v0"}}
		},
		Grantable: func(agent string) bool {
			return (agent == "phone" || agent == "other") && !slices.Contains(s.ended, agent)
		},
		Generation: func(agent string) (string, bool) { return s.standing[agent], s.standing[agent] != "revoked" },
		Question: func(ref string) (string, func(bool) error) {
			if ref != s.waits {
				return "", nil
			}
			return "<h2>" + ref + "</h2>", func(approve bool) error {
				if ref != s.waits {
					return errors.New("it was answered")
				}
				s.waits, s.decided = "", append(s.decided, fmt.Sprint(ref, approve))
				return nil
			}
		},
		Style: []byte("body{}"), Reads: []byte("0"), Store: OpenSignInStore(s.state),
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.clock },
	})
	require.NoError(t, err)
	s.http.Config.Handler = s.AuthorizationServer
	s.http.Start()
	t.Cleanup(s.http.Close)
	s.rp = virtualwebauthn.RelyingParty{ID: "localhost", Name: "vaultwicket", Origin: s.origin}
	s.client = s.registered(callback)
	return s
}

// send sends a request of a page, and returns the answer.
func (s *site) send(path string, body any, headers ...string) (status int, answer map[string]any) {
	s.t.Helper()
	text, _ := json.Marshal(body)
	return s.raw("POST", path, string(text), append([]string{"Content-Type", "application/json", "Origin", s.origin}, headers...)...)
}

func (s *site) raw(method, path, body string, headers ...string) (status int, answer map[string]any) {
	s.t.Helper()
	r, _ := http.NewRequest(method, s.http.URL+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	response := require.Value(http.DefaultClient.Do(r))(s.t)
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	_ = json.Unmarshal(text, &answer) // pages are none
	return response.StatusCode, answer
}

// registered registers a client and returns its id.
func (s *site) registered(redirects ...string) string {
	s.t.Helper()
	status, answer := s.send("/oauth/register", map[string]any{"client_name": "A client", "redirect_uris": redirects}, "Origin", "")
	require.That(s.t, status == 201, "register: %d %v", status, answer)
	return answer["client_id"].(string)
}

// setUp adds the passkey of the device.
func (s *site) setUp() {
	s.t.Helper()
	code := require.Value(s.store.NewSetup(s.clock))(s.t)
	if status, answer := s.addPasskey(code); status != 200 {
		s.t.Fatalf("setup: %d %v", status, answer)
	}
}

func (s *site) addPasskey(code string) (int, map[string]any) {
	s.t.Helper()
	status, begun := s.send("/oauth/setup/begin", map[string]any{"code": code})
	if status != 200 {
		return status, begun
	}
	text, _ := json.Marshal(begun["options"])
	options := require.Value(virtualwebauthn.ParseAttestationOptions(string(text)))(s.t)
	handle, _ := base64.RawURLEncoding.DecodeString(begun["options"].(map[string]any)["user"].(map[string]any)["id"].(string))
	s.device = virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: handle})
	for s.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(s.key.Key.AttestationData()) < 77; {
		s.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2) // the library leaves zeros at the beginning of a coordinate out
	}
	made := virtualwebauthn.CreateAttestationResponse(s.rp, s.device, s.key, *options)
	return s.send("/oauth/setup/finish", map[string]any{"ticket": begun["ticket"], "credential": json.RawMessage(made)})
}

// login is what signs in, and where it believes to be.
type login struct {
	site   *virtualwebauthn.RelyingParty
	device *virtualwebauthn.Authenticator
	key    *virtualwebauthn.Credential
}

// signIn signs in with a device, with the query of a client.
func (s *site) signIn(query string, changes ...func(login)) (int, map[string]any) {
	s.t.Helper()
	_, begun := s.send("/oauth/begin", map[string]any{})
	text, _ := json.Marshal(begun["options"])
	options := require.Value(virtualwebauthn.ParseAssertionOptions(string(text)))(s.t)
	rp, device, key := s.rp, s.device, s.key
	for _, change := range changes {
		change(login{&rp, &device, &key})
	}
	signed := virtualwebauthn.CreateAssertionResponse(rp, device, key, *options)
	asked := map[string]any{"ticket": begun["ticket"], "credential": json.RawMessage(signed), "query": query}
	if ref, is := strings.CutPrefix(query, "question "); is {
		asked["question"], asked["query"] = ref, ""
	}
	return s.send("/oauth/finish", asked)
}

// query is that of a client, with changes; "-" removes a parameter.
func (s *site) query(changes ...string) string {
	sum := sha256.Sum256([]byte(verifier))
	values := url.Values{
		"response_type": {"code"}, "client_id": {s.client}, "redirect_uri": {callback}, "scope": {"vault:read vault:write"}, "state": {"st&ate"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {s.Resource},
	}
	for i := 0; i < len(changes); i += 2 {
		if values.Set(changes[i], changes[i+1]); changes[i+1] == "-" {
			values.Del(changes[i])
		}
	}
	return "?" + values.Encode()
}

// code has the owner allow what a query asks for, and returns the code.
func (s *site) code(query string) string {
	s.t.Helper()
	status, wanted := s.signIn(query)
	require.Equal(s.t, status, 200, "sign in")
	require.That(s.t, wanted["ticket"] != nil, "sign in: %d %v", status, wanted)
	status, decided := s.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": "phone", "scope": "vault:write", "allow": true})
	location, err := url.Parse(fmt.Sprint(decided["location"]))
	require.Equal(s.t, status, 200, "decide: %d %v", status, decided)
	require.Equal(s.t, err, nil, "decide: %d %v", status, decided)
	require.That(s.t, location.Query().Get("code") != "", "decide: %d %v", status, decided)
	return location.Query().Get("code")
}

// form is a request for a token, with changes; "-" removes a parameter.
func (s *site) exchange(base url.Values, changes ...string) (int, map[string]any) {
	s.t.Helper()
	form := url.Values{}
	for name, list := range base {
		form[name] = slices.Clone(list)
	}
	for i := 0; i < len(changes); i += 2 {
		if form.Set(changes[i], changes[i+1]); changes[i+1] == "-" {
			form.Del(changes[i])
		}
	}
	return s.raw("POST", "/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func (s *site) forCode(code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {s.client},
		"redirect_uri": {callback}, "code_verifier": {verifier}, "resource": {s.Resource}}
}

func (s *site) forRefresh(token any) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {fmt.Sprint(token)}, "client_id": {s.client}}
}

// A question is shown after a sign-in with the passkey, and answered once, with the ticket that came
// with it and from a page of the server. A link says nothing of it.
func TestTheOwnerAnswersAQuestion(t *testing.T) {
	s := newSite(t)
	s.waits = "Q1"
	page := func(path string) string {
		response := require.Value(http.Get(s.http.URL + path))(t)
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return fmt.Sprint(response.StatusCode, response.Header, string(text))
	}
	hidden := regexp.MustCompile(`Date:\[[^\]]*\]`)
	if a, b := page("/oauth/question/Q1"),
		page("/oauth/question/Q2"); hidden.ReplaceAllString(a, "") != hidden.ReplaceAllString(b, "") ||
		!strings.Contains(a, "Sign in with a passkey") || !strings.Contains(a, "frame-ancestors 'none'") {
		t.Errorf("the pages of links differ:\n%s\n%s", a, b)
	}
	other := newSite(t)
	other.setUp()
	s.setUp()
	ask := func() any {
		t.Helper()
		status, shown := s.signIn("question Q1")
		require.Equal(t, status, 200)
		require.Equal(t, shown["html"], "<h2>Q1</h2>")
		require.That(t, shown["client"] == nil, "%d %v", status, shown)
		return shown["ticket"]
	}
	_, consent := s.signIn(s.query())
	_, begun := s.send("/oauth/begin", map[string]any{})
	late := ask()
	s.clock = s.clock.Add(ticketFor)
	for what, attempt := range map[string]func() (int, map[string]any){
		"another device": func() (int, map[string]any) {
			return s.signIn("question Q1", func(l login) { *l.device, *l.key = other.device, other.key })
		},
		"the key of another site": func() (int, map[string]any) {
			return s.signIn("question Q1", func(l login) { l.site.Origin = "https://evil.example" })
		},
		"an unknown question": func() (int, map[string]any) { return s.signIn("question Q2") },
		"a part of a name":    func() (int, map[string]any) { return s.signIn("question Q") },
		"no ticket":           func() (int, map[string]any) { return s.send("/oauth/decide", map[string]any{"allow": true}) },
		"a made-up ticket": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": "Q1", "allow": true})
		},
		"a challenge as ticket": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": begun["ticket"], "allow": true})
		},
		"a late ticket": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": late, "allow": true})
		}, "a ticket for a client": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": consent["ticket"], "question": "Q1", "allow": true})
		},
		"a ticket to finish with": func() (int, map[string]any) {
			return s.send("/oauth/finish", map[string]any{"ticket": ask(), "question": "Q1", "credential": map[string]any{}})
		},
		"from another page": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": ask(), "allow": true}, "Origin", "https://evil.example")
		},
		"from no page": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": ask(), "allow": true}, "Origin", "")
		},
		"as a form": func() (int, map[string]any) {
			return s.send("/oauth/decide", map[string]any{"ticket": ask(), "allow": true}, "Content-Type", "text/plain")
		},
		"by its address": func() (int, map[string]any) {
			return s.raw("GET", "/oauth/decide?ticket="+fmt.Sprint(ask())+"&allow=true", "")
		}, "to the page": func() (int, map[string]any) {
			return s.send("/oauth/question/Q1", map[string]any{"ticket": ask(), "allow": true})
		},
	} {
		if status, answer := attempt(); status < 400 || len(s.decided) > 0 {
			t.Errorf("%s: %d %v, %q", what, status, answer, s.decided)
		}
	}
	ticket, second := ask(), ask()
	if status, answer := s.send("/oauth/decide", map[string]any{"ticket": ticket, "allow": true}); status != 200 ||
		!slices.Equal(s.decided, []string{"Q1true"}) {
		t.Fatalf("%d %v %q", status, answer, s.decided)
	}
	for _, again := range []any{ticket, second} {
		if status, _ := s.send("/oauth/decide", map[string]any{"ticket": again, "allow": true}); status != 400 || len(s.decided) != 1 {
			t.Errorf("again: %d %q", status, s.decided)
		}
	}
	s.waits = "Q1"
	for range maxTickets + 1 {
		s.send("/oauth/begin", map[string]any{})
	}
	kept := ask()
	for range maxTickets + 1 {
		s.send("/oauth/begin", map[string]any{})
	}
	if status, _ := s.send("/oauth/decide", map[string]any{"ticket": kept}); status != 200 || !slices.Equal(s.decided, []string{"Q1true", "Q1false"}) {
		t.Errorf("denied after a flood of challenges: %d %q", status, s.decided)
	}
}

// The whole way: a passkey, a client, consent, a token, refreshing, removal.
func TestAnOwnerGrantsAClient(t *testing.T) {
	s := newSite(t)
	s.setUp()
	status, wanted := s.signIn(s.query())
	if status != 200 || fmt.Sprint(wanted["scopes"]) != "[vault:read vault:write]" ||
		wanted["client"].(map[string]any)["name"] != "A client" ||
		wanted["client"].(map[string]any)["returns"] != "client.example" || len(wanted["agents"].([]any)) != 2 {
		t.Fatalf("%d %v", status, wanted)
	}
	status, decided := s.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": "phone", "scope": "vault:write", "allow": true})
	location, _ := url.Parse(decided["location"].(string))
	if q := location.Query(); status != 200 || !strings.HasPrefix(location.String(), "https://client.example/cb?") ||
		q.Get("x") != "1" || q.Get("state") != "st&ate" || q.Get("iss") != s.origin {
		t.Fatalf("%d %v", status, decided)
	}
	status, got := s.exchange(s.forCode(location.Query().Get("code")))
	require.Equal(t, status, 200)
	require.Equal(t, got["token_type"], "Bearer")
	require.Equal(t, got["expires_in"], 3600.0)
	require.Equal(t, got["scope"], "vault:read vault:write")
	holder := s.Holder(got["access_token"].(string))
	assert.Equal(t, holder.Agent, "phone")
	assert.EqualSlices(t, holder.Scopes, []string{"vault:read", "vault:write"})
	file, err := os.ReadFile(filepath.Join(s.state, fileName))
	if secret := got["refresh_token"].(string); err != nil ||
		strings.Contains(string(file), secret[strings.Index(secret, ".")+1:]) ||
		strings.Contains(string(file), got["access_token"].(string)) {
		t.Errorf("the file has a token: %v", err)
	}
	info, _ := os.Stat(filepath.Join(s.state, fileName))
	if runtime.GOOS != "windows" { // there the mode of a file gives nobody access to it
		assert.Equal(t, info.Mode().Perm(), 0o600, "others can read the file: %v", info.Mode())
	}
	status, next := s.exchange(s.forRefresh(got["refresh_token"]))
	require.Equal(t, status, 200)
	require.Equal(t, next["scope"], "vault:read vault:write")
	assert.Equal(t, s.Holder(next["access_token"].(string)).Identity, holder.Identity)
	assert.That(t, s.Holder(got["access_token"].(string)).Agent == "", "a replaced access token still counts")
	s.tokens.mu.Lock()
	clear(s.tokens.access) // as after a restart: the client refreshes
	s.tokens.mu.Unlock()
	assert.That(t, s.Holder(next["access_token"].(string)).Agent == "", "an access token outlives a restart")
	status, last := s.exchange(s.forRefresh(next["refresh_token"]))
	require.Equal(t, status, 200)
	assert.Equal(t, s.Holder(last["access_token"].(string)).Agent, "phone")
	s.clock = s.clock.Add(time.Hour)
	assert.That(t, s.Holder(last["access_token"].(string)).Agent == "", "an access token does not expire")
	s.clock = s.clock.Add(-time.Hour)
	_, grants, err := s.store.List()
	require.NoError(t, err)
	require.Equal(t, len(grants), 1)
	had, err := s.store.Remove(grants[0].ID)
	require.That(t, had, "removed: %v, %v", had, err)
	require.Equal(t, err, nil, "removed")
	assert.Equal(t, s.Holder(last["access_token"].(string)).Agent, "", "removed")
	status, _ = s.exchange(s.forRefresh(last["refresh_token"]))
	assert.That(t, status != 200, "a removed grant is refreshed")
}

// Every one of these ends without a code or a token.
func TestNoOtherWayToAToken(t *testing.T) {
	s := newSite(t)
	attacks := 0
	refused := func(what string, status int, answer map[string]any, want string) {
		t.Helper()
		attacks++
		text, _ := json.Marshal(answer)
		if answer["access_token"] != nil || answer["ticket"] != nil || strings.Contains(string(text), "code=") ||
			!strings.Contains(string(text), want) || status == 200 && answer["location"] == nil {
			t.Errorf("%s: %d %s, want %q", what, status, text, want)
		}
	}
	// Passkeys.
	for what, code := range map[string]string{"no code": "", "a wrong code": "ABCDEFGH", "the hash of nothing": hashOf("")} {
		status, answer := s.addPasskey(code)
		refused(what, status, answer, "not valid any more")
	}
	late, _ := s.store.NewSetup(s.clock.Add(-setupFor))
	status, answer := s.addPasskey(late)
	refused("an expired code", status, answer, "not valid any more")
	_, unset := s.send("/oauth/begin", map[string]any{})
	status, answer = s.send("/oauth/finish", map[string]any{"ticket": unset["ticket"], "credential": map[string]any{}, "query": s.query()})
	refused("no passkey", status, answer, "not the owner")
	code, _ := s.store.NewSetup(s.clock)
	status, _ = s.addPasskey(code)
	require.Equal(t, status, 200)
	device, key := s.device, s.key
	status, answer = s.addPasskey(code)
	refused("a code twice", status, answer, "not valid any more")
	s.device, s.key = device, key
	for what, change := range map[string]func(login){
		"another key":          func(l login) { *l.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2) },
		"another key, same id": func(l login) { l.key.Key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2).Key },
		"another origin":       func(l login) { l.site.Origin = "https://evil.example" },
		"another port":         func(l login) { l.site.Origin = "http://localhost:1" },
		"with TLS":             func(l login) { l.site.Origin = strings.Replace(l.site.Origin, "http:", "https:", 1) },
		"another server":       func(l login) { l.site.ID = "evil.example" },
		"nobody present":       func(l login) { l.device.Options.UserNotPresent = true },
		"nobody verified":      func(l login) { l.device.Options.UserNotVerified = true },
		"another user":         func(l login) { l.device.Options.UserHandle = []byte("someone else") },
		"no user":              func(l login) { l.device.Options.UserHandle = nil },
	} {
		status, answer := s.signIn(s.query(), change)
		refused(what, status, answer, "not the owner")
	}
	// Requests of clients: no way back to an address that is not the client's.
	for what, changes := range map[string][]string{
		"no client": {"client_id", "-"}, "an unknown client": {"client_id", "client-X"},
		"a client by an address without TLS":    {"client_id", "http://client.example/c"},
		"a client by an address without a path": {"client_id", "https://client.example"},
		"a client on this machine":              {"client_id", "https://127.0.0.1/c"},
		"a client by a name of this machine":    {"client_id", "https://localhost/c"},
		"a client in a private network":         {"client_id", "https://10.0.0.1/c"},
		"the metadata of a cloud":               {"client_id", "https://169.254.169.254/latest"},
		"no address":                            {"redirect_uri", "-"}, "another host": {"redirect_uri", "https://evil.example/cb?x=1"},
		"a longer path":         {"redirect_uri", "https://client.example/cb/../x"},
		"another query":         {"redirect_uri", callback + "&y=2"},
		"a user in the address": {"redirect_uri", "https://client.example@evil.example/cb?x=1"},
		"a fragment":            {"redirect_uri", callback + "#f"},
		"a subdomain":           {"redirect_uri", "https://client.example.evil.example/cb?x=1"},
		"without TLS":           {"redirect_uri", "http://client.example/cb?x=1"},
		"capitals":              {"redirect_uri", "https://CLIENT.example/cb?x=1"},
		"a port":                {"redirect_uri", "https://client.example:8443/cb?x=1"},
		"a script":              {"redirect_uri", "javascript:alert(1)"},
		"a backslash":           {"redirect_uri", `https://client.example\@evil.example/cb?x=1`},
		"this server":           {"redirect_uri", s.origin + "/oauth/decide"},
	} {
		status, answer := s.signIn(s.query(changes...))
		assert.That(t, answer["location"] == nil, "%s: goes to %v", what, answer["location"])
		refused(what, status, answer, "error")
	}
	for what, query := range map[string]string{"two clients": s.query() + "&client_id=x",
		"two addresses":  s.query() + "&redirect_uri=https://evil.example",
		"two challenges": s.query() + "&code_challenge=x", "two resources": s.query() + "&resource=x", "no query": "",
		"a query that is none": "?%zz"} {
		status, answer := s.signIn(query)
		refused(what, status, answer, "error")
	}
	for what, test := range map[string][]string{ // these go back to the client, with an error
		"no PKCE":               {"invalid", "code_challenge", "-"},
		"plain PKCE":            {"code_challenge_method", "code_challenge_method", "plain"},
		"no method of PKCE":     {"code_challenge", "code_challenge_method", "-"},
		"a short challenge":     {"code_challenge", "code_challenge", "abc"},
		"a token at once":       {"error=", "response_type", "token"},
		"no response type":      {"error=", "response_type", "-"},
		"another resource":      {"invalid_target", "resource", "https://evil.example/mcp"},
		"an unknown scope":      {"invalid_scope", "scope", "admin"},
		"the scope of a prefix": {"invalid_scope", "scope", "vault:"},
	} {
		status, answer := s.signIn(s.query(test[1:]...))
		refused(what, status, answer, "error")
		location := fmt.Sprint(answer["location"])
		assert.That(t, strings.HasPrefix(location, "https://client.example/cb?"), "%s: %v", what, answer)
		assert.Contains(t, location, "error=", "%s: %v", what, answer)
	}
	// Decisions.
	decide := func(body map[string]any, headers ...string) (int, map[string]any) {
		_, wanted := s.signIn(s.query())
		if body["ticket"] == nil {
			body["ticket"] = wanted["ticket"]
		}
		return s.send("/oauth/decide", body, headers...)
	}
	status, answer = decide(map[string]any{"agent": "phone", "scope": "vault:read", "allow": false})
	refused("a refusal", status, answer, "error=access_denied")
	status, answer = decide(map[string]any{"agent": "phone", "scope": "vault:read"})
	refused("no decision", status, answer, "error=access_denied")
	for what, body := range map[string]map[string]any{
		"more scope":       {"agent": "phone", "scope": "vault:destructive", "allow": true},
		"no scope":         {"agent": "phone", "allow": true},
		"two scopes":       {"agent": "phone", "scope": "vault:read vault:destructive", "allow": true},
		"an unknown agent": {"agent": "root", "scope": "vault:read", "allow": true},
		"no agent":         {"scope": "vault:read", "allow": true},
		"no ticket":        {"ticket": "", "agent": "phone", "scope": "vault:read", "allow": true},
		"a guessed ticket": {"ticket": "AAAA", "agent": "phone", "scope": "vault:read", "allow": true},
	} {
		status, answer := decide(body)
		refused(what, status, answer, "error")
	}
	for what, headers := range map[string][]string{
		"a page of another origin": {"Origin", "https://evil.example"}, "no origin": {"Origin", ""},
		"the origin null": {"Origin", "null"}, "a form": {"Content-Type", "application/x-www-form-urlencoded"},
		"plain text":        {"Content-Type", "text/plain"},
		"the origin in TLS": {"Origin", strings.Replace(s.origin, "http", "https", 1)},
	} {
		status, answer := decide(map[string]any{"agent": "phone", "scope": "vault:read", "allow": true}, headers...)
		refused(what, status, answer, "only the pages of this server")
	}
	_, wanted := s.signIn(s.query())
	s.clock = s.clock.Add(ticketFor)
	status, answer = s.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": "phone", "scope": "vault:read", "allow": true})
	refused("a late decision", status, answer, "expired")
	s.clock = s.clock.Add(-ticketFor)
	_, wanted = s.signIn(s.query())
	body := map[string]any{"ticket": wanted["ticket"], "agent": "phone", "scope": "vault:read", "allow": true}
	s.send("/oauth/decide", body)
	status, answer = s.send("/oauth/decide", body)
	refused("a decision twice", status, answer, "expired")
	_, begun := s.send("/oauth/begin", map[string]any{})
	status, answer = s.send("/oauth/decide", map[string]any{"ticket": begun["ticket"], "agent": "phone", "scope": "vault:read", "allow": true})
	refused("a decision without signing in", status, answer, "expired")
	// Codes.
	other := s.registered(callback)
	for what, changes := range map[string][]string{
		"no code": {"code", "-"}, "a wrong code": {"code", "AAAA"}, "no verifier": {"code_verifier", "-"},
		"an empty verifier": {"code_verifier", ""}, "a wrong verifier": {"code_verifier", verifier + "x"},
		"the challenge as verifier": {"code_verifier", "x"},
		"another client":            {"client_id", other}, "no client": {"client_id", "-"},
		"another address": {"redirect_uri", "https://evil.example/cb"}, "no address": {"redirect_uri", "-"},
		"another resource": {"resource", "https://evil.example/mcp"},
		"a password":       {"grant_type", "password"}, "the client itself": {"grant_type", "client_credentials"},
		"no grant type": {"grant_type", "-"},
		"a device":      {"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
	} {
		issued := s.code(s.query())
		status, answer := s.exchange(s.forCode(issued), changes...)
		refused("with "+what, status, answer, "error")
		if what == "a wrong verifier" { // the code is used up
			status, answer := s.exchange(s.forCode(issued))
			refused("the right one after "+what, status, answer, "error")
		}
	}
	issued := s.code(s.query())
	form := s.forCode(issued)
	form["code"] = append(form["code"], "x")
	status, answer = s.raw("POST", "/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	refused("two codes", status, answer, "invalid_request")
	status, answer = s.raw("POST", "/oauth/token?"+s.forCode(issued).Encode(), "", "Content-Type", "application/x-www-form-urlencoded")
	refused("a code in the address", status, answer, "invalid_request")
	status, answer = s.raw("GET", "/oauth/token?"+s.forCode(issued).Encode(), "")
	refused("a code in a GET", status, answer, "error")
	status, got := s.exchange(s.forCode(issued))
	require.That(t, status == 200, "%d %v", status, got)
	status, answer = s.exchange(s.forCode(issued))
	refused("a code twice", status, answer, "error")
	assert.That(t, s.Holder(got["access_token"].(string)).Agent == "", "a code that came twice has not ended its grant")
	// Refresh tokens.
	fresh := func() map[string]any {
		_, got := s.exchange(s.forCode(s.code(s.query())))
		return got
	}
	for what, changes := range map[string][]string{
		"another client": {"client_id", other}, "no client": {"client_id", "-"},
		"more scope": {"scope", "vault:destructive"}, "another resource": {"resource", "https://evil.example"},
		"no token": {"refresh_token", ""}, "an access token": {"refresh_token", "vwt_AAAA"},
		"a token of no grant": {"refresh_token", "vwr_AAAA.BBBB"},
	} {
		token := fresh()
		status, answer := s.exchange(s.forRefresh(token["refresh_token"]), changes...)
		refused("refreshing with "+what, status, answer, "error")
		assert.That(t, s.Holder(token["access_token"].(string)).Agent != "", "refreshing with %s ended the grant", what)
	}
	old := fresh()
	_, next := s.exchange(s.forRefresh(old["refresh_token"]))
	status, answer = s.exchange(s.forRefresh(old["refresh_token"]))
	refused("a refresh token twice", status, answer, "error")
	assert.That(t, s.Holder(next["access_token"].(string)).Agent == "", "a refresh token that came twice has not ended its grant")
	status, answer = s.exchange(s.forRefresh(next["refresh_token"]))
	refused("the next one after that", status, answer, "error")
	idle := fresh()
	s.clock = s.clock.Add(refreshFor)
	status, answer = s.exchange(s.forRefresh(idle["refresh_token"]))
	refused("a refresh token after 30 days", status, answer, "error")
	s.clock = s.clock.Add(-refreshFor)
	for _, token := range []string{"", "vwt_", "vwt_AAAA", fmt.Sprint(fresh()["refresh_token"])} {
		attacks++
		assert.That(t, s.Holder(token).Agent == "", "%q is someone's", token)
	}
	// Registration.
	for what, redirects := range map[string][]string{
		"no address": {}, "a script": {"javascript:alert(1)"}, "data": {"data:text/html,x"},
		"a file": {"file:///etc/passwd"}, "no TLS": {"http://client.example/cb"},
		"a fragment": {"https://client.example/#x"}, "a user": {"https://a:b@client.example/"},
		"a relative one": {"/cb"}, "no host": {"https:///cb"},
		"an address in a list": {callback, "vbscript:x"}, "too many": slices.Repeat([]string{callback}, 11),
		"a long one": {"https://client.example/" + strings.Repeat("a", 600)},
		"a line":     {"https://client.example/\n"}, "other letters": {"https://clіent.example/"},
	} {
		status, answer := s.send("/oauth/register", map[string]any{"client_name": "x", "redirect_uris": redirects}, "Origin", "")
		s.mu.Lock()
		s.registered2()
		s.mu.Unlock()
		refused("registering with "+what, status, answer, "invalid_client_metadata")
	}
	status, answer = s.send("/oauth/register",
		map[string]any{"redirect_uris": []string{callback}, "token_endpoint_auth_method": "client_secret_basic"},
		"Origin", "")
	refused("a client with a secret", status, answer, "invalid_client_metadata")
	status, answer = s.raw("POST", "/oauth/register", "[", "Content-Type", "application/json")
	refused("no JSON", status, answer, "invalid_client_metadata")
	assert.That(t, attacks >= 120, "%d attacks", attacks)
	t.Logf("%d attacks", attacks)
}

// registered2 forgets how many clients were registered in this minute.
func (s *site) registered2() { s.AuthorizationServer.registered = nil }

// One of two requests with the same code or token gets an answer.
func TestACodeCountsOnceAmongMany(t *testing.T) {
	s := newSite(t)
	s.setUp()
	_, got := s.exchange(s.forCode(s.code(s.query())))
	for what, form := range map[string]url.Values{"a code": s.forCode(s.code(s.query())), "a token": s.forRefresh(got["refresh_token"])} {
		var all sync.WaitGroup
		var mu sync.Mutex
		issued := 0
		for range 8 {
			all.Go(func() {
				response, err := http.PostForm(s.http.URL+"/oauth/token", form)
				if err != nil {
					return
				}
				defer response.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				if response.StatusCode == 200 {
					issued++
				}
			})
		}
		all.Wait()
		assert.That(t, issued <= 1, "%s counted %d times", what, issued)
	}
}

// What was granted of the rights of an agent ends with the generation of its credentials: tokens,
// codes that were not exchanged, and what the owner was looking at. What is granted later counts.
func TestAGrantEndsWithTheCredentialsOfItsAgent(t *testing.T) {
	for what, ends := range map[string]struct {
		end    func(s *site)
		begin  func(s *site) // after which the agent has rights again
		anew   bool          // then nothing of before counts
		counts bool          // an access token while the agent has none
	}{
		"revoked, and given a new token": {func(s *site) { s.standing["phone"] = "revoked" }, func(s *site) { s.standing["phone"] = "2" }, true, false},
		"given a new token":              {func(s *site) { s.standing["phone"] = "2" }, func(*site) {}, true, false},
		"removed, and added again": {func(s *site) {
			_, err := s.store.RemoveAgent("phone")
			require.NoError(s.t, err)
			s.standing["phone"], s.ended = "2", []string{"phone"}
		}, func(s *site) { s.ended = nil }, true, false},
		// The endpoint answers that itself: a client learns why it is denied.
		"expired, and prolonged": {func(s *site) { s.ended = []string{"phone"} }, func(s *site) { s.ended = nil }, false, true},
	} {
		s := newSite(t)
		s.setUp()
		_, got := s.exchange(s.forCode(s.code(s.query())))
		other := s.grantTo("other")
		access, refresh, code := fmt.Sprint(got["access_token"]), s.forRefresh(got["refresh_token"]), s.forCode(s.code(s.query()))
		before := s.Holder(access)
		require.Equal(t, before.Agent, "phone", "%s: the token is of", what)
		ends.end(s)
		if !ends.anew || s.standing["phone"] == "revoked" || len(s.ended) > 0 {
			_, wanted := s.signIn(s.query())
			status, answer := s.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": "phone", "scope": "vault:read", "allow": true})
			assert.Equal(t, status, 400, "%s: a decision meanwhile: %v", what, answer)
		}
		check := func(when string, tokens bool, holds bool) {
			t.Helper()
			want := map[bool]int{false: 400, true: 200}[tokens]
			assert.Equal(t, s.Holder(access).Agent == "phone", holds, "%s: %s: the access token counts", what, when)
			status, answer := s.exchange(code)
			assert.Equal(t, status, want, "%s: %s: the code: %v", what, when, answer)
			status, answer = s.exchange(refresh)
			assert.Equal(t, status, want, "%s: %s: the refresh token: %v", what, when, answer)
			if !tokens {
				assert.Equal(t, fmt.Sprint(answer["error"]), "invalid_grant", "%s: %s: the error", what, when)
			}
			assert.Equal(t, s.Holder(other).Agent, "other", "%s: %s: the token of another agent", what, when)
		}
		check("meanwhile", false, ends.counts)
		ends.begin(s)
		check("afterwards", !ends.anew, !ends.anew)
		status, got := s.exchange(s.forCode(s.code(s.query())))
		require.Equal(t, status, 200, "%s: a new grant: %v", what, got)
		after := s.Holder(fmt.Sprint(got["access_token"]))
		assert.Equal(t, after.Agent, "phone", "%s: the new token is of", what)
		assert.Equal(t, after.Identity != before.Identity, ends.anew, "%s: a session of before is another's", what)
	}
}

// grantTo has the owner grant an agent to the client, and returns the access token.
func (s *site) grantTo(agent string) string {
	s.t.Helper()
	_, wanted := s.signIn(s.query())
	_, decided := s.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": agent, "scope": "vault:read", "allow": true})
	location := require.Value(url.Parse(fmt.Sprint(decided["location"])))(s.t)
	_, got := s.exchange(s.forCode(location.Query().Get("code")))
	return fmt.Sprint(got["access_token"])
}

// A client that asks for challenges without number takes neither memory nor a decision from the owner.
func TestManyChallenges(t *testing.T) {
	s := newSite(t)
	s.setUp()
	_, wanted := s.signIn(s.query())
	for range maxTickets + 50 {
		status, _ := s.send("/oauth/begin", map[string]any{})
		require.Equal(t, status, 200)
	}
	n := len(s.tickets)
	assert.That(t, n <= maxTickets+1, "%d tickets", n)
	status, decided := s.send("/oauth/decide", map[string]any{"ticket": wanted["ticket"], "agent": "phone", "scope": "vault:read", "allow": true})
	require.Equal(t, status, 200)
	assert.Contains(t, fmt.Sprint(decided["location"]), "code=")
}

// Addresses of a client: exactly, but for the port on the machine of the user.
func TestAddressesOfAClient(t *testing.T) {
	c := Client{Redirects: []string{"http://127.0.0.1/cb", "http://localhost:7777/cb", "cursor://anysphere.cursor/cb", "https://client.example/cb",
		"http://[::1]/a", "http://[::1]/b"}}
	for uri, want := range map[string]bool{
		"http://127.0.0.1/cb": true, "http://127.0.0.1:51234/cb": true, "http://localhost:1/cb": true,
		"cursor://anysphere.cursor/cb": true, "https://client.example/cb": true,
		"http://[::1]:9/a": true, "http://[::1]:9/b": true,
		"http://127.0.0.1:51234/other": false, "http://127.0.0.1:51234/cb?x": false, "http://127.0.0.2:1/cb": false,
		"https://127.0.0.1/cb": false, "http://localhost.evil.example:1/cb": false, "cursor://evil/cb": false,
		"https://client.example:444/cb": false, "http://[::1]:1/cb": false,
	} {
		assert.Equal(t, c.hasRedirect(uri), want, "%s", uri)
	}
}

// A client whose id is the address of its metadata: only that document counts, and only from public
// addresses.
func TestAClientByItsMetadata(t *testing.T) {
	s := newSite(t)
	s.setUp()
	var answer func(http.ResponseWriter)
	documents := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	defer documents.Close()
	id := documents.URL + "/client.json"
	document := func(id string, redirects ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			_ = json.NewEncoder(w).Encode(metadata{ID: id, Name: "By\x1b[2J document" + strings.Repeat("é", 100), Redirects: redirects})
		}
	}
	answer = document(id, callback)
	if status, got := s.signIn(s.query("client_id", id)); status == 200 || !strings.Contains(fmt.Sprint(got["error"]), "not a public address") {
		t.Errorf("an address of this machine is read: %d %v", status, got)
	}
	s.fetcher.Transport = documents.Client().Transport
	status, got := s.signIn(s.query("client_id", id))
	client, _ := got["client"].(map[string]any)
	name := fmt.Sprint(client["name"])
	require.Equal(t, status, 200, "%d %v", status, got)
	require.That(t, strings.HasPrefix(name, "By[2J document"), "%d %v", status, got)
	require.That(t, len(name) <= maxName, "%d %v", status, got)
	require.That(t, !strings.Contains(name, "\x1b"), "%d %v", status, got)
	_, decided := s.send("/oauth/decide", map[string]any{"ticket": got["ticket"], "agent": "phone", "scope": "vault:read", "allow": true})
	location, _ := url.Parse(fmt.Sprint(decided["location"]))
	form := s.forCode(location.Query().Get("code"))
	form.Set("client_id", id)
	answer = func(w http.ResponseWriter) { w.WriteHeader(500) } // it is not read again
	_, token := s.exchange(form)
	refresh := s.forRefresh(token["refresh_token"])
	refresh.Set("client_id", id)
	status, next := s.exchange(refresh)
	assert.That(t, status == 200, "%d %v", status, next)
	for what, how := range map[string]func(http.ResponseWriter){
		"another id": document("https://evil.example/client.json", callback), "no id": document("", callback),
		"another address": document(id, "https://evil.example/cb"), "no address": document(id),
		"a script": document(id, callback, "javascript:x"),
		"an error": func(w http.ResponseWriter) { w.WriteHeader(404); document(id, callback)(w) },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/other")
			w.WriteHeader(302)
			document(id, callback)(w)
		},
		"too long": func(w http.ResponseWriter) {
			w.Write(bytes.Repeat([]byte(" "), maxDocument))
			document(id, callback)(w)
		},
	} {
		answer = how
		status, got := s.signIn(s.query("client_id", id))
		assert.That(t, status != 200, "%s: %v", what, got)
	}
	for address, public := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true, "93.184.216.34:80": false, "127.0.0.1:443": false,
		"[::1]:443": false, "10.1.2.3:443": false, "192.168.0.1:443": false, "172.16.0.1:443": false,
		"169.254.169.254:443": false, "100.64.0.1:443": false,
		"[fe80::1]:443": false, "[fd00::1]:443": false, "[::ffff:127.0.0.1]:443": false, "0.0.0.0:443": false,
		"224.0.0.1:443": false, "[64:ff9b::7f00:1]:443": false, "[2002:7f00:1::]:443": false,
	} {
		assert.Equal(t, publicOnly("tcp", address, nil) == nil, public, "%s is public", address)
	}
}

// SignInPages cannot be framed, and nothing of another origin runs in them; clients find out what the
// server can do; registering is bounded.
func TestPagesAndMetadata(t *testing.T) {
	s := newSite(t)
	for path, kind := range map[string]string{"/oauth/authorize?client_id=x": "text/html",
		"/oauth/passkey": "text/html", "/oauth/signin.js": "text/javascript", "/oauth/page.css": "text/css",
		"/oauth/read.js": "text/javascript"} {
		response := require.Value(http.Get(s.http.URL + path))(t)
		response.Body.Close()
		h := response.Header
		if response.StatusCode != 200 || !strings.HasPrefix(h.Get("Content-Type"), kind) ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") ||
			!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("Set-Cookie") != "" ||
			h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %d %v", path, response.StatusCode, h)
		}
	}
	status, about := s.raw("GET", metadataPath, "")
	if status != 200 || about["issuer"] != s.origin ||
		fmt.Sprint(about["code_challenge_methods_supported"]) != "[S256]" ||
		fmt.Sprint(about["response_types_supported"]) != "[code]" ||
		about["client_id_metadata_document_supported"] != true {
		t.Errorf("%d %v", status, about)
	}
	for _, path := range []string{"/oauth/", "/oauth/token", "/oauth/../mcp", "/oauth/signin.js/x"} {
		status, _ := s.raw("GET", path, "")
		assert.Equal(t, status, 404, "%s", path)
	}
	status = 0
	for i := 0; i < 100 && status != 429; i++ {
		status, _ = s.send("/oauth/register", map[string]any{"redirect_uris": []string{callback}}, "Origin", "")
	}
	assert.That(t, status == 429, "clients without number are registered")
	for range maxClients + 10 {
		s.registered2()
		s.registered(callback)
	}
	c, err := s.store.read()
	require.Equal(t, err, nil, "%d clients, %v", len(c.Clients), err)
	assert.Equal(t, len(c.Clients), maxClients, "%d clients, %v", len(c.Clients), err)
}

// TestOneAddressTakesOnlyWhatIsItsOwn: a flood of challenges and registrations from one address leaves those of others.
func TestOneAddressTakesOnlyWhatIsItsOwn(t *testing.T) {
	s := newSite(t)
	begun := s.storeTicket(ticket{payer: shares.Network("192.0.2.2")})
	for range 20 * maxTickets {
		s.storeTicket(ticket{payer: shares.Network("192.0.2.1")})
	}
	_, has := s.tickets[begun]
	require.That(t, has, "%d tickets, that of another address is kept: %v", len(s.tickets), has)
	assert.That(t, len(s.tickets) <= maxTickets+1, "%d tickets, that of another address is kept: %v", len(s.tickets), has)
	pool := shares.NewPool(registrations, shares.Half)
	for pool.Take(shares.Network("2001:db8::1"), 1) {
	}
	assert.That(t, pool.Take(shares.Network("192.0.2.2"), 1), "registrations")
	assert.That(t, !pool.Take(shares.Network("2001:db8::2"), 1), "registrations")
}
