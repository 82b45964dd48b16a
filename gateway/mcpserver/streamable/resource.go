package streamable

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"vaultwicket/gateway/mcpserver/wire"
)

// Resource describes the server to OAuth clients, which find out from it where to get an access
// token (RFC 9728).
type Resource struct {
	// URL is the address at which clients reach the endpoint, with https or on this machine.
	// Access tokens are for it. It decides what is described: the Host header of a request never
	// does.
	URL string
	// Issuer is the URL of the authorization server.
	Issuer string
	// Scopes are those of access tokens. A client begins with all of them: whoever grants them
	// chooses, and common clients that have a refresh token never ask for more.
	Scopes []string
}

// SignIn is an authorization server at the same address.
type SignIn interface {
	http.Handler
	// Owns reports whether a path is one of the server.
	Owns(path string) bool
}

// Holder is whose a token is.
type Holder struct {
	// Server answers the requests.
	Server *wire.Server
	// Identity is the same for all tokens that may use one session, zero for only this token.
	Identity [sha256.Size]byte
}

// Refusal is why a token is not accepted although it is valid, or may be.
type Refusal struct {
	Status int    // of HTTP
	Scopes string // that the token would need, "" if it does not lack any
	Reason string
}

func (e *Refusal) Error() string { return e.Reason }

// insufficientScope is the error of RFC 6750 for a token that was not issued for a request.
const insufficientScope = "insufficient_scope"

// metadataPath is where the address of a description begins (RFC 9728, 3).
const metadataPath = "/.well-known/oauth-protected-resource"

// metadata returns the origin of the server and the path of its description.
func (o *Resource) metadata() (origin, path string) {
	u, _ := url.Parse(o.URL) // it was checked
	return u.Scheme + "://" + u.Host, metadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}

// describes answers a request for the description, and reports whether it was one: for the path of the
// address of the server, of its endpoint before a proxy changes the path, or the one for a whole origin.
func (o *Resource) describes(w http.ResponseWriter, r *http.Request, path string) bool {
	if o == nil {
		return false
	}
	if _, own := o.metadata(); path != own && path != metadataPath+endpoint && path != metadataPath {
		return false
	}
	if allowed(w, r, http.MethodGet, http.MethodHead) {
		text, _ := json.Marshal(map[string]any{ // only text
			"resource": o.URL, "authorization_servers": []string{o.Issuer}, "scopes_supported": o.Scopes,
			"bearer_methods_supported": []string{"header"}, "resource_name": "vaultwicket",
		})
		replyWith(w, http.StatusOK, text)
	}
	return true
}

// challenge says in a response what is wrong with the token, "" for no token, which scopes would
// do, and where a client finds out how to get one (RFC 6750, 3).
func (o *Resource) challenge(h http.Header, problem, scopes string) {
	text := "Bearer"
	if o != nil {
		origin, path := o.metadata()
		text += fmt.Sprintf(" resource_metadata=%q", origin+path)
		if problem != "" {
			text += fmt.Sprintf(", error=%q", problem)
		}
		if scopes != "" {
			text += fmt.Sprintf(", scope=%q", scopes)
		}
	}
	h.Set("WWW-Authenticate", text)
}
