package consent

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var longNote = strings.Repeat("a line\n", 12)

const (
	publicURL = "https://notes.example/mcp"
	all       = "vault:read vault:write vault:destructive"
)

// site is a server that accepts the access tokens of an issuer.
type site struct {
	*harness.Program
	server *harness.HTTPServer
	issuer *harness.Issuer
	key    harness.SigningKey
}

func newSite(t *testing.T) *site {
	key := harness.NewKey("k1", jose.ES256)
	s := &site{Program: harness.New(t, map[string]string{"Ann/Plan.md": "ann's plan\n", "Both/Plan.md": "the plan of both\n",
		"Ann/Long.md": longNote}), issuer: harness.NewIssuer(t, key), key: key}
	s.Tables = `[agents.ann]
oauth = ["ann@example", "ann-too"]
[agents.bob]
oauth = ["bob@example"]
tier = "v0"
allow-mutations = false
[agents.late]
oauth = ["late@example"]
expires = 2001-01-01
[agents.one]
oauth = ["both@example"]
[agents.two]
oauth = ["both@example"]
`
	s.Flags = []string{"--public-url=" + publicURL, "--oauth-issuer=" + s.issuer.URL, "--log-level=info"}
	s.server = s.OverHTTP()
	return s
}

// as is a caller with a fresh token with changes.
func (s *site) as(sub, scope string) *caller {
	return s.with(map[string]any{"sub": sub, "scope": scope})
}

func (s *site) with(changes map[string]any) *caller {
	return callerOf(s.server, s.key.Sign(s.T, s.issuer.Claims(publicURL, time.Now(), changes), nil))
}

// tool returns a call of a tool as a message.
func tool(t *testing.T, name string, arguments any) string {
	return harness.JSON(t, map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
}

// visit sends a request without a token and returns the answer with its text.
func visit(server *harness.HTTPServer, method, path, body string, headers ...string) (*http.Response, string) {
	server.T.Helper()
	response, err := server.Client.Do(server.Request(server.T.Context(), method, path, body, append([]string{"Authorization", ""}, headers...)...))
	require.NoError(server.T, err)
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response, string(text)
}

func TestAClientLearnsWhereToGetAToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		for _, host := range []string{s.server.Host(), "notes.example"} {
			var about struct {
				Resource string   `json:"resource"`
				Servers  []string `json:"authorization_servers"`
				Scopes   []string `json:"scopes_supported"`
				Methods  []string `json:"bearer_methods_supported"`
			}
			response, text := visit(s.server, "GET", path, "", "Host", host)
			if err := json.Unmarshal([]byte(text), &about); err != nil || response.StatusCode != 200 ||
				response.Header.Get("Content-Type") != "application/json" {
				t.Fatalf("%s at %s: %d %s", path, host, response.StatusCode, text)
			}
			if about.Resource != publicURL || !slices.Equal(about.Servers, []string{s.issuer.URL}) || !slices.Equal(about.Methods, []string{"header"}) ||
				!slices.Equal(about.Scopes, []string{"vault:read", "vault:write", "vault:destructive"}) {
				t.Errorf("%s: %+v", path, about)
			}
		}
	}
	for _, test := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/.well-known/oauth-protected-resource", []string{"Host", "evil.example"}, 403},
		{"GET", "/.well-known/oauth-protected-resource/mcp", []string{"Host", "notes.example.evil.example"}, 403},
		{"GET", "/.well-known/oauth-protected-resource", []string{"Origin", "https://evil.example"}, 403},
		{"POST", "/.well-known/oauth-protected-resource", nil, 405},
		{"GET", "/.well-known/oauth-protected-resource/", nil, 404},
		{"GET", "/.well-known/oauth-protected-resource/other", nil, 404},
		{"GET", "/.well-known/oauth-authorization-server", nil, 404},
		{"GET", "/readyz", nil, 401},
	} {
		if response, text := visit(s.server, test.method, test.path, "",
			test.headers...); response.StatusCode != test.status || strings.Contains(text, "evil") {
			t.Errorf("%s %s %q: %d %s", test.method, test.path, test.headers, response.StatusCode, text)
		}
	}
	const place = `Bearer resource_metadata="https://notes.example/.well-known/oauth-protected-resource/mcp"`
	for token, want := range map[string]string{"": place + `, scope="` + all + `"`,
		"wrong": place + `, error="invalid_token", scope="` + all + `"`,
		"a.b.c": place + `, error="invalid_token", scope="` + all + `"`} {
		headers := []string{"Host", "notes.example"}
		if token == "" {
			headers = append(headers, "Authorization", "")
		}
		answer, err := s.server.As(token).Send(t.Context(), http.MethodPost, harness.Handshake("{}"), headers...)
		challenge := answer.Header.Get("WWW-Authenticate")
		require.Equal(t, err, nil, "with the token %q: %+v %q", token, answer, challenge)
		assert.Equal(t, answer.Status, 401, "with the token %q: %+v %q", token, answer, challenge)
		assert.Equal(t, challenge, want, "with the token %q: %+v %q", token, answer, challenge)
	}
}

func TestAnAccessTokenHasItsAgentsRightsWithinItsScopes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	appends, deletes := harness.Calling("append", "path=Both/Plan.md", "content=more"), harness.Calling("delete", "path=Both/Plan.md")
	reads := harness.Calling("read", "path=Both/Plan.md")
	batch := map[string]any{"operations": []any{
		map[string]any{"clientId": "a", "command": "read", "params": map[string]any{"path": "Both/Plan.md"}},
		map[string]any{"clientId": "b", "command": "append", "params": appends["params"]},
	}}
	for _, test := range []struct {
		what, sub, scope, tool string
		call                   any
		status                 int
		code                   string // of the result, "" for a success
		scopes                 string // of the challenge
	}{
		{"reads to read", "ann@example", "vault:read", "obsidianCli", reads, 200, "", ""},
		{"another value of the same agent", "ann-too", "openid vault:read email", "obsidianCli", reads, 200, "", ""},
		{"writes to read", "ann@example", "vault:read", "obsidianCli", appends, 403, "insufficient_scope", "vault:read vault:write"},
		{"a batch to read", "ann@example", "vault:read", "obsidianBatch", batch, 403, "insufficient_scope", "vault:read vault:write"},
		{"a dry run to read", "ann@example", "vault:read", "obsidianCli", appends.With("dryRun", true), 200, "insufficient_scope", ""},
		{"deletes to write", "ann@example", "vault:write", "obsidianCli", deletes, 403, "insufficient_scope", all},
		{"writes to write", "ann@example", "vault:write", "obsidianCli", appends, 200, "", ""},
		{"a batch to write", "ann@example", "vault:write", "obsidianBatch", batch, 200, "", ""},
		{"removes much to write", "ann@example", "vault:write", "obsidianCli",
			harness.Calling("note:set-section", "path=Ann/Long.md", "lines=1-11", "content=x"), 200, "insufficient_scope",
			""},
		{"deletes to destroy", "ann@example", all, "obsidianCli", deletes, 200, "unconfirmed", ""},
		{"writes beyond the agent", "bob@example", all, "obsidianCli", appends, 200, "tier_closed", ""},
		{"deletes beyond the agent", "bob@example", "vault:destructive", "obsidianCli", deletes, 200, "tier_closed", ""},
		{"reads beyond the tier of the agent", "bob@example", all, "obsidianCli", harness.Calling("search", "query=plan"), 200, "tier_closed", ""},
		{"an agent that has expired", "late@example", all, "obsidianCli", reads, 200, "agent_denied", ""},
	} {
		c := s.as(test.sub, test.scope)
		if got := c.connect(); got != 200 {
			t.Fatalf("%s: no session: %d; the log:\n%s", test.what, got, s.server.Said())
		}
		got, err := c.Send(t.Context(), http.MethodPost, tool(t, test.tool, test.call), "Mcp-Session-Id", c.session)
		require.NoError(t, err)
		var answer struct {
			Result struct{ StructuredContent gateway.Result }
		}
		err = json.Unmarshal([]byte(got.Body), &answer)
		code := harness.CodeOf(answer.Result.StructuredContent)
		require.Equal(t, err, nil, "%s: %+v", test.what, got)
		assert.Equal(t, got.Status, test.status, "%s: %+v", test.what, got)
		assert.Equal(t, code, test.code, "%s: %+v", test.what, got)
		challenge := got.Header.Get("WWW-Authenticate")
		if test.scopes == "" && challenge != "" ||
			test.scopes != "" && (!strings.Contains(challenge, `error="insufficient_scope", scope="`+test.scopes+`"`) ||
				!strings.Contains(challenge, `resource_metadata="https://notes.example/`)) {
			t.Errorf("%s: the challenge %q", test.what, challenge)
		}
	}
	plan, long := s.Read("Both/Plan.md"), s.Read("Ann/Long.md")
	assert.Equal(t, plan, "the plan of both\nmore\nmore", "the notes are %q", plan)
	assert.Equal(t, long, longNote, "the notes are %q", plan)
	got := s.Must("audit", "list", "--agent=ann", "--json")
	assert.That(t, strings.Count(got, "insufficient_scope") >= 2, "the audit log has not both denials:\n%s", got)
}

func TestWhoseATokenIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, test := range []struct {
		what    string
		changes map[string]any
		status  int
		says    string
	}{
		{"nobody", map[string]any{"sub": "eve@example"}, 403, "does not belong to an agent"},
		{"the name of an agent", map[string]any{"sub": "ann"}, 403, "does not belong"},
		{"in other letters", map[string]any{"sub": "Ann@example"}, 403, "does not belong"},
		{"two agents", map[string]any{"sub": "both@example"}, 403, "does not belong"},
		{"no subject", map[string]any{"sub": nil}, 403, "does not belong"},
		{"an empty subject", map[string]any{"sub": ""}, 403, "does not belong"},
		{"two subjects of two agents", map[string]any{"sub": []string{"ann@example", "bob@example"}}, 401, "Unauthorized"},
		{"no scope", map[string]any{"scope": nil}, 403, "none of the scopes"},
		{"other scopes", map[string]any{"scope": "openid vault:admin vault read VAULT:READ vault:reads"}, 403, "none of the scopes"},
		{"expired", map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, 401, "Unauthorized"},
		{"for another server", map[string]any{"aud": "https://other.example/mcp"}, 401, "Unauthorized"},
	} {
		status, text := s.with(test.changes).send(harness.Handshake("{}"))
		assert.Equal(t, status, test.status, "%s: %d %s", test.what, status, text)
		assert.Contains(t, text, test.says, "%s: %d %s", test.what, status, text)
	}
	ann := s.as("ann@example", "vault:read")
	ann.connect()
	for _, test := range []struct {
		what   string
		c      *caller
		status int
	}{
		{"a fresh token of the holder", s.as("ann@example", "vault:read"), 200},
		{"a token with more scopes", s.as("ann@example", "vault:write"), 200},
		{"another agent", s.as("bob@example", "vault:read"), 404},
		{"another user of the agent", s.as("ann-too", "vault:read"), 404},
		{"a client of the user that has registered anew", s.with(map[string]any{"client_id": "another"}), 200},
		{"the token of the server", callerOf(s.server, harness.Token), 404},
		{"a token in place of another header", callerOf(s.server, "x"), 401},
	} {
		test.c.session = ann.session
		_, status := test.c.do(harness.Calling("read", "path=Ann/Plan.md"))
		assert.That(t, status == test.status, "%s: %d", test.what, status)
	}
	for _, headers := range [][]string{{"Authorization", ann.Token}, {"Authorization", "Basic " + ann.Token},
		{"Authorization", "DPoP " + ann.Token}, {"Authorization", "Bearer " + ann.Token + ", Bearer x"}} {
		if status, _ := ann.send(harness.Handshake("{}"), headers...); status != 401 {
			t.Errorf("%q: %d", headers[1][:10], status)
		}
	}
	response, _ := visit(s.server, http.MethodPost, "/mcp?access_token="+ann.Token, harness.Handshake("{}"))
	assert.Equal(t, response.StatusCode, 401, "a token in the address")
	log := s.server.Said()
	assert.NotContains(t, log, ann.Token, "the log has a token, or not whom the owner could add:\n%s", log)
	assert.Contains(t, log, "eve@example", "the log has a token, or not whom the owner could add:\n%s", log)
}

func TestAccessTokensEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.as("ann@example", "vault:read")
	ann.connect()
	read := harness.Calling("read", "path=Ann/Plan.md")
	s.issuer.Break(func(w http.ResponseWriter) { w.WriteHeader(500) })
	if _, status := ann.do(read); status != 200 {
		t.Errorf("while the issuer is away: %d", status)
	}
	if _, status := s.with(map[string]any{"jti": "new"}).do(read); status == 401 || status == 503 {
		t.Errorf("a new token with a known key while the issuer is away: %d", status)
	}
	s.Tables = strings.Replace(s.Tables, `"ann@example", `, "", 1)
	s.Save()
	within(t, "the token counts no longer", func() bool { _, status := ann.do(read); return status == 403 })
}

func TestAServerThatAsksTheIssuerAboutTokens(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	issuer := harness.NewIssuer(t)
	issuer.Says("opaque", issuer.Claims(publicURL, time.Now(), map[string]any{"active": true, "sub": "ann@example", "scope": "vault:read"}))
	file := filepath.Join(t.TempDir(), "client")
	require.NoError(t, os.WriteFile(file, []byte(harness.Credentials[0]+"\n"+harness.Credentials[1]+"\n"), 0o600))
	r.Tables = "[agents.ann]\noauth = [\"ann@example\"]\n"
	r.Flags = []string{"--public-url=" + publicURL, "--oauth-issuer=" + issuer.URL, "--oauth-client-file=" + file}
	agent := strings.TrimSpace(r.Must("agent", "add", "ann"))
	if fields := strings.Fields(agent); len(fields) > 0 {
		agent = fields[slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "vwa_") })]
	}
	server := r.OverHTTP()
	status := func(token string) int { return callerOf(server, token).connect() }
	for token, want := range map[string]int{"opaque": 200, "other": 401, "a.b.c": 401, agent: 200, "vwa_" + strings.Repeat("x", 26): 401} {
		got := status(token)
		assert.That(t, got == want, "%q: %d, want %d; the log:\n%s", token, got, want, server.Said())
	}
	assert.Equal(t, issuer.Asked(), 3, "the issuer was asked, times")
	issuer.Break(func(w http.ResponseWriter) { w.WriteHeader(500) })
	known, fresh := status("opaque"), status("new")
	assert.Equal(t, known, 200, "while the issuer is away")
	assert.Equal(t, fresh, 503, "while the issuer is away")
	if strings.Contains(server.Said(), "opaque") || strings.Contains(server.Said(), "secret") {
		t.Errorf("the log has a token or the secret:\n%s", server.Said())
	}
	for what, change := range map[string]func() error{
		"one line":           func() error { return os.WriteFile(file, []byte("vaultwicket\n"), 0o600) },
		"others can read it": func() error { return os.Chmod(file, 0o644) },
		"no file":            func() error { return os.Remove(file) },
	} {
		if err := change(); err != nil && what != "others can read it" {
			t.Fatal(err)
		}
		_, said, status := r.Run("serve", "--http=127.0.0.1:0", r.Flags[0], r.Flags[1], r.Flags[2])
		assert.Equal(t, status, 2, "%s: %d %s", what, status, said)
		assert.Contains(t, said, "oauth-client-file", "%s: %d %s", what, status, said)
	}
}

func TestAServerWhereTheOwnerSignsIn(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Flags = []string{"--public-url=" + publicURL, "--sign-in=passkey"}
	server := r.OverHTTP()
	for _, test := range []struct {
		what, method, path, body string
		headers                  []string
		status                   int
		says                     string
	}{
		{"the authorization server", "GET", "/.well-known/oauth-authorization-server", "", nil, 200, `"issuer":"https://notes.example"`},
		{"the resource", "GET", "/.well-known/oauth-protected-resource/mcp", "", nil, 200, `"authorization_servers":["https://notes.example"]`},
		{"a page by its name", "GET", "/oauth/authorize?x=1", "", []string{"Host", "notes.example", "Sec-Fetch-Site", "cross-site"}, 200, "Sign in"},
		{"a page by another name", "GET", "/oauth/authorize", "", []string{"Host", "evil.example"}, 403, "Host"},
		{"metadata by another name", "GET", "/.well-known/oauth-authorization-server", "", []string{"Host", "evil.example"}, 403, "Host"},
		{"a token by another name", "POST", "/oauth/token", "grant_type=refresh_token",
			[]string{"Host", "evil.example", "Content-Type", "application/x-www-form-urlencoded"}, 403, "Host"},
		{"a token of no grant", "POST", "/oauth/token", "grant_type=refresh_token&refresh_token=vwr_A.B&client_id=x",
			[]string{"Content-Type", "application/x-www-form-urlencoded"}, 400, "invalid_grant"},
		{"a request of another page", "POST", "/oauth/begin", "{}", []string{"Origin", "https://evil.example"}, 403, "only the pages"},
		{"a request of no page", "POST", "/oauth/begin", "{}", nil, 403, "only the pages"},
		{"a request of the page at the address of the listener", "POST", "/oauth/begin", "{}",
			[]string{"Origin", "http://" + server.Host()}, 403, "only the pages"},
		{"a request of its own page", "POST", "/oauth/begin", "{}", []string{"Origin", "https://notes.example"}, 200, `"rpId":"notes.example"`},
		{"a passkey without the link", "POST", "/oauth/setup/begin", `{"code":""}`, []string{"Origin", "https://notes.example"}, 400, "not valid any more"},
		{"the endpoint below the pages", "POST", "/oauth/../mcp", "{}", nil, 404, "not found"},
		{"the endpoint for a page of the server", "POST", "/mcp", "{}", []string{"Origin", "https://notes.example"}, 403, "origin"},
		{"a body without end", "POST", "/oauth/register", `{"redirect_uris":["` + strings.Repeat("a", 100_000) + `"]}`, nil, 400, "invalid_client_metadata"},
	} {
		response, text := visit(server, test.method, test.path, test.body, test.headers...)
		assert.Equal(t, response.StatusCode, test.status, "%s: %d %s", test.what, response.StatusCode, text)
		assert.Contains(t, text, test.says, "%s: %d %s", test.what, response.StatusCode, text)
	}
	for _, token := range []string{"vwt_", "vwt_AAAA", "vwr_AAAA.BBBB", "a.b.c"} {
		assert.Equal(t, callerOf(server, token).connect(), 401, "the token %q", token)
	}
	assert.Equal(t, callerOf(server, tokenOf(r, "ann")).connect(), 200, "the token of an agent")
	got := r.Must("passkey", "add", "--public-url="+publicURL)
	assert.That(t, strings.HasPrefix(got, "https://notes.example/oauth/passkey#"), "the link is %q", got)
	assert.Equal(t, strings.TrimSpace(r.Must("passkey", "list", "--json")), "[]", "the list")
	for _, args := range [][]string{{"passkey"}, {"passkey", "add"}, {"passkey", "remove"}, {"passkey", "remove", "x"}, {"passkey", "ad"}} {
		out, _, status := r.Run(args...)
		assert.Equal(t, status, 2, "%q: %d %s", args, status, out)
		assert.Equal(t, out, "", "%q: %d %s", args, status, out)
	}
}
