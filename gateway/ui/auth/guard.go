// Package auth decides which requests reach the local page.
//
// A link with a code that is good once trades for a cookie; every other request needs
// that cookie, and every change also the token of the page that it was sent from. All
// paths are below one that nobody can guess: browsers do not tell the ports of a host
// apart when they send cookies, and the path keeps this one from other local servers.
//
// Whoever has no cookie gets the same answer for every path. What a request would do is
// not known here, so no route can forget a check.
package auth

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"vaultwicket/gateway/httpguard"
)

const (
	// bodyLimit bounds a form: it has a few fields, the longest of them the parameters of a
	// command to try. readLimit is how long it may take to come.
	bodyLimit = 256 << 10
	readLimit = 15 * time.Second

	openName   = "open/"       // followed by a code
	cookieName = "vaultwicket" // the path of the cookie is of one process
)

// Visit is a request that may see the page.
type Visit struct {
	session *session
	// Base is the path that all paths of the page begin with; it ends with a slash.
	Base string
	// Path is the rest of the path of the request.
	Path string
}

// Page is the part of the page that the request is about: the first segment of its path.
func (v Visit) Page() string {
	page, _, _ := strings.Cut(v.Path, "/")
	return page
}

// Token returns what a form of a page must send back in the field [TokenField]. It is good
// for this session and for changes below this page.
func (v Visit) Token(page string) string { return v.session.token(page) }

// TokenField is the name of the form field with the token.
const TokenField = "token"

// Guard is the handler in front of the page. It is safe for use by several goroutines.
type Guard struct {
	base     string
	hosts    httpguard.Hosts
	sessions *sessions
	next     func(http.ResponseWriter, *http.Request, Visit)
}

// New returns the handler in front of next. Requests must call it localhost, a loopback
// address or host. A nil clock is the system's.
func New(host string, now func() time.Time, next func(http.ResponseWriter, *http.Request, Visit)) *Guard {
	if now == nil {
		now = time.Now
	}
	var names []string
	if name, ok := httpguard.HostName(host); ok {
		names = append(names, name)
	}
	return &Guard{base: "/" + random() + "/", hosts: httpguard.NewHosts(names, nil), sessions: newSessions(now), next: next}
}

// random returns 128 random bits as text for a path or a cookie.
func random() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

// Open returns the path of a link that opens the page once, within [CodeLife]. The link
// before it is no longer good.
func (g *Guard) Open() string { return g.base + openName + g.sessions.newCode() }

// ServeHTTP lets a request through, or says why not. What is decided first is what needs
// the least of the request.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpguard.LimitRead(w, readLimit)
	httpguard.LimitWrite(w)
	protect(w.Header())
	switch {
	case !httpguard.IsPath(r):
		refuse(w, http.StatusBadRequest, "The request target must be a path.")
	case !g.hosts.Allow(r.Host):
		refuse(w, http.StatusForbidden, "The Host header is not allowed.")
	case !isMethod(r.Method):
		w.Header().Set("Allow", "GET, HEAD, POST")
		refuse(w, http.StatusMethodNotAllowed, "Allowed methods: GET, HEAD, POST.")
	default:
		g.admit(w, r)
	}
}

func isMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodPost
}

// admit looks at who sends a request to the page.
func (g *Guard) admit(w http.ResponseWriter, r *http.Request) {
	path, inside := strings.CutPrefix(r.URL.EscapedPath(), g.base)
	if code, found := strings.CutPrefix(path, openName); inside && found && r.Method != http.MethodPost {
		g.trade(w, r, code)
		return
	}
	if isForeign(r) {
		refuse(w, http.StatusForbidden, "Requests from other pages are not allowed.")
		return
	}
	s := g.sessions.of(r)
	if !inside || s == nil {
		refuse(w, http.StatusForbidden, `Open the link that "vaultwicket ui" prints. It works once; press Enter there for another one.`)
		return
	}
	httpguard.MarkAuthenticated(r.Context())
	v := Visit{session: s, Base: g.base, Path: path}
	if r.Method == http.MethodPost && !acceptsChange(w, r, v) {
		return
	}
	httpguard.EndReadLimit(w) // a change may take longer than its form
	g.next(w, r, v)
}

// isForeign reports whether a page of another site, or of another port of this machine,
// sends a request, or shows the answer inside of itself.
func isForeign(r *http.Request) bool {
	site, sent := fetchSite(r.Header)
	if sent && site != "same-origin" && (site != "none" || r.Method == http.MethodPost) || isEmbedded(r.Header) {
		return true
	}
	origins, sent := r.Header["Origin"]
	own := len(origins) == 1 && origins[0] == "http://"+r.Host
	if r.Method != http.MethodPost {
		return sent && !own
	}
	// A form of a page that sends no referrer has the origin "null". So have forms of
	// pages that hide theirs; browsers say which of the two it is, and no page can.
	return !own && (len(origins) != 1 || origins[0] != "null" || site != "same-origin")
}

// fetchSite returns what the browser says of the page that sends a request.
func fetchSite(h http.Header) (site string, sent bool) {
	values := h["Sec-Fetch-Site"]
	if len(values) > 1 {
		return "", true
	}
	return strings.Join(values, ""), len(values) == 1
}

// isEmbedded reports whether the answer would be shown inside of another page.
func isEmbedded(h http.Header) bool {
	switch h.Get("Sec-Fetch-Dest") {
	case "iframe", "frame", "embed", "object", "fencedframe":
		return true
	}
	return false
}

// acceptsChange reports whether a change comes from a form of the page that it is about,
// and answers it if not.
func acceptsChange(w http.ResponseWriter, r *http.Request, v Visit) bool {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
		refuse(w, http.StatusUnsupportedMediaType, "Changes are sent as a form.")
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "The form cannot be read, or is too long.")
		return false
	}
	if tokens := r.PostForm[TokenField]; len(tokens) != 1 || !v.session.isToken(v.Page(), tokens[0]) {
		refuse(w, http.StatusForbidden, "The form is not of this session. Load the page again.")
		return false
	}
	return true
}
