// Package oauth checks access tokens of an authorization server that other people run: vaultwicket
// is then a resource server of OAuth 2.1. An access token is a JWT (RFC 9068) with the signature of
// a key of the issuer, or one that the issuer says is active (introspection, RFC 7662). It counts
// only if it was issued for this server (the audience, RFC 8707), and its times fit.
//
// A [Verifier] knows no agent and no command: a [Token] says what the issuer says of its holder.
//
// Where nobody else runs an authorization server, [AuthorizationServer] is one for the owner of the vault.
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
	strict "github.com/go-jose/go-jose/v4/json" // a key twice, or in another case, is not one
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

const (
	leeway = 30 * time.Second // between the clocks of the issuer and of this machine

	// A token that was verified is known for up to verifiedFor, so that a key that the issuer
	// withdraws ends its tokens. maxVerified bounds how many are known.
	verifiedFor   = 5 * time.Minute
	introspectFor = time.Minute // the same for one that the issuer was asked about
	maxVerified   = 1000

	maxSubject = 256 // bytes of a value of a claim, which messages repeat
)

// algorithms are those of signatures with a key pair. A secret that both sides know is not among
// them: a party that can check such a token can make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Config configures a [Verifier]. Issuer, Resource and Claim are required.
type Config struct {
	Issuer   string           // URL of the authorization server, as its tokens have it
	Resource string           // URL of this server, the audience of its tokens
	Claim    string           // the claim that says whose a token is, such as "sub"
	Now      func() time.Time // nil is the system clock
	// ClientID and Secret are those of this server at the issuer, which is then asked about each
	// token. Without an id tokens are signed JWTs.
	ClientID, Secret string
}

// Token is what an access token says that was verified.
type Token struct {
	Subjects []string // the values of the claim, none if the token does not have it
	Scopes   []string
	// Holder is the same for all tokens of a user of the issuer. The client does not matter: some
	// register anew when they ask for more scopes, and go on with their session.
	Holder [sha256.Size]byte
	// Issued is when the issuer issued it, zero where it does not say.
	Issued  time.Time
	expires time.Time
}

// Invalid is why an access token does not count.
type Invalid struct{ Reason string }

func (e *Invalid) Error() string { return "invalid access token: " + e.Reason }

// Unavailable says that a token cannot be checked now, because the issuer does not answer.
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
	// asks are the tokens that the issuer is asked about: anyone can send some, by their address. Those that counted before
	// are asked about again beside them, by their holders: what strangers send does not delay them.
	asks, asksAgain *shares.Line

	mu       sync.Mutex
	verified map[[sha256.Size]byte]known
}

// known is a token that was verified, and until when that counts.
type known struct {
	token Token
	until time.Time
}

// New returns a verifier. It only allocates: the issuer is asked for its keys when the first token
// comes. The error says what is wrong with the config.
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
		Config:    c,
		asks:      shares.NewLine(asksAtOnce),
		asksAgain: shares.NewLine(asksAtOnce),
		keys: keys{
			issuer:      c.Issuer,
			now:         c.Now,
			client:      httpguard.Client(&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}),
			introspects: c.ClientID != "",
		},
		verified: map[[sha256.Size]byte]known{},
	}, nil
}

// Looks reports whether a bearer token may be one of the issuer. Tokens of agents have a prefix: no
// one else is sent them.
func (v *Verifier) Looks(token string) bool {
	if !v.keys.introspects {
		return strings.Count(token, ".") == 2
	}
	return !strings.HasPrefix(token, "vwa_") && len(token) <= maxOpaque
}

// Verify returns what a token says. The error is an [*Invalid] or an [*Unavailable].
func (v *Verifier) Verify(ctx context.Context, text string) (Token, error) {
	sum := sha256.Sum256([]byte(text))
	now := v.Now()
	v.mu.Lock()
	seen, found := v.verified[sum]
	v.mu.Unlock()
	if found && now.Before(seen.until) {
		return seen.token, nil
	}
	var standard jwt.Claims
	var all map[string]any
	keeps := verifiedFor
	var err error
	switch {
	case !v.keys.introspects:
		err = v.signed(ctx, text, &standard, &all)
	case found:
		keeps = introspectFor
		err = v.introspected(ctx, turn{v.asksAgain, fmt.Sprintf("holder %x", seen.token.Holder)}, text, &standard, &all)
	default:
		keeps = introspectFor
		err = v.introspected(ctx, turn{v.asks, string(shares.UnverifiedOf(ctx))}, text, &standard, &all)
	}
	if err == nil {
		err = standard.ValidateWithLeeway(
			jwt.Expected{Issuer: v.Issuer, AnyAudience: jwt.Audience{v.Resource}, Time: now},
			leeway,
		)
		switch {
		case err != nil:
			err = &Invalid{strings.TrimPrefix(err.Error(), "go-jose/go-jose/jwt: ")}
		case all["cnf"] != nil:
			err = &Invalid{"it is bound to a key of the client (cnf), which is not supported"}
		}
	}
	token := Token{}
	if err == nil {
		for _, claim := range slices.Concat(texts(all["scope"]), texts(all["scp"])) { // each a text with words, or a list
			token.Scopes = append(token.Scopes, strings.Fields(claim)...)
		}
		identity, _ := json.Marshal([]string{standard.Issuer, standard.Subject}) // only text
		token.Subjects, token.expires = texts(all[v.Claim]), standard.Expiry.Time()
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
		delete(v.verified, other) // the order of a map is random, and it is only verified again
	}
	until := now.Add(keeps)
	if token.expires.Before(until) {
		until = token.expires
	}
	v.verified[sum] = known{token, until}
	return token, nil
}

// signed decodes the claims of a JWT that a key of the issuer has signed. The error is an [*Invalid]
// or an [*Unavailable].
func (v *Verifier) signed(ctx context.Context, text string, standard *jwt.Claims, all *map[string]any) error {
	signed, err := jwt.ParseSigned(text, algorithms)
	if err != nil || len(signed.Headers) != 1 || strings.ContainsAny(text, "\r\n") { // base64 skips line ends
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
	err = v.keys.refresh(ctx, func() bool { return len(fitting()) > 0 }) // a key that is not known may be new
	found := fitting()
	v.keys.mu.Unlock()
	if err != nil {
		return err
	}
	signedBy := func(key jose.JSONWebKey) bool { return signed.Claims(key.Key, standard, all) == nil }
	switch {
	case !slices.ContainsFunc(found[:min(len(found), maxTried)], signedBy):
		return &Invalid{"no key of the issuer has signed it"}
	case standard.Expiry == nil:
		return &Invalid{"it does not expire"}
	}
	return nil
}

// texts returns a value of a claim as texts: one, or several in a list.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		list = []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				list = append(list, text)
			}
		}
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" || len(text) > maxSubject })
}

const (
	asksAtOnce = 8
	maxOpaque  = 4 << 10 // bytes of a token
)

// turn is who waits in which line before the issuer is asked.
type turn struct {
	line *shares.Line
	who  string
}

// introspected returns what the issuer says of a token that it calls active (RFC 7662). The error is
// an [*Invalid] or an [*Unavailable]. What the issuer leaves out of the issuer and the expiry it has
// checked itself; the audience has to be there.
func (v *Verifier) introspected(ctx context.Context, as turn, text string, standard *jwt.Claims, all *map[string]any) error {
	v.keys.mu.Lock()
	err := v.keys.refresh(ctx, func() bool { return v.keys.place != "" })
	place := v.keys.place
	v.keys.mu.Unlock()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if _, err := as.line.Acquire(limited, as.who); err != nil {
		return &Unavailable{err}
	}
	defer as.line.Release(as.who)
	r, err := http.NewRequestWithContext(
		limited,
		http.MethodPost,
		place,
		strings.NewReader(url.Values{"token": {text}, "token_type_hint": {"access_token"}}.Encode()),
	)
	if err != nil {
		return &Unavailable{err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(v.ClientID), url.QueryEscape(v.Secret)) // RFC 6749, 2.3.1
	answer, err := v.keys.do(r)
	if err == nil {
		err = strict.Unmarshal(answer, all)
	}
	if err == nil && (*all)["active"] == true {
		err = strict.Unmarshal(answer, standard)
	}
	if err != nil {
		return &Unavailable{err}
	}
	if (*all)["active"] != true {
		return &Invalid{"the issuer says that it is not active"}
	}
	for name, is := range map[string]string{"token_type": "bearer", "token_use": "access_token", "typ": "bearer jwt at+jwt"} {
		if kind, given := (*all)[name].(string); given && !slices.Contains(strings.Fields(is), strings.ToLower(kind)) {
			return &Invalid{"it is not a bearer access token"}
		}
	}
	standard.Issuer = cmp.Or(standard.Issuer, v.Issuer)
	if standard.Expiry == nil {
		standard.Expiry = jwt.NewNumericDate(v.Now().Add(introspectFor + time.Second))
	}
	return nil
}
