package harness

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Issuer is an authorization server: it publishes its metadata and keys, and signs access tokens.
type Issuer struct {
	*httptest.Server
	T *testing.T

	mu sync.Mutex
	// What it publishes, which a test may change with Set. Fetched counts the requests for keys.
	metadata map[string]any
	keys     []jose.JSONWebKey
	broken   func(http.ResponseWriter)
	fetched  int
	tokens   map[string]any // what it says of tokens
	asked    int            // how often
}

// Credentials are those of a server that may ask about tokens, as id and secret.
var Credentials = [2]string{"vaultwicket", "a-secret:of+this&server"}

// SigningKey is a key pair with an id and an algorithm.
type SigningKey struct {
	ID     string
	Alg    jose.SignatureAlgorithm
	Secret any
}

// NewKey returns a key for ES256 or, if it is asked for, EdDSA.
func NewKey(id string, alg jose.SignatureAlgorithm) SigningKey {
	if alg == jose.EdDSA {
		_, secret, _ := ed25519.GenerateKey(rand.Reader)
		return SigningKey{id, alg, secret}
	}
	secret, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return SigningKey{id, jose.ES256, secret}
}

// Public returns the public part.
func (k SigningKey) Public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.Secret.(crypto.Signer).Public(), KeyID: k.ID, Algorithm: string(k.Alg), Use: "sig"}
}

// NewIssuer starts one with these keys.
func NewIssuer(t *testing.T, keys ...SigningKey) *Issuer {
	i := &Issuer{T: t}
	i.Server = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.Close)
	i.metadata = map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}
	for _, key := range keys {
		i.keys = append(i.keys, key.Public())
	}
	return i
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.broken != nil:
		i.broken(w)
	case r.URL.Path == "/.well-known/oauth-authorization-server":
		_ = json.NewEncoder(w).Encode(i.metadata)
	case r.URL.Path == "/keys":
		i.fetched++
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.keys})
	case r.URL.Path == "/introspect":
		i.asked++
		id, secret, _ := r.BasicAuth()
		said, known := i.tokens[r.PostFormValue("token")]
		switch {
		case r.Method != http.MethodPost || id != url.QueryEscape(Credentials[0]) || secret != url.QueryEscape(Credentials[1]):
			w.WriteHeader(http.StatusUnauthorized)
		case !known:
			_, _ = w.Write([]byte(`{"active":false}`))
		default:
			text, isText := said.(string)
			if !isText {
				encoded, _ := json.Marshal(said)
				text = string(encoded)
			}
			_, _ = w.Write([]byte(text))
		}
	default:
		http.NotFound(w, r)
	}
}

// Says sets what it says of an opaque token: claims, or the text of the answer.
func (i *Issuer) Says(token string, said any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.tokens == nil {
		i.tokens = map[string]any{}
	}
	i.metadata["introspection_endpoint"] = i.URL + "/introspect"
	i.tokens[token] = said
}

// Asked returns how often it was asked about tokens.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// Publish replaces its keys.
func (i *Issuer) Publish(keys ...jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Describe replaces an entry of its metadata.
func (i *Issuer) Describe(name string, value any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.metadata[name] = value
}

// Break has it answer everything like this, nil as before.
func (i *Issuer) Break(how func(http.ResponseWriter)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.broken = how
}

// Fetched returns how often its keys were read.
func (i *Issuer) Fetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetched
}

// Claims returns those of a token for an audience that is valid at a time, with changes; nil
// removes a claim.
func (i *Issuer) Claims(audience string, now time.Time, changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": i.URL, "aud": audience, "sub": "ann@example", "client_id": "phone", "scope": "vault:read",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": RandomText(),
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// RandomText returns a text that is another one every time.
func RandomText() string { return rand.Text() }

// Sign signs claims as a compact JWT. header adds to its header.
func (k SigningKey) Sign(t *testing.T, claims any, header map[jose.HeaderKey]any) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"typ": "at+jwt"}}
	for name, value := range header {
		options.ExtraHeaders[name] = value
	}
	secret := k.Secret
	if k.ID != "" {
		secret = jose.JSONWebKey{Key: k.Secret, KeyID: k.ID}
	}
	signer := require.Value(jose.NewSigner(jose.SigningKey{Algorithm: k.Alg, Key: secret}, options))(t)
	text, isText := claims.(string)
	if !isText {
		text = strings.TrimSpace(JSON(t, claims))
	}
	signed := require.Value(signer.Sign([]byte(text)))(t)
	compact := require.Value(signed.CompactSerialize())(t)
	return compact
}
