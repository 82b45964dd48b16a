package oauth

// The authorization server is a small server for the single owner of a vault. The owner signs in with a passkey and
// grants a client the rights of an agent, limited by scopes. The server issues access tokens only for the MCP server
// that it is part of.
//
// It uses go-oauth2 for OAuth and go-webauthn for passkeys, and adds what OAuth 2.1 and MCP require: only PKCE with
// S256, exact redirect addresses, single-use codes and refresh tokens, and clients that register themselves or publish
// their metadata at their id.
//
// It uses no cookies, which pages of other origins could exploit. Instead, the pages pass a ticket from one request to
// the next, and each ticket is valid once.

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	oautherrors "github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

const (
	codeFor   = time.Minute
	accessFor = time.Hour
	ticketFor = 5 * time.Minute // how long a ticket is valid

	maxBody       = 64 << 10
	maxTickets    = 200
	registrations = 60 // per minute; one address may use half of them
)

// Paths of the server.
const (
	base         = "/oauth/"
	metadataPath = "/.well-known/oauth-authorization-server"
	// SetupPath is the path of the page for adding a passkey. The code is the fragment of the URL.
	SetupPath = base + "passkey"
	// SignInPages is the path prefix of links to questions.
	SignInPages  = "/oauth"
	questionPath = base + "question/"
)

//go:embed pages
var pages embed.FS

// Agent describes, for the owner, an agent whose rights can be granted.
type Agent struct {
	Name   string   `json:"name"`
	Vaults []string `json:"vaults"`
	Rights string   `json:"rights"`
}

// ServerConfig configures an [AuthorizationServer]. All fields are required.
type ServerConfig struct {
	Resource string         // URL of the MCP endpoint, the audience of the tokens
	Scopes   []string       // in ascending order: each includes the ones before it
	Agents   func() []Agent // returns the agents whose rights can currently be granted
	// Grantable reports whether an agent is among them.
	Grantable func(agent string) bool
	// Generation identifies the valid credentials of an agent: grants of other generations are void.
	// counts is false if the agent has no valid credentials.
	Generation func(agent string) (generation string, counts bool)
	// Question returns the pending question with a reference, as HTML, and a function that answers it;
	// "" if there is none.
	Question func(ref string) (html string, answer func(approve bool) error)
	Style    []byte // style sheet of the pages
	Reads    []byte // script that enables approving a question after it was read
	Store    *SignInStore
	Log      *slog.Logger
	Now      func() time.Time
}

// AuthorizationServer answers the requests of browsers and clients that sign in. It is safe for
// concurrent use.
type AuthorizationServer struct {
	ServerConfig
	store   *SignInStore
	origin  string // origin of the pages, and the issuer
	passkey *webauthn.WebAuthn
	oauth   *server.Server
	tokens  *tokens
	fetcher *http.Client

	mu         sync.Mutex
	tickets    map[string]ticket
	minute     time.Time    // beginning of the current minute
	registered *shares.Pool // registrations in that minute
}

// ticket is the state of a page between two requests: a challenge for a passkey, or a request or a
// question that waits for the owner's decision.
type ticket struct {
	until   time.Time
	session webauthn.SessionData
	setup   string                   // hash of the code, if a passkey is added
	answer  func(approve bool) error // answers the question, if there is one
	request *server.AuthorizeRequest
	client  Client
	scopes  []string // the scopes that can be granted
	payer   shares.Payer
}

// isChallenge reports whether the ticket is a challenge, which anybody can request.
func (t ticket) isChallenge() bool { return t.request == nil && t.answer == nil }

// payerOf returns the network address to which the resources for a request without credentials are
// charged. For a trusted proxy RemoteAddr is the address of the client.
func payerOf(r *http.Request) shares.Payer {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return shares.Network(host)
}

// NewServer returns an authorization server. It returns an error if the config is invalid.
func NewServer(c ServerConfig) (*AuthorizationServer, error) {
	u, err := url.Parse(c.Resource)
	if err == nil {
		err = httpguard.CheckURL(c.Resource)
	}
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Control: publicOnly}
	s := &AuthorizationServer{
		ServerConfig: c,
		store:        c.Store,
		origin:       u.Scheme + "://" + u.Host,
		tickets:      map[string]ticket{},
		fetcher:      httpguard.Client(&http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}),
	}
	s.passkey, err = webauthn.New(&webauthn.Config{
		RPID:          u.Hostname(),
		RPDisplayName: "vaultwicket",
		RPOrigins:     []string{s.origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:      protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, err
	}
	s.tokens = &tokens{
		store:  c.Store,
		now:    c.Now,
		codes:  map[string]*code{},
		access: map[[sha256.Size]byte]access{},
	}
	s.oauth = newOAuthServer(s.tokens)
	return s, nil
}

// newOAuthServer returns a server of go-oauth2 that stores its tokens in t.
func newOAuthServer(t *tokens) *server.Server {
	manager := manage.NewManager()
	manager.SetAuthorizeCodeExp(codeFor)
	manager.SetAuthorizeCodeTokenCfg(&manage.Config{
		AccessTokenExp:    accessFor,
		RefreshTokenExp:   refreshFor,
		IsGenerateRefresh: true,
	})
	manager.SetRefreshTokenCfg(&manage.RefreshingConfig{
		AccessTokenExp:     accessFor,
		RefreshTokenExp:    refreshFor,
		IsGenerateRefresh:  true,
		IsResetRefreshTime: true,
	})
	// authorize has checked the redirect address against those of the client.
	manager.SetValidateURIHandler(func(string, string) error { return nil })
	manager.MapAuthorizeGenerate(t)
	manager.MapAccessGenerate(accessTokens{})
	manager.MapTokenStorage(t)
	manager.MapClientStorage(t)
	oauth := server.NewServer(&server.Config{
		TokenType:                   "Bearer",
		AllowedResponseTypes:        []oauth2.ResponseType{oauth2.Code},
		AllowedGrantTypes:           []oauth2.GrantType{oauth2.AuthorizationCode, oauth2.Refreshing},
		AllowedCodeChallengeMethods: []oauth2.CodeChallengeMethod{oauth2.CodeChallengeS256},
		ForcePKCE:                   true,
	}, manager)
	clientID := func(r *http.Request) (id, secret string, err error) { return r.FormValue("client_id"), "", nil }
	oauth.SetClientInfoHandler(clientID)
	return oauth
}

// Issuer returns the URL of the authorization server.
func (s *AuthorizationServer) Issuer() string { return s.origin }

// Owns reports whether the authorization server serves a path.
func (s *AuthorizationServer) Owns(path string) bool {
	return strings.HasPrefix(path, base) || path == metadataPath
}

// Holder describes the holder of an access token.
type Holder struct {
	Agent  string
	Scopes []string
	// Identity is the same for all tokens of an agent until its credentials are renewed, regardless of
	// the client: some clients register again when they ask for more scopes, and continue their session.
	Identity [sha256.Size]byte
}

// Holder returns the holder of an access token, the zero Holder if the token is invalid.
func (s *AuthorizationServer) Holder(token string) (h Holder) {
	if !strings.HasPrefix(token, accessPrefix) {
		return h
	}
	s.tokens.mu.Lock()
	issued, found := s.tokens.access[sha256.Sum256([]byte(token))]
	s.tokens.mu.Unlock()
	if !found || !s.tokens.now().Before(issued.until) {
		return h
	}
	for _, g := range s.tokens.current().Grants {
		if g.ID == issued.grant && s.counts(g.Agent, g.Generation) {
			return Holder{
				g.Agent,
				strings.Fields(g.Scope),
				sha256.Sum256([]byte("signed in\x00" + g.Agent + "\x00" + g.Generation)),
			}
		}
	}
	return h
}

// counts reports whether a grant of an agent's rights, made in a generation of its credentials, is
// still valid.
func (s *AuthorizationServer) counts(agent, granted string) bool {
	generation, counts := s.Generation(agent)
	return counts && generation == granted
}

// ServeHTTP answers a request whose Host header was checked.
func (s *AuthorizationServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set(
		"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	httpguard.LimitRead(w, ticketFor)
	if kind, text, found := s.page(r); found {
		h.Set("Content-Type", kind)
		_, _ = w.Write(text) // the client may have gone
		return
	}
	pageHandlers := map[string]func(*http.Request) (any, error){ // of the pages
		base + "setup/begin":  s.beginSetup,
		base + "setup/finish": s.finishSetup,
		base + "begin":        s.begin,
		base + "finish":       s.finish,
		base + "decide":       s.decide,
	}
	handle := pageHandlers[r.URL.Path]
	isEndpoint := handle != nil || r.URL.Path == base+"token" || r.URL.Path == base+"register"
	switch {
	case r.URL.Path == metadataPath && r.Method == http.MethodGet:
		reply(w, http.StatusOK, s.metadata())
	case r.Method != http.MethodPost || !isEndpoint:
		reply(w, http.StatusNotFound, map[string]string{"error": "not found"})
	case r.URL.Path == base+"token":
		s.token(w, r)
	case r.URL.Path == base+"register":
		if !s.mayRegister(r) {
			h.Set("Retry-After", "60")
			reply(w, http.StatusTooManyRequests, map[string]string{"error": "temporarily_unavailable"})
			return
		}
		status, answer := s.register(r)
		reply(w, status, answer)
	case !slices.Equal(r.Header["Origin"], []string{s.origin}) || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		reply(w, http.StatusForbidden, map[string]string{"error": "only the pages of this server may send this"})
	default:
		answer, err := handle(r)
		if err != nil {
			s.Log.Info("sign-in: " + err.Error())
			reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		reply(w, http.StatusOK, answer)
	}
}

// page returns the page, script or style sheet that a request reads. found is false for others.
func (s *AuthorizationServer) page(r *http.Request) (kind string, text []byte, found bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "", nil, false
	}
	const (
		html   = "text/html; charset=utf-8"
		script = "text/javascript; charset=utf-8"
		style  = "text/css; charset=utf-8"
	)
	file := func(name string) []byte {
		text, _ := pages.ReadFile("pages/" + name) // it is embedded
		return text
	}
	switch path := r.URL.Path; {
	case path == base+"authorize", strings.HasPrefix(path, questionPath):
		return html, file("authorize.html"), true
	case path == base+"passkey":
		return html, file("passkey.html"), true
	case path == base+"signin.js":
		return script, file("signin.js"), true
	case path == base+"page.css":
		return style, s.Style, true
	case path == base+"read.js":
		return script, s.Reads, true
	}
	return "", nil, false
}

// metadata describes the server to clients (RFC 8414).
func (s *AuthorizationServer) metadata() map[string]any {
	return map[string]any{
		"issuer":                                         s.origin,
		"authorization_endpoint":                         s.origin + base + "authorize",
		"token_endpoint":                                 s.origin + base + "token",
		"registration_endpoint":                          s.origin + base + "register",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"scopes_supported":                               s.Scopes,
		"client_id_metadata_document_supported":          true,
		"authorization_response_iss_parameter_supported": true,
	}
}

// mayRegister counts the registration of a client, and reports whether it is within the limits for
// this minute.
func (s *AuthorizationServer) mayRegister(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); s.registered == nil || now.Sub(s.minute) >= time.Minute {
		s.minute = now
		s.registered = shares.NewPool(registrations, shares.Half)
	}
	return s.registered.Take(payerOf(r), 1)
}

func reply(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		status = http.StatusInternalServerError
		text = []byte("{}")
	}
	httpguard.LimitWrite(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}

// pageRequest is the body of the requests that the pages send.
type pageRequest struct {
	Ticket     string          `json:"ticket"`
	Code       string          `json:"code"`
	Credential json.RawMessage `json:"credential"`
	Query      string          `json:"query"`
	Question   string          `json:"question"`
	Agent      string          `json:"agent"`
	Scope      string          `json:"scope"`
	Allow      bool            `json:"allow"`
}

// storeTicket stores a ticket and returns its name. At the limit it evicts a challenge.
func (s *AuthorizationServer) storeTicket(t ticket) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	t.until = now.Add(ticketFor)
	challenges := map[shares.Payer]int{t.payer: 1} // number per address, including the new one
	for name, old := range s.tickets {
		if !now.Before(old.until) {
			delete(s.tickets, name)
		} else if old.isChallenge() {
			challenges[old.payer]++
		}
	}
	if len(s.tickets) >= maxTickets {
		s.evictChallenge(challenges)
	}
	name := rand.Text()
	s.tickets[name] = t
	return name
}

// evictChallenge drops the oldest challenge of the address that has the most. It never drops tickets of
// the owner.
func (s *AuthorizationServer) evictChallenge(challenges map[shares.Payer]int) {
	oldest := ""
	for name, old := range s.tickets {
		current := s.tickets[oldest]
		goesFirst := oldest == "" || challenges[old.payer] > challenges[current.payer] ||
			challenges[old.payer] == challenges[current.payer] && old.until.Before(current.until)
		if old.isChallenge() && goesFirst {
			oldest = name
		}
	}
	delete(s.tickets, oldest)
}

var errTicket = errors.New("this page has expired; open it again from the client")

// takeTicket decodes a request of a page, and returns the ticket that it names. A ticket can be taken once.
func (s *AuthorizationServer) takeTicket(r *http.Request) (t ticket, a pageRequest, err error) {
	if err := decode(r.Body, maxBody, &a); err != nil {
		return t, a, errors.New("not a request of a page")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found := s.tickets[a.Ticket]
	delete(s.tickets, a.Ticket)
	if !found || !s.Now().Before(t.until) {
		return ticket{}, a, errTicket
	}
	return t, a, nil
}

// authorize validates the authorization request of a client, which is the query of the page's URL. It
// answers with the choices for the owner, or with a redirect that reports an error to the client.
func (s *AuthorizationServer) authorize(ctx context.Context, query string) (any, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
	if err != nil {
		return nil, errors.New("the request of the client is not valid")
	}
	for name, list := range values {
		if len(list) > 1 {
			return nil, fmt.Errorf("the request of the client has %.40q twice", name)
		}
	}
	client, err := s.clientOf(ctx, values.Get("client_id"))
	if err != nil {
		return nil, err
	}
	if !client.hasRedirect(values.Get("redirect_uri")) {
		return nil, errors.New("the client asks to return to an address that is not its own")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"authorize?"+values.Encode(), nil)
	if err != nil {
		return nil, err
	}
	request, problem := s.oauth.ValidationAuthorizeRequest(r)
	var scopes []string
	for i, name := range s.Scopes {
		if slices.Contains(strings.Fields(values.Get("scope")), name) {
			scopes = s.Scopes[:i+1]
		}
	}
	if values.Get("scope") == "" {
		scopes = s.Scopes[:1]
	}
	switch resource := values.Get("resource"); {
	case problem != nil:
	case resource != "" && resource != s.Resource:
		problem = errors.New("invalid_target")
	case len(scopes) == 0:
		problem = oautherrors.ErrInvalidScope
	}
	redirect := &server.AuthorizeRequest{
		RedirectURI:  values.Get("redirect_uri"),
		State:        values.Get("state"),
		ResponseType: oauth2.Code,
	}
	if problem != nil {
		return s.redirect(redirect, map[string]any{"error": problem.Error()})
	}
	agents := s.Agents()
	if len(agents) == 0 {
		return nil, errors.New("no agent is defined: add a table [agents.NAME] to the settings file")
	}
	u, _ := url.Parse(redirect.RedirectURI) // valid: checked by hasRedirect
	return map[string]any{
		"ticket": s.storeTicket(ticket{request: request, client: client, scopes: scopes}),
		"client": map[string]string{
			"name":    client.Name,
			"id":      client.ID,
			"returns": cmp.Or(u.Host, u.Scheme+":"),
		},
		"agents": agents,
		"scopes": scopes,
	}, nil
}

// redirect answers with the redirect address that passes data to the client.
func (s *AuthorizationServer) redirect(request *server.AuthorizeRequest, data map[string]any) (any, error) {
	data["iss"] = s.origin
	location, err := s.oauth.GetRedirectURI(request, data)
	return map[string]string{"location": location}, err
}

func (s *AuthorizationServer) decide(r *http.Request) (any, error) {
	t, a, err := s.takeTicket(r)
	if err == nil && t.answer != nil {
		return map[string]any{}, t.answer(a.Allow)
	}
	if err != nil || t.request == nil {
		return nil, cmp.Or(err, errTicket)
	}
	if !a.Allow {
		return s.redirect(t.request, map[string]any{"error": "access_denied"})
	}
	highest := slices.Index(t.scopes, a.Scope)
	generation, counts := s.Generation(a.Agent)
	if highest < 0 || !counts || !s.Grantable(a.Agent) {
		return nil, errors.New("unknown agent or scope")
	}
	t.request.UserID = a.Agent
	t.request.Scope = strings.Join(t.scopes[:highest+1], " ")
	ctx := context.WithValue(r.Context(), clientKey{}, t.client)
	info, err := s.oauth.GetAuthorizeToken(context.WithValue(ctx, generationKey{}, generation), t.request)
	if err != nil {
		return s.redirect(t.request, map[string]any{"error": "server_error"})
	}
	s.Log.Warn("a client was granted rights", "client", t.client.ID, "agent", a.Agent, "scope", t.request.Scope)
	return s.redirect(t.request, s.oauth.GetAuthorizeData(oauth2.Code, info))
}

// token answers clients that exchange a code or a refresh token for an access token.
func (s *AuthorizationServer) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		reply(w, http.StatusBadRequest, map[string]string{"error": code})
	}
	if err := r.ParseForm(); err != nil || len(r.URL.RawQuery) > 0 {
		refuse("invalid_request")
		return
	}
	for _, list := range r.PostForm {
		if len(list) > 1 {
			refuse("invalid_request")
			return
		}
	}
	form := r.PostForm
	if resource := form.Get("resource"); resource != "" && resource != s.Resource {
		refuse("invalid_target")
		return
	}
	grant, isFound := s.grantIn(form)
	switch {
	case !isFound, !s.counts(grant.Agent, grant.Generation), !s.Grantable(grant.Agent):
		refuse("invalid_grant")
		return
	case grant.Client.ID != form.Get("client_id"):
		refuse("invalid_client")
		return
	}
	for _, name := range strings.Fields(form.Get("scope")) {
		isGranted := grant.Scope == "" || slices.Contains(strings.Fields(grant.Scope), name)
		if slices.Contains(s.Scopes, name) && !isGranted {
			refuse("invalid_scope")
			return
		}
	}
	r.Form.Del("scope") // the response reports the granted scope
	ctx := context.WithValue(r.Context(), clientKey{}, grant.Client)
	if err := s.oauth.HandleTokenRequest(w, r.WithContext(ctx)); err != nil {
		s.Log.Info("sign-in: " + err.Error())
	}
}

// grantIn returns the grant for the code or the refresh token in a request, without invalidating it. For a
// code, which has no grant yet, only Client, Agent and Generation are set.
func (s *AuthorizationServer) grantIn(form url.Values) (grant Grant, isFound bool) {
	if form.Get("grant_type") == "refresh_token" {
		id := grantOf(form.Get("refresh_token"))
		grants := s.tokens.current().Grants
		i := slices.IndexFunc(grants, func(g Grant) bool { return g.ID == id })
		if i < 0 {
			return Grant{}, false
		}
		return grants[i], true
	}
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	code := s.tokens.codes[hashOf(form.Get("code"))]
	if code == nil {
		return Grant{}, false
	}
	return Grant{Client: code.client, Agent: code.info.GetUserID(), Generation: code.generation}, true
}
