package gosdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// owner is the owner of a server with a public address, who has a passkey on a scripted device and
// uses the pages of the server as their script does.
type owner struct {
	t      *testing.T
	origin string
	rp     virtualwebauthn.RelyingParty
	device virtualwebauthn.Authenticator
	key    virtualwebauthn.Credential
}

func newOwner(t *testing.T) *owner {
	t.Helper()
	home := t.TempDir()
	settings := filepath.Join(home, "config.toml")
	noError(t, os.Chmod(home, 0o700))
	noError(t, os.WriteFile(settings, []byte("tier = \"v1\"\nallow-mutations = true\n[agents.phone]\n"), 0o600))
	front := httptest.NewUnstartedServer(nil)
	o := &owner{t: t, origin: "http://localhost:" + strings.TrimPrefix(front.Listener.Addr().String(), "127.0.0.1:")}
	o.rp = virtualwebauthn.RelyingParty{ID: "localhost", Name: "vaultwicket", Origin: o.origin}
	public := "--public-url=" + o.origin + "/mcp"
	cmd := serve(t, home, newVault(t), "--http=127.0.0.1:0", "--token-file="+filepath.Join(home, "token"), "--sign-in=passkey", public)
	cmd.Args[2] = "--config=" + settings
	at, err := url.Parse(listen(t, cmd))
	noError(t, err)
	front.Config.Handler = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: at.Host})
		p.Out.Host = p.In.Host
		p.Out.Header.Del("Accept-Encoding")
	}, ModifyResponse: func(r *http.Response) error {
		if r.Request.URL.Path != "/.well-known/oauth-authorization-server" {
			return nil
		}
		// Claude Code would have its document at claude.ai as id, which cannot be read here.
		text, err := io.ReadAll(r.Body)
		text = bytes.Replace(text, []byte(`"client_id_metadata_document_supported":true`), []byte(`"client_id_metadata_document_supported":false`), 1)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		r.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return err
	}}
	front.Start()
	t.Cleanup(front.Close)
	add := exec.Command(cmd.Path, "passkey", "add", "--config="+settings, public)
	add.Env = cmd.Env
	link, err := add.Output()
	noError(t, err)
	_, code, _ := strings.Cut(strings.TrimSpace(string(link)), "#")
	begun := o.post("setup/begin", map[string]any{"code": code})
	options, err := virtualwebauthn.ParseAttestationOptions(string(begun.Options))
	noError(t, err)
	var user struct{ User struct{ ID string } }
	noError(t, json.Unmarshal(begun.Options, &user))
	handle, _ := base64.RawURLEncoding.DecodeString(user.User.ID)
	o.device = virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: handle})
	for o.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(o.key.Key.AttestationData()) < 77; {
		o.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2) // the library leaves zeros at the beginning of a coordinate out
	}
	o.device.AddCredential(o.key)
	o.post("setup/finish", map[string]any{"ticket": begun.Ticket,
		"credential": json.RawMessage(virtualwebauthn.CreateAttestationResponse(o.rp, o.device, o.key, *options))})
	return o
}

// page is what the pages are answered.
type page struct {
	Ticket, Location string
	Options          json.RawMessage
	Scopes           []string
}

func (o *owner) post(path string, body any) (p page) {
	o.t.Helper()
	text, _ := json.Marshal(body)
	r, _ := http.NewRequest(http.MethodPost, o.origin+"/oauth/"+path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", o.origin)
	answer, err := http.DefaultClient.Do(r)
	noError(o.t, err)
	defer answer.Body.Close()
	text, _ = io.ReadAll(answer.Body)
	if err := json.Unmarshal(text, &p); err != nil || answer.StatusCode != http.StatusOK {
		o.t.Fatalf("%s: %d %s", path, answer.StatusCode, text)
	}
	return p
}

// allow signs in on the page that a client opens and grants all that it asks for. It returns where
// the client is called back.
func (o *owner) allow(address string) *url.URL {
	o.t.Helper()
	asked, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, o.origin+"/oauth/authorize?") {
		o.t.Fatalf("the client opens %s, %v", address, err)
	}
	begun := o.post("begin", map[string]any{})
	options, err := virtualwebauthn.ParseAssertionOptions(string(begun.Options))
	noError(o.t, err)
	wanted := o.post("finish", map[string]any{"ticket": begun.Ticket, "query": "?" + asked.RawQuery,
		"credential": json.RawMessage(virtualwebauthn.CreateAssertionResponse(o.rp, o.device, o.key, *options))})
	if wanted.Ticket == "" {
		o.t.Fatalf("%s is refused: %s", address, wanted.Location)
	}
	decided := o.post("decide", map[string]any{"ticket": wanted.Ticket, "agent": "phone", "scope": wanted.Scopes[len(wanted.Scopes)-1], "allow": true})
	back, err := url.Parse(decided.Location)
	if err != nil || back.Query().Get("code") == "" {
		o.t.Fatalf("the client is called back at %s, %v", decided.Location, err)
	}
	return back
}

// The Go SDK signs in: it finds the authorization server, registers, and gets a token with which it
// reads and changes.
func TestSignInOfTheGoSDK(t *testing.T) {
	o := newOwner(t)
	opened := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "gosdk",
			RedirectURIs: []string{"http://127.0.0.1:9/callback"}}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			opened++
			back := o.allow(args.URL).Query()
			return &auth.AuthorizationResult{Code: back.Get("code"), State: back.Get("state"), Iss: back.Get("iss")}, nil
		},
	})
	noError(t, err)
	for _, version := range eras {
		s := server{transport: func(*testing.T) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: o.origin + "/mcp", OAuthHandler: handler, MaxRetries: -1}
		}}
		session := s.connect(t, version, nil)
		if got := call(t, session, "append", addition); !got.OK {
			t.Errorf("%s: %+v", version, got)
		}
		if got := call(t, session, "read", map[string]any{"path": "Note.md"}); !got.OK || !strings.Contains(got.Stdout, "two") {
			t.Errorf("%s: %+v", version, got)
		}
	}
	if opened != 1 {
		t.Errorf("the owner was asked %d times", opened)
	}
}

// Claude Code, which CLAUDE names, signs in without a browser: it prints the address of the page, and
// is told where it was called back.
func TestSignInOfClaudeCode(t *testing.T) {
	program := os.Getenv("CLAUDE")
	if program == "" {
		t.Skip("CLAUDE does not name Claude Code")
	}
	o := newOwner(t)
	home := t.TempDir()
	run := func(program string, args ...string) *exec.Cmd {
		ctx, stop := context.WithTimeout(t.Context(), 2*patience)
		t.Cleanup(stop)
		c := exec.CommandContext(ctx, program, args...)
		c.Dir = home
		c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "CLAUDE_CONFIG_DIR="+home, "NO_COLOR=1",
			"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
		return c
	}
	if said, err := run(program, "mcp", "add", "--scope", "user", "--transport", "http", "web", o.origin+"/mcp").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	said, _ := run(program, "mcp", "list").CombinedOutput()
	if !strings.Contains(string(said), "Needs authentication") {
		t.Fatalf("before the sign-in: %s", said)
	}
	login := run("script", "-qec", "stty cols 4000; exec '"+program+"' mcp login --no-browser web", "/dev/null") // it wants a terminal
	in, err := login.StdinPipe()
	noError(t, err)
	out, err := login.StdoutPipe()
	noError(t, err)
	login.Stderr = login.Stdout
	noError(t, login.Start())
	place := regexp.MustCompile(regexp.QuoteMeta(o.origin) + `/oauth/authorize\?[!-~]+`)
	var told strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		told.WriteString(lines.Text() + "\n")
		if found := place.FindString(lines.Text()); found != "" && in != nil {
			fmt.Fprintf(in, "%s\r", o.allow(found))
			in = nil
		}
	}
	if err := login.Wait(); err != nil || in != nil {
		t.Fatalf("%v: %s", err, told.String())
	}
	if said, err = run(program, "mcp", "list").CombinedOutput(); err != nil || !strings.Contains(string(said), "Connected") {
		t.Errorf("after the sign-in: %v, %s; it said %s", err, said, told.String())
	}
}
