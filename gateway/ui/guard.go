package ui

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

const (
	// bodyLimit is the maximum size of a form in bytes, and readLimit the time limit for reading
	// it. Its longest field has the parameters of a command.
	bodyLimit = 256 << 10
	readLimit = 15 * time.Second

	openName   = "open/"       // followed by a code
	cookieName = "vaultwicket" // the path of the cookie is of one process
)

// visit is an authenticated request.
type visit struct {
	session *session
	// Base is the path that all paths of the page begin with; it ends with a slash.
	Base string
	// Path is the rest of the path of the request.
	Path string
}

// Page returns the part of the page that the request is for: the first segment of its path.
func (v visit) Page() string {
	page, _, _ := strings.Cut(v.Path, "/")
	return page
}

// Token returns what a form of a page must send back in the field [tokenField]. It is good
// for this session and for changes below this page.
func (v visit) Token(page string) string {
	mac := hmac.New(sha256.New, v.session.key[:])
	_, _ = mac.Write([]byte(page)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// tokenField is the name of the form field with the token.
const tokenField = "token"

// guard is the handler that authenticates requests for the page. It does not know what a request
// does, so no route can forget a check.
//
// A link with a one-time code trades for a cookie. Every other request needs the cookie, and every
// change also the token of the page whose form sent it (CSRF). All paths are below a random one:
// browsers send cookies to all ports of a host, and the path keeps this one from other local
// servers. Without the cookie all paths have the same answer. It is safe for concurrent use.
type guard struct {
	base     string
	hosts    httpguard.Hosts
	sessions *sessions
	links    *linkPages
	next     func(http.ResponseWriter, *http.Request, visit)
}

// newGuard returns a guard that calls next for authenticated requests, and links for those of single questions. The
// Host header must have localhost or a loopback address.
func newGuard(
	now func() time.Time,
	links *linkPages,
	next func(http.ResponseWriter, *http.Request, visit),
) *guard {
	return &guard{
		base:     "/" + random() + "/",
		hosts:    httpguard.NewHosts(nil, nil),
		sessions: &sessions{now: now},
		links:    links,
		next:     next,
	}
}

// random returns 128 random bits as text for a path or a cookie.
func random() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

// Open returns the path of a link that opens the page once, within [LinkLife]. It invalidates the
// previous link.
func (g *guard) Open() string {
	code := random()
	s := g.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.until = sha256.Sum256([]byte(code)), s.now().Add(LinkLife)
	return g.base + openName + code
}

// ServeHTTP passes a request on or says why not. The checks that need least of the request come
// first: the Host header, against DNS rebinding, then origin, cookie and token.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpguard.LimitRead(w, readLimit)
	httpguard.LimitWrite(w)
	for name, value := range protections {
		w.Header().Set(name, value)
	}
	changes := r.Method == http.MethodPost
	switch {
	case !httpguard.IsPath(r):
		refuse(w, http.StatusBadRequest, "The request target must be a path.")
		return
	case !g.hosts.Allow(r.Host):
		refuse(w, http.StatusForbidden, "The Host header is not allowed.")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead && !changes:
		w.Header().Set("Allow", "GET, HEAD, POST")
		refuse(w, http.StatusMethodNotAllowed, "Allowed methods: GET, HEAD, POST.")
		return
	}
	if ref, found := strings.CutPrefix(r.URL.EscapedPath(), consent.LinkPath); found {
		g.links.serve(w, r, ref)
		return
	}
	path, inside := strings.CutPrefix(r.URL.EscapedPath(), g.base)
	if code, found := strings.CutPrefix(path, openName); inside && found && !changes {
		g.trade(w, r, code)
		return
	}
	if isForeign(r) {
		refuse(w, http.StatusForbidden, "Requests from other pages are not allowed.")
		return
	}
	s := g.sessions.of(r)
	if !inside || s == nil {
		refuse(
			w,
			http.StatusForbidden,
			`Open the link that "vaultwicket ui" prints. It works once; press Enter there for another one.`,
		)
		return
	}
	httpguard.MarkAuthenticated(r.Context())
	v := visit{session: s, Base: g.base, Path: path}
	if changes { // they come from a form of the page that they are about
		if _, ok := readForm(w, r); !ok {
			return
		}
		if tokens := r.PostForm[tokenField]; len(tokens) != 1 ||
			!hmac.Equal([]byte(tokens[0]), []byte(v.Token(v.Page()))) {
			refuse(w, http.StatusForbidden, "The form is not of this session. Load the page again.")
			return
		}
	}
	httpguard.EndReadLimit(w) // a change may take longer than its form
	g.next(w, r, v)
}

// readForm reads the form of a request. ok is false if it is none, and the request has its answer.
func readForm(w http.ResponseWriter, r *http.Request) (form url.Values, ok bool) {
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
		refuse(w, http.StatusUnsupportedMediaType, "Changes are sent as a form.")
		return nil, false
	}
	if r.ParseForm() != nil {
		refuse(w, http.StatusBadRequest, "The form cannot be read, or is too long.")
		return nil, false
	}
	return r.PostForm, true
}

// isForeign reports whether a page of another site, or of another port of this machine,
// sends a request, or shows the answer inside of itself.
func isForeign(r *http.Request) bool {
	site, sent := fetchSite(r.Header)
	isTyped := site == "none" && r.Method != http.MethodPost // in the address bar, or a bookmark
	isOfOtherSite := sent && site != "same-origin" && !isTyped
	if isOfOtherSite || isEmbedded(r.Header) {
		return true
	}
	origins, sent := r.Header["Origin"]
	own := len(origins) == 1 && origins[0] == "http://"+r.Host
	if r.Method != http.MethodPost {
		return sent && !own
	}
	// A form of a page that sends no referrer has the origin "null". So have forms of
	// pages that hide theirs; browsers say which of the two it is, and no page can.
	isOwnWithoutReferrer := len(origins) == 1 && origins[0] == "null" && site == "same-origin"
	return !own && !isOwnWithoutReferrer
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

// contentPolicy lets the page load its own files and nothing else: no inline code, no frames, no
// other machine.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protections are headers of every answer.
var protections = map[string]string{
	"Content-Security-Policy":      contentPolicy,
	"X-Frame-Options":              "DENY",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}

// trade sets the cookie for a request with the code. The answer is a page that loads the first
// view by itself: after a redirect from a link in another program, browsers would not send a
// SameSite=Strict cookie.
func (g *guard) trade(w http.ResponseWriter, r *http.Request, code string) {
	if r.Method != http.MethodGet || isEmbedded(r.Header) ||
		r.Header.Get("Sec-Purpose") != "" { // a prefetch would use it up
		refuse(w, http.StatusForbidden, "Open the link in a browser.")
		return
	}
	cookie := g.sessions.redeem(code, r.Host)
	switch site, _ := fetchSite(r.Header); {
	case cookie != "":
		// Without a domain the cookie is of this host alone, without an age of this run of
		// the browser. It is not marked as secure: there is no TLS on a loopback address.
		http.SetCookie(
			w,
			&http.Cookie{
				Name:     cookieName,
				Value:    cookie,
				Path:     g.base,
				HttpOnly: true,
				SameSite: http.SameSiteStrictMode,
			},
		)
		if err := g.links.pair(w); err != nil {
			g.links.log.Warn("this browser cannot be paired: " + err.Error())
		}
	case g.sessions.of(r) != nil: // a browser that has traded it before
		w.Header().Set("Location", g.base)
		w.WriteHeader(http.StatusSeeOther)
		return
	case site != "cross-site": // such a browser keeps its cookie back here, and sends it from a page of ours
		refuse(
			w,
			http.StatusForbidden,
			`This link was used before or has expired. Press Enter where "vaultwicket ui" runs for another one.`,
		)
		return
	}
	writeBare(w, http.StatusOK, barePage{Title: "Signed in", Text: "This browser shows the page of vaultwicket.", GoTo: g.base})
}

// barePage is a page without a view.
type barePage struct {
	Title, Text string
	GoTo        string // where the browser goes on, "" for nowhere
}

// Files is the path that the files of the page begin with.
func (barePage) Files() string { return consent.LinkPath }

// Refresh is the attribute with which a browser goes on by itself. The path is of the page, and has no sign of HTML.
func (b barePage) Refresh() template.HTMLAttr {
	return template.HTMLAttr(`content="0; url=` + b.GoTo + `"`)
}

// Paused keeps the gate closed.
func (barePage) Paused() bool { return false }

// refuse answers with a page that says why, without a link.
func refuse(w http.ResponseWriter, status int, text string) {
	writeBare(w, status, barePage{Title: http.StatusText(status), Text: text})
}

// writeBare answers with a page without a view.
func writeBare(w http.ResponseWriter, status int, page barePage) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = views()["bare"].ExecuteTemplate(w, "bare", page) // a client that is gone reads no error
}

// LinkLife is how long a link can be opened.
const LinkLife = 15 * time.Minute

// maxSessions is the maximum number of browsers. One more ends the oldest session.
const maxSessions = 16

// sessions are the browsers that have a cookie, and the code for the next one.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex
	code  digest // the zero digest for none
	until time.Time
	all   []*session
}

// digest is stored in place of a secret. Digests are compared because a comparison in constant
// time needs equal lengths.
type digest [sha256.Size]byte

// session is one browser. Its cookie is good under the host at which the link was opened.
type session struct {
	cookie digest
	host   string
	key    [sha256.Size]byte // of its tokens
}

// redeem trades a code for a cookie, once. It returns "" for a wrong code.
func (s *sessions) redeem(code, host string) (cookie string) {
	given := digest(sha256.Sum256([]byte(code)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == (digest{}) || subtle.ConstantTimeCompare(given[:], s.code[:]) != 1 || !s.now().Before(s.until) {
		return ""
	}
	s.code = digest{}
	cookie = random()
	made := &session{cookie: sha256.Sum256([]byte(cookie)), host: host, key: sha256.Sum256([]byte(random()))}
	s.all = append(s.all[max(0, len(s.all)+1-maxSessions):], made)
	return cookie
}

// of returns the session of a request, nil if it has none.
func (s *sessions) of(r *http.Request) *session {
	cookies := r.CookiesNamed(cookieName) // servers on other ports of this host can set some, too
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cookie := range cookies[:min(len(cookies), maxCookies)] {
		given := digest(sha256.Sum256([]byte(cookie.Value)))
		for _, one := range s.all {
			if subtle.ConstantTimeCompare(given[:], one.cookie[:]) == 1 && one.host == r.Host {
				return one
			}
		}
	}
	return nil
}

// maxCookies of the name are looked at in a request.
const maxCookies = 16
