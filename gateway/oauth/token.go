// Package oauth verifies access tokens of an external authorization server, for which vaultwicket is an
// OAuth 2.1 resource server. An access token is a JWT (RFC 9068) signed with a key of the issuer, or a
// token that the issuer reports as active (introspection, RFC 7662). It is valid only if it was issued
// for this server (audience, RFC 8707) and has not expired.
//
// A [Verifier] has no notion of agents and commands: a [Token] contains what the issuer asserts about
// its holder.
//
// If there is no external authorization server, [AuthorizationServer] is one for the owner of the vault.
package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	strict "github.com/go-jose/go-jose/v4/json" // rejects duplicate keys, and does not ignore case
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

const (
	leeway = 30 * time.Second // tolerated difference between the clocks of the issuer and this machine

	// A verified token is cached for up to verifiedFor. The limit makes tokens invalid soon after the
	// issuer withdraws their key. maxVerified bounds the number of cached tokens.
	verifiedFor   = 5 * time.Minute
	introspectFor = time.Minute // the limit for tokens verified by introspection
	maxVerified   = 1000

	maxSubject = 256 // bytes of a claim value, because messages repeat it
)

// algorithms lists the accepted signature algorithms. They all use key pairs: with a shared secret,
// whoever can verify a token could also forge one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Config configures a [Verifier]. Issuer, Resource and Claim are required.
type Config struct {
	Issuer   string           // URL of the authorization server, as in its tokens
	Resource string           // URL of this server, the audience of its tokens
	Claim    string           // the claim that identifies the holder, such as "sub"
	Now      func() time.Time // nil means the system clock
	// ClientID and Secret are the credentials of this server for introspection at the issuer. Without
	// a ClientID, tokens must be signed JWTs.
	ClientID, Secret string
}

// Token contains the claims of a verified access token.
type Token struct {
	Subjects []string // the values of Config.Claim, empty if the token does not have it
	Scopes   []string
	// Holder is the same for all tokens of a user of the issuer, regardless of the client: some clients
	// register again when they ask for more scopes, and continue their session.
	Holder [sha256.Size]byte
	// Issued is when the token was issued, zero if it does not say.
	Issued  time.Time
	expires time.Time
}

// Invalid is the error of an invalid access token.
type Invalid struct{ Reason string }

func (e *Invalid) Error() string { return "invalid access token: " + e.Reason }

// Unavailable means that a token cannot be verified at present, because the issuer does not answer.
type Unavailable struct{ cause error }

func (e *Unavailable) Error() string {
	return "the authorization server cannot be reached: " + e.cause.Error()
}

// Unwrap returns the error of the request.
func (e *Unavailable) Unwrap() error { return e.cause }

// Verifier verifies access tokens. It is safe for concurrent use.
type Verifier struct {
	Config
	keys keys
	// newQueue queues introspection requests for unknown tokens, which anyone can send, by network address.
	// knownQueue queues those for tokens that were valid before, by holder, so that strangers cannot
	// delay them.
	newQueue, knownQueue *shares.Line

	mu       sync.Mutex
	verified map[[sha256.Size]byte]cachedToken
}

// cachedToken is a cached token, and when it must be verified again.
type cachedToken struct {
	token Token
	until time.Time
}

// New returns a verifier. It does not contact the issuer: that happens for the first token. It returns
// an error if the config is invalid.
func New(c Config) (*Verifier, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := httpguard.CheckURL(c.Issuer); err != nil {
		return nil, fmt.Errorf("issuer %w", err)
	}
	if err := httpguard.CheckURL(c.Resource); err != nil {
		return nil, fmt.Errorf("resource %w", err)
	}
	if c.Claim == "" {
		return nil, errors.New("the name of the claim is empty")
	}
	return &Verifier{
		Config:     c,
		newQueue:   shares.NewLine(maxAsking),
		knownQueue: shares.NewLine(maxAsking),
		keys: keys{
			issuer:      c.Issuer,
			now:         c.Now,
			client:      httpguard.Client(&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}),
			introspects: c.ClientID != "",
		},
		verified: map[[sha256.Size]byte]cachedToken{},
	}, nil
}

// Looks reports whether a bearer token may come from the issuer, by its format. Tokens of agents have
// a prefix, and must not be sent to the issuer.
func (v *Verifier) Looks(token string) bool {
	if !v.keys.introspects {
		return strings.Count(token, ".") == 2
	}
	return !strings.HasPrefix(token, "vwa_") && len(token) <= maxOpaque
}

// Verify verifies a token and returns its content. The error is an [*Invalid] or an [*Unavailable].
func (v *Verifier) Verify(ctx context.Context, text string) (Token, error) {
	sum := sha256.Sum256([]byte(text))
	now := v.Now()
	v.mu.Lock()
	cached, isCached := v.verified[sum]
	v.mu.Unlock()
	if isCached && now.Before(cached.until) {
		return cached.token, nil
	}
	var standard jwt.Claims
	var claims map[string]any
	maxAge := verifiedFor
	var err error
	switch {
	case !v.keys.introspects:
		err = v.verifySigned(ctx, text, &standard, &claims)
	case isCached:
		maxAge = introspectFor
		err = v.introspect(ctx, turn{v.knownQueue, fmt.Sprintf("holder %x", cached.token.Holder)}, text, &standard, &claims)
	default:
		maxAge = introspectFor
		err = v.introspect(ctx, turn{v.newQueue, string(shares.UnverifiedOf(ctx))}, text, &standard, &claims)
	}
	if err == nil {
		err = standard.ValidateWithLeeway(
			jwt.Expected{Issuer: v.Issuer, AnyAudience: jwt.Audience{v.Resource}, Time: now},
			leeway,
		)
		switch {
		case err != nil:
			err = &Invalid{strings.TrimPrefix(err.Error(), "go-jose/go-jose/jwt: ")}
		case claims["cnf"] != nil:
			err = &Invalid{"it is bound to a key of the client (cnf), which is not supported"}
		}
	}
	token := Token{}
	if err == nil {
		for _, claim := range slices.Concat(texts(claims["scope"]), texts(claims["scp"])) { // each is a text of words, or a list
			token.Scopes = append(token.Scopes, strings.Fields(claim)...)
		}
		identity, _ := json.Marshal([]string{standard.Issuer, standard.Subject}) // cannot fail for strings
		token.Subjects = texts(claims[v.Claim])
		token.expires = standard.Expiry.Time()
		token.Issued = standard.IssuedAt.Time()
		token.Holder = sha256.Sum256(append([]byte("oauth\x00"), identity...))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		delete(v.verified, sum)
		return Token{}, err
	}
	for other := range v.verified {
		if len(v.verified) < maxVerified {
			break
		}
		delete(v.verified, other) // any of them: the only cost is to verify it again
	}
	until := now.Add(maxAge)
	if token.expires.Before(until) {
		until = token.expires
	}
	v.verified[sum] = cachedToken{token, until}
	return token, nil
}

// verifySigned verifies the signature of a JWT with the keys of the issuer, and decodes its claims into
// standard and claims. The error is an [*Invalid] or an [*Unavailable].
func (v *Verifier) verifySigned(ctx context.Context, text string, standard *jwt.Claims, claims *map[string]any) error {
	signed, err := jwt.ParseSigned(text, algorithms)
	if err != nil || len(signed.Headers) != 1 || strings.ContainsAny(text, "\r\n") { // the base64 decoder ignores line ends
		return &Invalid{"it is not a signed JWT"}
	}
	head := signed.Headers[0]
	switch kind, _ := head.ExtraHeaders[jose.HeaderType].(string); strings.TrimPrefix(strings.ToLower(kind), "application/") {
	case "", "jwt", "at+jwt":
	default:
		return &Invalid{"it is a JWT for another purpose"}
	}
	isOther := func(key jose.JSONWebKey) bool {
		isOtherID := head.KeyID != "" && key.KeyID != head.KeyID
		isOtherUse := key.Use != "" && key.Use != "sig"
		isOtherAlgorithm := key.Algorithm != "" && key.Algorithm != head.Algorithm
		return isOtherID || isOtherUse || isOtherAlgorithm
	}
	fitting := func() []jose.JSONWebKey {
		return slices.DeleteFunc(slices.Clone(v.keys.set.Keys), func(key jose.JSONWebKey) bool {
			return isOther(key) || !key.IsPublic() || !key.Valid()
		})
	}
	v.keys.mu.Lock()
	err = v.keys.refresh(ctx, func() bool { return len(fitting()) > 0 }) // an unknown key may be new
	found := fitting()
	v.keys.mu.Unlock()
	if err != nil {
		return err
	}
	signedBy := func(key jose.JSONWebKey) bool { return signed.Claims(key.Key, standard, claims) == nil }
	switch {
	case !slices.ContainsFunc(found[:min(len(found), maxKeysTried)], signedBy):
		return &Invalid{"no key of the issuer has signed it"}
	case standard.Expiry == nil:
		return &Invalid{"it does not expire"}
	}
	return nil
}

// texts returns the texts in a claim, which may be a string or a list. It omits empty and too long ones.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		list = []string{v}
	case []any:
		for _, element := range v {
			if text, ok := element.(string); ok {
				list = append(list, text)
			}
		}
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" || len(text) > maxSubject })
}

const (
	maxAsking = 8       // concurrent introspection requests
	maxOpaque = 4 << 10 // bytes of a token for introspection
)

// turn selects the queue in which to wait for introspection, and as whom.
type turn struct {
	line *shares.Line
	who  string
}

// introspect asks the issuer about a token (RFC 7662), and decodes the claims into standard and claims.
// The error is an [*Invalid] or an [*Unavailable]. Claims for the issuer and the expiry may be missing,
// because the issuer has checked them itself; the audience is required.
func (v *Verifier) introspect(ctx context.Context, turn turn, text string, standard *jwt.Claims, claims *map[string]any) error {
	v.keys.mu.Lock()
	err := v.keys.refresh(ctx, func() bool { return v.keys.endpoint != "" })
	place := v.keys.endpoint
	v.keys.mu.Unlock()
	if err != nil {
		return err
	}
	askCtx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if _, err := turn.line.Acquire(askCtx, turn.who); err != nil {
		return &Unavailable{err}
	}
	defer turn.line.Release(turn.who)
	r, err := http.NewRequestWithContext(
		askCtx,
		http.MethodPost,
		place,
		strings.NewReader(url.Values{"token": {text}, "token_type_hint": {"access_token"}}.Encode()),
	)
	if err != nil {
		return &Unavailable{err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(v.ClientID), url.QueryEscape(v.Secret)) // RFC 6749, section 2.3.1
	answer, err := v.keys.do(r)
	if err == nil {
		err = strict.Unmarshal(answer, claims)
	}
	if err == nil && (*claims)["active"] == true {
		err = strict.Unmarshal(answer, standard)
	}
	if err != nil {
		return &Unavailable{err}
	}
	if (*claims)["active"] != true {
		return &Invalid{"the issuer says that it is not active"}
	}
	for name, is := range map[string]string{"token_type": "bearer", "token_use": "access_token", "typ": "bearer jwt at+jwt"} {
		if kind, given := (*claims)[name].(string); given && !slices.Contains(strings.Fields(is), strings.ToLower(kind)) {
			return &Invalid{"it is not a bearer access token"}
		}
	}
	standard.Issuer = cmp.Or(standard.Issuer, v.Issuer)
	if standard.Expiry == nil {
		standard.Expiry = jwt.NewNumericDate(v.Now().Add(introspectFor + time.Second))
	}
	return nil
}
