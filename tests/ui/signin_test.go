package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/rig"

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
			Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, IsUserVerified: verified, AutomaticPresenceSimulation: true,
		}})
		return err
	})
}

// The owner adds a passkey by the link of the terminal, and grants a client rights on the page that
// the client opens; the client gets a token with them, and no one else does.
func TestTheOwnerSignsInWithAPasskey(t *testing.T) {
	if browserPath() == "" {
		t.Skip("no Chromium is installed: the tests of the local page are skipped")
	}
	proxy := httptest.NewUnstartedServer(nil)
	_, port, _ := net.SplitHostPort(proxy.Listener.Addr().String())
	origin := "http://localhost:" + port
	r := rig.New(t, map[string]string{"Bread.md": "flour\n"})
	r.Tables = "[agents.phone]\ntier = \"v1\"\n[agents.reader]\nallow-mutations = false\n"
	r.Flags = []string{"--public-url=" + origin + "/mcp", "--sign-in=passkey"}
	server := r.OverHTTP()
	proxy.Config.Handler = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: server.Addr})
		p.Out.Host = p.In.Host
	}}
	proxy.Start()
	defer proxy.Close()
	returned := make(chan url.Values, 1)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/callback" {
			returned <- req.URL.Query()
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<link rel=icon href=data:,>done"))
	}))
	defer client.Close()
	w := &world{Rig: r, t: t}
	var err error
	if w.browser, err = theBrowser(); err != nil {
		t.Fatalf("start the browser: %v", err)
	}

	began := time.Now()
	link := strings.TrimSpace(r.Must("passkey", "add", "--public-url="+origin+"/mcp"))
	b := w.window()
	b.run(device(true), chromedp.Navigate(link), chromedp.Click(chromedp.CSS("#begin")))
	b.until("the passkey is added", `document.body.innerText.includes("The passkey was added")`)
	if list := r.Must("passkey", "list", "--json"); strings.Count(list, `"kind": "passkey"`) != 1 {
		t.Errorf("the passkeys are %s", list)
	}

	post := func(path, kind, body string) (answer map[string]any) {
		response, err := http.Post(origin+path, kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	id := post("/oauth/register", "application/json", `{"client_name":"A <b>bold</b> client","redirect_uris":["`+client.URL+`/callback"]}`)["client_id"].(string)
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
	b.until("what the client asks for", `!document.getElementById("consent").hidden`)
	shown := b.text("#consent")
	for _, want := range []string{"A <b>bold</b> client", id, strings.TrimPrefix(client.URL, "http://"), "phone", "reader", "In Notes: tier v1", "read and write"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not say %q: %s", want, shown)
		}
	}
	if strings.Contains(shown, "destructive changes") {
		t.Errorf("more than the client asks for can be granted: %s", shown)
	}
	if chosen := value[string](b, `document.getElementById("scope").value`); chosen != "vault:read" {
		t.Errorf("without a choice the client gets %s", chosen)
	}
	value[bool](b, `(() => { document.getElementById("agent").value = "phone"; document.getElementById("agent").dispatchEvent(new Event("change")); document.getElementById("scope").value = "vault:read"; return true })()`)
	b.run(chromedp.Click(chromedp.CSS("#allow")))
	var back url.Values
	select {
	case back = <-returned:
	case <-time.After(patience):
		t.Fatalf("the client was not called: %s", b.text("body"))
	}
	if back.Get("state") != "s1" || back.Get("iss") != origin || back.Get("code") == "" {
		t.Fatalf("the client got %v", back)
	}
	token := post("/oauth/token", "application/x-www-form-urlencoded", url.Values{"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "client_id": {id}, "redirect_uri": {client.URL + "/callback"}, "code_verifier": {verifier}}.Encode())
	t.Logf("from the link to a token: %v", time.Since(began))
	call := func(access, command string) (int, string) {
		request := server.Request(t.Context(), http.MethodPost, "/mcp", rig.JSON(t, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
			"name": "obsidianCli", "arguments": map[string]any{"command": command, "params": map[string]any{"path": "Bread.md", "content": "x"}}, "_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "t", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			},
		}}), "Authorization", "Bearer "+access, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode, response.Header.Get("WWW-Authenticate")
	}
	access, _ := token["access_token"].(string)
	if status, _ := call(access, "append"); status != 403 || token["scope"] != "vault:read" {
		t.Errorf("a change with the scope %v: %d", token["scope"], status)
	}
	if r.Read("Bread.md") != "flour\n" {
		t.Errorf("the note is %q", r.Read("Bread.md"))
	}
	if status, _ := call(access, "outline"); status != 200 {
		t.Errorf("a read: %d", status)
	}
	if list := r.Must("passkey", "list"); !strings.Contains(list, "bold") || !strings.Contains(list, "phone") {
		t.Errorf("the grants are %s", list)
	}
	var list []struct{ ID, Kind string }
	if err := json.Unmarshal([]byte(r.Must("passkey", "list", "--json")), &list); err != nil || len(list) != 2 {
		t.Fatalf("%v: %v", list, err)
	}
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
	b.until("what the client asks for", `!document.getElementById("consent").hidden`)
	b.run(chromedp.Click(chromedp.CSS("#deny")))
	select {
	case back = <-returned:
	case <-time.After(patience):
		t.Fatal("the client was not called")
	}
	if back.Get("error") != "access_denied" || back.Get("code") != "" {
		t.Errorf("after a refusal the client got %v", back)
	}
	w.ended.Store(true) // the answer is an error
	again := w.window()
	again.run(device(true), chromedp.Navigate(link), chromedp.Click(chromedp.CSS("#begin")))
	again.until("the link is used up", `document.getElementById("problem").textContent.includes("not valid any more")`)
}
