package provider

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v3"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
	"golang.org/x/crypto/bcrypt"
)

const (
	resource = "https://notes.example/mcp"
	callback = "http://127.0.0.1:9/callback"
	secret   = "a secret of the server, percent: %41+"
)

// provider starts an authorization server that grants whatever is asked for in the name of Ann, with
// tokens that are JWT or opaque.
func provider(t *testing.T, opaque bool) (issuer string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	hashed, err := bcrypt.GenerateFromPassword([]byte(secret), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	store := storage.NewMemoryStore()
	store.Clients["phone"] = &fosite.DefaultClient{ID: "phone", Public: true, RedirectURIs: []string{callback},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scopes: []string{"vault:read", "vault:write", "offline"}, Audience: []string{resource}}
	store.Clients["vaultwicket"] = &fosite.DefaultClient{ID: "vaultwicket", Secret: hashed}
	config := &fosite.Config{GlobalSecret: make([]byte, 32), EnforcePKCE: true,
		ScopeStrategy: fosite.ExactScopeStrategy, AudienceMatchingStrategy: fosite.ExactAudienceMatchingStrategy,
		RefreshTokenScopes: []string{}, SendDebugMessagesToClients: true, JWTScopeClaimKey: jwt.JWTScopeFieldString}
	strategy := oauth2.CoreStrategy(compose.NewOAuth2HMACStrategy(config))
	if !opaque {
		strategy = compose.NewOAuth2JWTStrategy(func(context.Context) (any, error) { return key, nil }, compose.NewOAuth2HMACStrategy(config), config)
	}
	server := compose.Compose(config, store, &compose.CommonStrategy{CoreStrategy: strategy},
		compose.OAuth2AuthorizeExplicitFactory, compose.OAuth2RefreshTokenGrantFactory, compose.OAuth2PKCEFactory,
		compose.OAuth2TokenIntrospectionFactory)
	session := func() *oauth2.JWTSession {
		return &oauth2.JWTSession{JWTClaims: &jwt.JWTClaims{Issuer: issuer, Subject: "ann"},
			JWTHeader: &jwt.Headers{Extra: map[string]any{"kid": "k1"}}, Subject: "ann"}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "authorization_endpoint": issuer + "/authorize",
			"token_endpoint": issuer + "/token", "jwks_uri": issuer + "/keys",
			"introspection_endpoint": issuer + "/introspect"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "k1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		asked, err := server.NewAuthorizeRequest(r.Context(), r)
		if err != nil {
			server.WriteAuthorizeError(r.Context(), w, asked, err)
			return
		}
		for _, scope := range asked.GetRequestedScopes() {
			asked.GrantScope(scope)
		}
		for _, audience := range asked.GetRequestedAudience() {
			asked.GrantAudience(audience)
		}
		answer, err := server.NewAuthorizeResponse(r.Context(), asked, session())
		if err != nil {
			server.WriteAuthorizeError(r.Context(), w, asked, err)
			return
		}
		server.WriteAuthorizeResponse(r.Context(), w, asked, answer)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		asked, err := server.NewAccessRequest(r.Context(), r, session())
		if err != nil {
			server.WriteAccessError(r.Context(), w, asked, err)
			return
		}
		answer, err := server.NewAccessResponse(r.Context(), asked)
		if err != nil {
			server.WriteAccessError(r.Context(), w, asked, err)
			return
		}
		server.WriteAccessResponse(r.Context(), w, asked, answer)
	})
	mux.HandleFunc("/introspect", func(w http.ResponseWriter, r *http.Request) {
		answer, err := server.NewIntrospectionRequest(r.Context(), r, session())
		if err != nil {
			server.WriteIntrospectionError(r.Context(), w, err)
			return
		}
		plain, said := httptest.NewRecorder(), map[string]any{}
		server.WriteIntrospectionResponse(r.Context(), plain, answer)
		json.Unmarshal(plain.Body.Bytes(), &said)
		if use := answer.GetTokenUse(); use != "" { // as Hydra does, which is made with this library
			said["token_use"] = use
		}
		json.NewEncoder(w).Encode(said)
	})
	at := httptest.NewServer(mux)
	t.Cleanup(at.Close)
	issuer = at.URL
	return issuer
}

// tokens has a client get tokens for an audience, with PKCE.
func tokens(t *testing.T, issuer, audience string) (access, refresh string) {
	t.Helper()
	verifier := strings.Repeat("verifier-", 6)
	sum := sha256.Sum256([]byte(verifier))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	asked := url.Values{"response_type": {"code"}, "client_id": {"phone"}, "redirect_uri": {callback},
		"scope": {"vault:read offline"}, "state": {"0123456789"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	if audience != "" {
		asked.Set("audience", audience)
	}
	answer, err := client.Get(issuer + "/authorize?" + asked.Encode())
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || back.Query().Get("code") == "" {
		t.Fatalf("%v %v", back, err)
	}
	answer, err = client.PostForm(issuer+"/token",
		url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {"phone"},
			"redirect_uri": {callback}, "code_verifier": {verifier}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Access == "" {
		t.Fatalf("%s: %v", text, err)
	}
	return got.Access, got.Refresh
}

// start starts a vaultwicket whose agent phone has the tokens of Ann, and returns its address.
func start(t *testing.T, flags ...string) (at string) {
	t.Helper()
	binary := os.Getenv("VAULTWICKET")
	if binary == "" {
		t.Skip("VAULTWICKET does not name a built vaultwicket")
	}
	home := t.TempDir()
	vault, settings := filepath.Join(home, "Notes"), filepath.Join(home, "config.toml")
	for _, err := range []error{os.Chmod(home, 0o700), os.Mkdir(vault, 0o700),
		os.WriteFile(filepath.Join(vault, "Note.md"), []byte("one\n"), 0o600),
		os.WriteFile(settings, []byte("tier = \"v1\"\nallow-mutations = true\n[agents.phone]\noauth = [\"ann\"]\n"),
			0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command(binary,
		append([]string{"serve", "--config=" + settings, "--backend=embedded", "--vault=" + vault, "--http=127.0.0.1:0",
			"--token-file=" + filepath.Join(home, "token"), "--public-url=" + resource, "--log-level=info"}, flags...)...)
	server.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home)
	said, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	lines := bufio.NewScanner(said)
	for at == "" && lines.Scan() {
		at = regexp.MustCompile(`http://\S+/mcp`).FindString(lines.Text())
	}
	go func() {
		for lines.Scan() {
			fmt.Fprintln(t.Output(), lines.Text())
		}
	}()
	return at
}

// call calls obsidianCli with a token, and returns the status and the answer.
func call(t *testing.T, at, token, command, params string) (int, string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"` +
		command + `","params":` + params +
		`},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(body))
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "obsidianCli"} {
		r.Header.Set(name, value)
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// A token of the provider has the rights of its agent within its scopes, and one for no audience, or
// that is changed, has none.
func TestTokensOfAProvider(t *testing.T) {
	for name, opaque := range map[string]bool{"JWT": false, "opaque": true} {
		t.Run(name, func(t *testing.T) {
			issuer := provider(t, opaque)
			flags := []string{"--oauth-issuer=" + issuer}
			if opaque {
				file := filepath.Join(t.TempDir(), "client")
				if err := os.WriteFile(file, []byte("vaultwicket\n"+secret+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				flags = append(flags, "--oauth-client-file="+file)
			}
			at := start(t, flags...)
			access, refresh := tokens(t, issuer, resource)
			if (strings.Count(access, ".") == 2) == opaque {
				t.Fatalf("the token is %s", access)
			}
			if status, text := call(t, at, access, "read", `{"path":"Note.md"}`); status != 200 || !strings.Contains(text, "one") {
				t.Errorf("a read: %d %s", status, text)
			}
			if status, text := call(t, at, access, "append", `{"path":"Note.md","content":"two"}`); status != 403 ||
				!strings.Contains(text, "insufficient_scope") {
				t.Errorf("a change: %d %s", status, text)
			}
			forNoOne, _ := tokens(t, issuer, "")
			for what, token := range map[string]string{"for no audience": forNoOne, "cut": access[:len(access)-2], "a refresh token": refresh} {
				if status, text := call(t, at, token, "read", `{"path":"Note.md"}`); status != 401 {
					t.Errorf("%s: %d %s", what, status, text)
				}
			}
		})
	}
}
