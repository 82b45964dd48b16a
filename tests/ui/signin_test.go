package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// device gives a window a device with passkeys, whose user is there and verified or not.
func device(verified bool) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true,
			IsUserVerified: verified, AutomaticPresenceSimulation: true,
		}})
		return err
	})
}

// passkeySite is a server with a public address where the owner has added a passkey in a window.
type passkeySite struct {
	*world
	server       *harness.HTTPServer
	origin, link string
	owner        *tab
}

func newPasskeySite(t *testing.T, change func(*harness.Program)) *passkeySite {
	t.Helper()
	if browserPath() == "" {
		t.Skip("no Chromium is installed: the tests of the local page are skipped")
	}
	proxy := httptest.NewUnstartedServer(nil)
	_, port, _ := net.SplitHostPort(proxy.Listener.Addr().String())
	origin := "http://localhost:" + port
	r := harness.New(t, map[string]string{"Bread.md": "flour\n"})
	r.Tables = "[agents.phone]\ntier = \"v1\"\n[agents.reader]\nallow-mutations = false\n"
	if change != nil {
		change(r)
	}
	r.Flags = []string{"--public-url=" + origin + "/mcp", "--sign-in=passkey"}
	server := r.OverHTTP()
	proxy.Config.Handler = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: server.Addr})
		p.Out.Host = p.In.Host
	}}
	proxy.Start()
	t.Cleanup(proxy.Close)
	w := &world{Program: r, t: t}
	var err error
	if w.browser, err = theBrowser(); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	s := &passkeySite{world: w, server: server, origin: origin,
		link: strings.TrimSpace(r.Must("passkey", "add", "--public-url="+origin+"/mcp")), owner: w.window()}
	s.owner.run(device(true), chromedp.Navigate(s.link), chromedp.Click(chromedp.CSS("#begin")))
	s.owner.until("the passkey is added", `document.body.innerText.includes("The passkey was added")`)
	return s
}

// call calls obsidianCli with a token, as a client without a session that can do what is said.
func (s *passkeySite) call(token, can, more string, arguments any) (status int, header http.Header, body string) {
	s.t.Helper()
	request := s.server.Request(s.t.Context(), http.MethodPost, "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":`+harness.JSON(s.t, arguments)+more+`,"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":`+can+`}}}`,
		"Authorization", "Bearer "+token, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli")
	response := require.Value(http.DefaultClient.Do(request))(s.t)
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(text)
}

// The owner decides from anywhere: a client opens the link to the question, which shows the whole
// change after a sign-in with the passkey, and so does the link of a message; no one else sees or
// decides anything, and what is approved for one agent is not for another.
func TestTheOwnerDecidesOnThePageOfTheServer(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	teller := filepath.Join(t.TempDir(), "tell")
	require.NoError(t, os.WriteFile(teller, []byte("#!/bin/sh\necho \"$1\" >'"+told+"'\n"), 0o700))
	s := newPasskeySite(t, func(r *harness.Program) {
		r.Write("Long.md", strings.Repeat("a line of text\n", 60)+"<script>document.title = 'run'</script>\n")
		r.Tables = "[agents.phone]\n[agents.other]\n[notify]\ncommand = [" + harness.JSON(t, teller) + "]\n"
	})
	agent := func(name string) string { return strings.TrimSpace(s.Must("agent", "add", name)) }
	phone, other := agent("phone"), agent("other")
	links := `{"elicitation":{"url":{}}}`
	removal := map[string]any{"command": "delete", "params": map[string]any{"path": "Long.md"}}
	type asked struct {
		Result struct {
			RequestState  string
			InputRequests map[string]struct {
				Params struct{ Mode, URL, Message string }
			}
			StructuredContent struct {
				OK    bool
				Error struct{ Code, Message string }
			}
		}
	}
	ask := func(token string, more string) (a asked) {
		t.Helper()
		_, _, text := s.call(token, links, more, removal)
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(text)
		}
		return a
	}
	first := ask(phone, "")
	question := first.Result.InputRequests["confirm"].Params
	isLink := question.Mode == "url" && strings.HasPrefix(question.URL, s.origin+"/oauth/question/") && !strings.Contains(question.URL, "Long")
	if !isLink || !strings.HasPrefix(question.Message, `Delete "Long.md" (vault "Notes")`) {
		t.Fatalf("asked %+v", first)
	}
	stranger := s.window()
	stranger.run(device(true), chromedp.Navigate(question.URL), chromedp.Click(chromedp.CSS("#begin")))
	stranger.until("a device without the passkey is refused", `document.getElementById("problem").textContent !== ""`)
	if shown := stranger.text("body"); strings.Contains(shown, "Long") || strings.Contains(shown, "phone") {
		t.Errorf("a stranger sees %s", shown)
	}
	opened := time.Now()
	s.owner.run(chromedp.Navigate(question.URL), chromedp.Click(chromedp.CSS("#begin")))
	s.owner.until("the question", `!document.getElementById("decision").hidden`)
	t.Logf("from the link to the question: %v", time.Since(opened))
	shown := value[string](s.owner, `document.getElementById("question").textContent`)
	if strings.Count(shown, "a line of text") != 60 || !strings.Contains(shown, "phone") ||
		!strings.Contains(shown, "<script>") || value[bool](s.owner, `document.title === "run"`) {
		t.Errorf("the owner sees %s", shown)
	}
	s.owner.onAPhone("signin-question", "#allow", "#deny")
	assert.Equal(t, s.owner.text("#allow"), "Approve", "what the button says, as on the local page")
	grave := value[string](s.owner,
		`getComputedStyle(document.querySelector("article h2 b")).color + " " + getComputedStyle(document.getElementById("allow")).backgroundColor`)
	assert.NotContains(t, grave, "rgb(42, 98, 71)", "a question that destroys has the colours %s", grave)
	assert.Equal(t, strings.Count(grave, "rgb(150, 64, 31)"), 2, "a question that destroys has the colours %s", grave)
	decided := time.Now()
	s.owner.run(chromedp.Click(chromedp.CSS("#allow")))
	s.owner.until("the decision", `document.getElementById("intro").textContent.startsWith("Approved")`)
	accept := func(a asked) string {
		return `,"inputResponses":{"confirm":{"action":"accept"}},"requestState":` + harness.JSON(t, a.Result.RequestState)
	}
	if got := ask(other, accept(first)); got.Result.StructuredContent.OK || s.Read("Long.md") == "" {
		t.Errorf("another agent with the state of the first: %+v", got)
	}
	if got := ask(other, ""); got.Result.InputRequests["confirm"].Params.URL == question.URL || got.Result.StructuredContent.OK {
		t.Errorf("another agent: %+v", got)
	}
	if got := ask(phone, accept(first)); !got.Result.StructuredContent.OK || s.Read("Long.md") != "" {
		t.Fatalf("the approved call: %+v", got)
	}
	t.Logf("from the decision to the result: %v", time.Since(decided))
	if log := s.Must("audit", "list", "--json"); !strings.Contains(log, `"by": "sign-in"`) && !strings.Contains(log, `"by":"sign-in"`) {
		t.Errorf("the audit log does not say where it was approved: %s", log)
	}
	s.Write("Long.md", "again\n")
	got := ask(phone, accept(first))
	assert.That(t, !got.Result.StructuredContent.OK, "the approval a second time: %+v", got)
	assert.That(t, s.Read("Long.md") != "", "the approval a second time: %+v", got)
	// The owner is told of a question by a message, too. It has the link and no name of a note.
	var message string
	isTold := func() bool {
		text, _ := os.ReadFile(told)
		message = string(text)
		return strings.Contains(message, "/question/")
	}
	require.That(t, assert.Await(patience, isTold), "the owner was told %q", message)
	at := strings.TrimSpace(message[strings.Index(message, "http"):])
	assert.HasPrefix(t, at, s.origin+"/oauth/question/", "the message is %q", message)
	assert.NotContains(t, message, "Long", "the message is %q", message)
	// A client that can ask nothing: its answer has the link, and there the owner says no.
	_, _, refused := s.call(phone, `{}`, "", map[string]any{"command": "delete", "params": map[string]any{"path": "Bread.md"}})
	link := linkOfQuestion.FindString(refused)
	require.That(t, strings.HasPrefix(link, s.origin), "the refusal has no link: %s", refused)
	s.owner.run(chromedp.Navigate(link), chromedp.Click(chromedp.CSS("#begin")))
	s.owner.until("the question", `document.getElementById("question").textContent.includes("Bread.md")`)
	s.owner.run(chromedp.Click(chromedp.CSS("#deny")))
	s.owner.until("the decision", `document.getElementById("intro").textContent.startsWith("Denied")`)
	_, _, text := s.call(phone, `{}`, "", map[string]any{"command": "delete", "params": map[string]any{"path": "Bread.md"}})
	assert.Contains(t, text, "the user declined", "after a no")
	assert.That(t, s.Read("Bread.md") != "", "after a no: %s", text)
	s.ended.Store(true) // the answer is an error
	s.owner.run(chromedp.Navigate(question.URL), chromedp.Click(chromedp.CSS("#begin")))
	s.owner.until("a link of a question that is over", `document.getElementById("problem").textContent.includes("does not wait any more")`)
}

// linkOfQuestion is the link to a question in an answer.
var linkOfQuestion = regexp.MustCompile(`http[^"\\]*/oauth/question/[A-Za-z0-9_-]+`)

// The owner adds a passkey by the link of the terminal, and grants a client rights on the page that
// the client opens; the client gets a token with them, and no one else does.
func TestTheOwnerSignsInWithAPasskey(t *testing.T) {
	began := time.Now()
	s := newPasskeySite(t, nil)
	r, w, origin, link, b := s.Program, s.world, s.origin, s.link, s.owner
	returned := make(chan url.Values, 1)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/callback" {
			returned <- req.URL.Query()
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<link rel=icon href=data:,>done"))
	}))
	defer client.Close()
	if list := r.Must("passkey", "list", "--json"); strings.Count(list, `"kind": "passkey"`) != 1 {
		t.Errorf("the passkeys are %s", list)
	}

	post := func(path, kind, body string) (answer map[string]any) {
		response := require.Value(http.Post(origin+path, kind, strings.NewReader(body)))(t)
		defer response.Body.Close()
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		return answer
	}
	id := post("/oauth/register", "application/json",
		`{"client_name":"A <b>bold</b> client","redirect_uris":["`+client.URL+`/callback"]}`)["client_id"].(string)
	verifier := strings.Repeat("verifier-", 6)
	sum := sha256.Sum256([]byte(verifier))
	ask := origin + "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {client.URL + "/callback"}, "scope": {"vault:read vault:write"}, "state": {"s1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {origin + "/mcp"},
	}.Encode()

	stranger := w.window()
	stranger.run(device(true), chromedp.Navigate(ask), chromedp.Click(chromedp.CSS("#begin")))
	stranger.until("a device without the passkey is refused", `document.getElementById("problem").textContent !== ""`)
	if shown := stranger.text("body"); strings.Contains(shown, "phone") || strings.Contains(shown, "bold") {
		t.Errorf("a stranger sees %s", shown)
	}

	b.run(chromedp.Navigate(ask), chromedp.Click(chromedp.CSS("#begin")))
	b.until("what the client asks for", `!document.getElementById("decision").hidden`)
	choose := func(agent string) {
		value[bool](b, `(() => { const choice = document.getElementById("agent"); choice.value = "`+agent+
			`"; choice.dispatchEvent(new Event("change")); return true })()`)
	}
	assert.That(t, value[bool](b, `document.getElementById("allow").disabled`), "an agent is chosen ahead")
	b.onAPhone("signin-consent", "#allow", "#deny")
	choose("phone")
	shown := b.text("#decision")
	for _, want := range []string{"A <b>bold</b> client", id, strings.TrimPrefix(client.URL, "http://"), "phone",
		"reader", "In Notes, the agent ", "create and add to them"} {
		assert.That(t, strings.Contains(shown, want), "the page does not say %q: %s", want, shown)
	}
	assert.That(t, !strings.Contains(shown, "replace, move and delete"), "more than the client asks for can be granted: %s", shown)
	chosen := value[string](b, `document.getElementById("scope").value`)
	assert.That(t, chosen == "vault:read", "without a choice the client gets %s", chosen)
	value[bool](b, `(() => { document.getElementById("scope").value = "vault:read"; return true })()`)
	b.run(chromedp.Click(chromedp.CSS("#allow")))
	var back url.Values
	select {
	case back = <-returned:
	case <-time.After(patience):
		t.Fatalf("the client was not called: %s", b.text("body"))
	}
	require.Equal(t, back.Get("state"), "s1", "the client got %v", back)
	require.Equal(t, back.Get("iss"), origin, "the client got %v", back)
	require.That(t, back.Get("code") != "", "the client got %v", back)
	token := post("/oauth/token", "application/x-www-form-urlencoded",
		url.Values{"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "client_id": {id},
			"redirect_uri": {client.URL + "/callback"}, "code_verifier": {verifier}}.Encode())
	t.Logf("from the link to a token: %v", time.Since(began))
	call := func(access, command string) (int, string) {
		status, header, _ := s.call(access, `{}`, "", map[string]any{"command": command, "params": map[string]any{"path": "Bread.md", "content": "x"}})
		return status, header.Get("WWW-Authenticate")
	}
	access, _ := token["access_token"].(string)
	if status, _ := call(access, "append"); status != 403 || token["scope"] != "vault:read" {
		t.Errorf("a change with the scope %v: %d", token["scope"], status)
	}
	assert.That(t, r.Read("Bread.md") == "flour\n", "the note is %q", r.Read("Bread.md"))
	if status, _ := call(access, "outline"); status != 200 {
		t.Errorf("a read: %d", status)
	}
	if list := r.Must("passkey", "list"); !strings.Contains(list, "bold") || !strings.Contains(list, "phone") {
		t.Errorf("the grants are %s", list)
	}
	var list []struct{ ID, Kind string }
	err := json.Unmarshal([]byte(r.Must("passkey", "list", "--json")), &list)
	require.Equal(t, err, nil, "%v", list)
	require.Equal(t, len(list), 2, "%v", list)
	for _, one := range list {
		if one.Kind == "client" {
			r.Must("passkey", "remove", one.ID)
		}
	}
	if status, challenge := call(access, "outline"); status != 401 || !strings.Contains(challenge, origin+"/.well-known/oauth-protected-resource/mcp") {
		t.Errorf("after the removal: %d %s", status, challenge)
	}

	// A request that the owner denies, and a link that was used.
	b.run(chromedp.Navigate(ask), chromedp.Click(chromedp.CSS("#begin")))
	b.until("what the client asks for", `!document.getElementById("decision").hidden`)
	b.run(chromedp.Click(chromedp.CSS("#deny")))
	select {
	case back = <-returned:
	case <-time.After(patience):
		t.Fatal("the client was not called")
	}
	assert.Equal(t, back.Get("error"), "access_denied", "after a refusal the client got %v", back)
	assert.Equal(t, back.Get("code"), "", "after a refusal the client got %v", back)
	w.ended.Store(true) // the answer is an error
	again := w.window()
	again.run(device(true), chromedp.Navigate(link), chromedp.Click(chromedp.CSS("#begin")))
	again.until("the link is used up", `document.getElementById("problem").textContent.includes("not valid any more")`)
}
