package oauth

// The authorization server is a small one for the one owner of a vault: the owner signs in with a passkey and grants
// a client the rights of an agent, within scopes. It issues access tokens for the server that it is part of, and for
// no other.
//
// The protocol of OAuth is that of go-oauth2, the one of passkeys that of go-webauthn. What is added here is what
// OAuth 2.1 and MCP require of them: PKCE with S256 only, exact addresses to return to, codes and refresh tokens
// that count once, and clients that register themselves or are described at their id.
//
// There is no cookie, so there is nothing that a page of another origin could use: the pages carry what they were
// given from one request to the next, and each such ticket counts once.

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
	ticketFor = 5 * time.Minute // for what a page was given

	maxBody       = 64 << 10
	maxTickets    = 200
	registrations = 60 // a minute, of which one address has a half
)

// Paths of the server.
const (
	base         = "/oauth/"
	metadataPath = "/.well-known/oauth-authorization-server"
	// SetupPath is the page on which a passkey is added, with the code as fragment.
	SetupPath = base + "passkey"
	// SignInPages is the path before the links to questions.
	SignInPages  = "/oauth"
	questionPath = base + "question/"
)

//go:embed pages
var pages embed.FS

// Agent is an agent whose rights can be granted, as the owner sees it.
type Agent struct {
	Name   string   `json:"name"`
	Vaults []string `json:"vaults"`
	Rights string   `json:"rights"`
}

// ServerConfig configures an [AuthorizationServer]. All fields are required.
type ServerConfig struct {
	Resource string         // address of the endpoint of MCP, which tokens are for
	Scopes   []string       // each includes the ones before it
	Agents   func() []Agent // that can be granted now
	// Grantable reports whether an agent is one of them.
	Grantable func(agent string) bool
	// Generation names the credentials of an agent that count: what was granted of another one is void.
	// counts is false for an agent of which none do.
	Generation func(agent string) (generation string, counts bool)
	// Question returns the question that waits for the owner under a name, as HTML, and what answers
	// it; "" if none does.
	Question func(ref string) (html string, answer func(approve bool) error)
	Style    []byte // style sheet of the pages
	Reads    []byte // script with which a question is approved after it was read
	Store    *SignInStore
	Log      *slog.Logger
	Now      func() time.Time
}

// AuthorizationServer answers the requests of browsers and clients who sign in. It is safe for concurrent use.
type AuthorizationServer struct {
	ServerConfig
	store   *SignInStore
	origin  string // of the pages, and the issuer
	passkey *webauthn.WebAuthn
	oauth   *server.Server
	tokens  *tokens
	fetcher *http.Client

	mu         sync.Mutex
	tickets    map[string]ticket
	minute     time.Time    // of the count
	registered *shares.Pool // of that minute
}

// ticket is what a page was given: a challenge of a passkey, or a request or question that waits
// for the decision of the owner.
type ticket struct {
	until   time.Time
	session webauthn.SessionData
	setup   string                   // the code of a passkey that is added
	answer  func(approve bool) error // a question
	request *server.AuthorizeRequest
	client  Client
	scopes  []string // that can be granted
	payer   shares.Payer
}

// isChallenge reports whether a ticket is one that anybody can have.
func (t ticket) isChallenge() bool { return t.request == nil && t.answer == nil }

// payerOf returns who pays for what a request without credentials takes: its address. Behind a proxy that is named it is
// the one for which the proxy sends it, otherwise that of the proxy.
func payerOf(r *http.Request) shares.Payer {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return shares.Network(host)
}

// NewServer returns a server. The error says what is wrong with the config.
func NewServer(c ServerConfig) (*AuthorizationServer, error) {
	u, err := url.Parse(c.Resource)
	if err == nil {
		err = httpguard.CheckURL(c.Resource)
	}
	if err != nil {
		return nil, err
	}
	s := &AuthorizationServer{
		ServerConfig: c, store: c.Store, origin: u.Scheme + "://" + u.Host, tickets: map[string]ticket{},
		fetcher: httpguard.Client(
			&http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Control: publicOnly}).DialContext},
		),
	}
	s.passkey, err = webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "vaultwicket", RPOrigins: []string{s.origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:      protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, err
	}
	s.tokens = &tokens{store: c.Store, now: c.Now, codes: map[string]*code{}, access: map[[sha256.Size]byte]access{}}
	manager := manage.NewManager()
	manager.SetAuthorizeCodeExp(codeFor)
	manager.SetAuthorizeCodeTokenCfg(
		&manage.Config{AccessTokenExp: accessFor, RefreshTokenExp: refreshFor, IsGenerateRefresh: true},
	)
	manager.SetRefreshTokenCfg(
		&manage.RefreshingConfig{
			AccessTokenExp:     accessFor,
			RefreshTokenExp:    refreshFor,
			IsGenerateRefresh:  true,
			IsResetRefreshTime: true,
		},
	)
	manager.SetValidateURIHandler(
		func(string, string) error { return nil },
	) // it was compared with those of the client, and the code has it
	manager.MapAuthorizeGenerate(s.tokens)
	manager.MapAccessGenerate(accessTokens{})
	manager.MapTokenStorage(s.tokens)
	manager.MapClientStorage(s.tokens)
	s.oauth = server.NewServer(&server.Config{
		TokenType: "Bearer", AllowedResponseTypes: []oauth2.ResponseType{oauth2.Code}, AllowedGrantTypes: []oauth2.GrantType{oauth2.AuthorizationCode, oauth2.Refreshing},
		AllowedCodeChallengeMethods: []oauth2.CodeChallengeMethod{oauth2.CodeChallengeS256}, ForcePKCE: true,
	}, manager)
	s.oauth.SetClientInfoHandler(
		func(r *http.Request) (string, string, error) { return r.FormValue("client_id"), "", nil },
	)
	return s, nil
}

// Issuer returns the URL of the authorization server.
func (s *AuthorizationServer) Issuer() string { return s.origin }

// Owns reports whether a path is one of the server.
func (s *AuthorizationServer) Owns(path string) bool {
	return strings.HasPrefix(path, base) || path == metadataPath
}

// Holder is whose an access token is.
type Holder struct {
	Agent  string
	Scopes []string
	// Identity is the same for all tokens of an agent, until its credentials are renewed. The client
	// does not matter: some register anew when they ask for more scopes, and go on with their session.
	Identity [sha256.Size]byte
}

// Holder returns whose an access token is, the zero Holder for no one's.
func (s *AuthorizationServer) Holder(token string) (h Holder) {
	if !strings.HasPrefix(token, accessPrefix) {
		return h
	}
	s.tokens.mu.Lock()
	known, found := s.tokens.access[sha256.Sum256([]byte(token))]
	s.tokens.mu.Unlock()
	if !found || !s.tokens.now().Before(known.until) {
		return h
	}
	for _, g := range s.tokens.current().Grants {
		if g.ID == known.grant && s.counts(g.Agent, g.Generation) {
			return Holder{
				g.Agent,
				strings.Fields(g.Scope),
				sha256.Sum256([]byte("signed in\x00" + g.Agent + "\x00" + g.Generation)),
			}
		}
	}
	return h
}

// counts reports whether what was granted of the rights of an agent, in a generation of its
// credentials, still counts.
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
	requests := map[string]func(*http.Request) (any, error){ // of the pages
		base + "setup/begin":  s.beginSetup,
		base + "setup/finish": s.finishSetup,
		base + "begin":        s.begin,
		base + "finish":       s.finish,
		base + "decide":       s.decide,
	}
	do := requests[r.URL.Path]
	isEndpoint := do != nil || r.URL.Path == base+"token" || r.URL.Path == base+"register"
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
		answer, err := do(r)
		if err != nil {
			s.Log.Info("sign-in: " + err.Error())
			reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		reply(w, http.StatusOK, answer)
	}
}

// page returns the page or the part of one that a request reads.
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

// mayRegister counts a registration of a client, and reports whether its sender has a share left in this minute.
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

// asked is what the pages send.
type asked struct {
	Ticket     string          `json:"ticket"`
	Code       string          `json:"code"`
	Credential json.RawMessage `json:"credential"`
	Query      string          `json:"query"`
	Question   string          `json:"question"`
	Agent      string          `json:"agent"`
	Scope      string          `json:"scope"`
	Allow      bool            `json:"allow"`
}

// give keeps a ticket, and returns its name.
func (s *AuthorizationServer) give(t ticket) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	t.until = now.Add(ticketFor)
	challenges := map[shares.Payer]int{t.payer: 1} // of each address, with the new one
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

// evictChallenge drops the oldest challenge of the address that has the most. Tickets of the owner stay.
func (s *AuthorizationServer) evictChallenge(challenges map[shares.Payer]int) {
	out := ""
	for name, old := range s.tickets {
		known := s.tickets[out]
		isFirst := out == "" || challenges[old.payer] > challenges[known.payer] ||
			challenges[old.payer] == challenges[known.payer] && old.until.Before(known.until)
		if old.isChallenge() && isFirst {
			out = name
		}
	}
	delete(s.tickets, out)
}

var errTicket = errors.New("this page has expired; open it again from the client")

// take returns what a page was given, once.
func (s *AuthorizationServer) take(r *http.Request) (t ticket, a asked, err error) {
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

// wanted answers with what a client asks for in the query of the address of the page.
func (s *AuthorizationServer) wanted(ctx context.Context, query string) (any, error) {
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
	if !client.redirects(values.Get("redirect_uri")) {
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
	back := &server.AuthorizeRequest{
		RedirectURI:  values.Get("redirect_uri"),
		State:        values.Get("state"),
		ResponseType: oauth2.Code,
	}
	if problem != nil {
		return s.returning(back, map[string]any{"error": problem.Error()})
	}
	agents := s.Agents()
	if len(agents) == 0 {
		return nil, errors.New("no agent is defined: add a table [agents.NAME] to the settings file")
	}
	u, _ := url.Parse(back.RedirectURI) // it was compared
	return map[string]any{
		"ticket": s.give(
			ticket{request: request, client: client, scopes: scopes},
		), "client": map[string]string{"name": client.Name, "id": client.ID, "returns": cmp.Or(u.Host, u.Scheme+":")},
		"agents": agents, "scopes": scopes,
	}, nil
}

// returning answers with the address at which the client continues.
func (s *AuthorizationServer) returning(request *server.AuthorizeRequest, data map[string]any) (any, error) {
	data["iss"] = s.origin
	location, err := s.oauth.GetRedirectURI(request, data)
	return map[string]string{"location": location}, err
}

func (s *AuthorizationServer) decide(r *http.Request) (any, error) {
	t, a, err := s.take(r)
	if err == nil && t.answer != nil {
		return map[string]any{}, t.answer(a.Allow)
	}
	if err != nil || t.request == nil {
		return nil, cmp.Or(err, errTicket)
	}
	if !a.Allow {
		return s.returning(t.request, map[string]any{"error": "access_denied"})
	}
	most := slices.Index(t.scopes, a.Scope)
	generation, counts := s.Generation(a.Agent)
	if most < 0 || !counts || !s.Grantable(a.Agent) {
		return nil, errors.New("unknown agent or scope")
	}
	t.request.UserID = a.Agent
	t.request.Scope = strings.Join(t.scopes[:most+1], " ")
	ctx := context.WithValue(r.Context(), clientKey{}, t.client)
	info, err := s.oauth.GetAuthorizeToken(context.WithValue(ctx, generationKey{}, generation), t.request)
	if err != nil {
		return s.returning(t.request, map[string]any{"error": "server_error"})
	}
	s.Log.Warn("a client was granted rights", "client", t.client.ID, "agent", a.Agent, "scope", t.request.Scope)
	return s.returning(t.request, s.oauth.GetAuthorizeData(oauth2.Code, info))
}

// token answers clients: a code or a refresh token for an access token.
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
	// The client that a code or a refresh token was issued to, and the agent with the generation of its
	// credentials; of the latter also the scope of the grant. It uses neither up.
	var client Client
	agent := ""
	generation := ""
	scope := ""
	found := false
	if form.Get("grant_type") == "refresh_token" {
		id := grantOf(form.Get("refresh_token"))
		all := s.tokens.current().Grants
		if i := slices.IndexFunc(all, func(g Grant) bool { return g.ID == id }); i >= 0 {
			client = all[i].Client
			scope = all[i].Scope
			found = true
			agent = all[i].Agent
			generation = all[i].Generation
		}
	} else {
		s.tokens.mu.Lock()
		if known := s.tokens.codes[hashed(form.Get("code"))]; known != nil {
			client = known.client
			found = true
			agent = known.info.GetUserID()
			generation = known.generation
		}
		s.tokens.mu.Unlock()
	}
	switch {
	case !found, !s.counts(agent, generation), !s.Grantable(agent):
		refuse("invalid_grant")
		return
	case client.ID != form.Get("client_id"):
		refuse("invalid_client")
		return
	}
	for _, name := range strings.Fields(form.Get("scope")) {
		if scope != "" && slices.Contains(s.Scopes, name) && !slices.Contains(strings.Fields(scope), name) {
			refuse("invalid_scope")
			return
		}
	}
	r.Form.Del("scope") // the answer says what there is
	if err := s.oauth.HandleTokenRequest(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, client))); err != nil {
		s.Log.Info("sign-in: " + err.Error())
	}
}
