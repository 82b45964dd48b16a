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

	openName   = "open/"       // precedes the code in a link
	cookieName = "vaultwicket" // the path of the cookie belongs to one process
)

// visit is an authenticated request.
type visit struct {
	session *session
	// Base is the prefix of all paths of the page; it ends with a slash.
	Base string
	// Path is the rest of the path of the request.
	Path string
}

// Page returns the part of the page to which the request belongs: the first segment of its path.
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

// guard is the handler that authenticates requests for the page. It does not depend on what a
// request does, so no route can forget a check.
//
// A link with a one-time code is exchanged for a cookie. Every other request needs the cookie, and
// every change also the token of the page whose form sent it (against CSRF). All paths are below a
// random one: browsers send cookies to all ports of a host, and the random path keeps this cookie
// from other local servers. Without the cookie all paths give the same answer. It is safe for
// concurrent use.
type guard struct {
	base     string
	hosts    httpguard.Hosts
	sessions *sessions
	links    *linkPages
	next     func(http.ResponseWriter, *http.Request, visit)
}

// newGuard returns a guard that calls next for authenticated requests, and links for requests of single questions. The
// Host header must contain localhost or a loopback address.
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
	s.code = sha256.Sum256([]byte(code))
	s.until = s.now().Add(LinkLife)
	return g.base + openName + code
}

// ServeHTTP passes a request on, or answers why not. The checks that need the least of the request
// come first: the Host header (against DNS rebinding), then origin, cookie and token.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpguard.LimitRead(w, readLimit)
	httpguard.LimitWrite(w)
	for name, value := range protections {
		w.Header().Set(name, value)
	}
	isChange := r.Method == http.MethodPost
	switch {
	case !httpguard.IsPath(r):
		refuse(w, http.StatusBadRequest, "The request target must be a path.")
		return
	case !g.hosts.Allow(r.Host):
		refuse(w, http.StatusForbidden, "The Host header is not allowed.")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead && !isChange:
		w.Header().Set("Allow", "GET, HEAD, POST")
		refuse(w, http.StatusMethodNotAllowed, "Allowed methods: GET, HEAD, POST.")
		return
	}
	if ref, found := strings.CutPrefix(r.URL.EscapedPath(), consent.LinkPath); found {
		g.links.serve(w, r, ref)
		return
	}
	path, isBelowBase := strings.CutPrefix(r.URL.EscapedPath(), g.base)
	if code, found := strings.CutPrefix(path, openName); isBelowBase && found && !isChange {
		g.trade(w, r, code)
		return
	}
	if isForeign(r) {
		refuse(w, http.StatusForbidden, "Requests from other pages are not allowed.")
		return
	}
	s := g.sessions.find(r)
	if !isBelowBase || s == nil {
		refuse(
			w,
			http.StatusForbidden,
			`Open the link that "vaultwicket ui" prints. It works once; press Enter there for another one.`,
		)
		return
	}
	httpguard.MarkAuthenticated(r.Context())
	v := visit{session: s, Base: g.base, Path: path}
	if isChange { // it must come from a form of the page that it changes
		if _, ok := readForm(w, r); !ok {
			return
		}
		tokens := r.PostForm[tokenField]
		if len(tokens) != 1 || !hmac.Equal([]byte(tokens[0]), []byte(v.Token(v.Page()))) {
			refuse(w, http.StatusForbidden, "The form is not of this session. Load the page again.")
			return
		}
	}
	httpguard.EndReadLimit(w) // a change may take longer than its form
	g.next(w, r, v)
}

// readForm reads the form of a request. If there is no valid form, it answers the request, and ok is false.
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

// isForeign reports whether a request comes from a page of another site, or of another port of
// this machine, or would be displayed inside another page.
func isForeign(r *http.Request) bool {
	site, sent := fetchSite(r.Header)
	isTyped := site == "none" && r.Method != http.MethodPost // in the address bar, or a bookmark
	isFromOtherSite := sent && site != "same-origin" && !isTyped
	if isFromOtherSite || isEmbedded(r.Header) {
		return true
	}
	origins, sent := r.Header["Origin"]
	isOwn := len(origins) == 1 && origins[0] == "http://"+r.Host
	if r.Method != http.MethodPost {
		return sent && !isOwn
	}
	// A form of a page that sends no referrer has the origin "null", like a form of a page
	// that hides its origin. Browsers tell the two apart in a header that no page can set.
	isOwnWithoutReferrer := len(origins) == 1 && origins[0] == "null" && site == "same-origin"
	return !isOwn && !isOwnWithoutReferrer
}

// fetchSite returns what the browser reports about the site that sends a request.
func fetchSite(h http.Header) (site string, sent bool) {
	values := h["Sec-Fetch-Site"]
	if len(values) > 1 {
		return "", true
	}
	return strings.Join(values, ""), len(values) == 1
}

// isEmbedded reports whether the answer would be displayed inside another page.
func isEmbedded(h http.Header) bool {
	switch h.Get("Sec-Fetch-Dest") {
	case "iframe", "frame", "embed", "object", "fencedframe":
		return true
	}
	return false
}

// contentPolicy lets the page load only its own files: no inline code, no frames, nothing from
// other machines.
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

// trade exchanges the code of a link for the cookie. The answer is a page that loads the first
// view by itself: after a redirect from a link in another program, browsers would not send a
// SameSite=Strict cookie.
func (g *guard) trade(w http.ResponseWriter, r *http.Request, code string) {
	isPrefetch := r.Header.Get("Sec-Purpose") != "" // which would use up the code
	if r.Method != http.MethodGet || isEmbedded(r.Header) || isPrefetch {
		refuse(w, http.StatusForbidden, "Open the link in a browser.")
		return
	}
	cookie := g.sessions.redeem(code, r.Host)
	switch site, _ := fetchSite(r.Header); {
	case cookie != "":
		// Without a domain, the cookie is limited to this host; without an age, to this run of
		// the browser. It is not marked as secure, because loopback has no TLS.
		http.SetCookie(w, &http.Cookie{
			Name:     cookieName,
			Value:    cookie,
			Path:     g.base,
			HttpOnly: true,
			SameSite: http.SameSiteStrictMode,
		})
		if err := g.links.pair(w); err != nil {
			g.links.log.Warn("this browser cannot be paired: " + err.Error())
		}
	case g.sessions.find(r) != nil: // the browser already has a cookie
		w.Header().Set("Location", g.base)
		w.WriteHeader(http.StatusSeeOther)
		return
	case site != "cross-site": // from another site, browsers withhold a cookie, and send it from our page
		refuse(
			w,
			http.StatusForbidden,
			`This link was used before or has expired. Press Enter where "vaultwicket ui" runs for another one.`,
		)
		return
	}
	writeBare(w, http.StatusOK, barePage{Title: "Signed in", Text: "This browser shows the page of vaultwicket.", GoTo: g.base})
}

// barePage is a page with only a title and a text.
type barePage struct {
	Title, Text string
	GoTo        string // path to which the browser goes on, "" for none
}

// Files returns the prefix of the paths of the files of the page.
func (barePage) Files() string { return consent.LinkPath }

// Refresh returns the attribute that makes a browser go on by itself. The path is ours and needs no escaping.
func (b barePage) Refresh() template.HTMLAttr {
	return template.HTMLAttr(`content="0; url=` + b.GoTo + `"`)
}

// Paused returns false: a bare page does not show whether agents are paused.
func (barePage) Paused() bool { return false }

// refuse answers with a page that gives the reason, without a link.
func refuse(w http.ResponseWriter, status int, text string) {
	writeBare(w, status, barePage{Title: http.StatusText(status), Text: text})
}

// writeBare answers with a bare page.
func writeBare(w http.ResponseWriter, status int, page barePage) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = views()["bare"].ExecuteTemplate(w, "bare", page) // fails only if the client is gone
}

// LinkLife is how long a link can be opened.
const LinkLife = 15 * time.Minute

// maxSessions is the maximum number of browsers with a session. One more ends the oldest session.
const maxSessions = 16

// sessions keeps the sessions of the browsers, and the code for the next one.
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

// session is the session of one browser. Its cookie is valid for the host at which the link was opened.
type session struct {
	cookie digest
	host   string
	key    [sha256.Size]byte // of its tokens
}

// redeem exchanges a code for the cookie of a new session, once. It returns "" for a wrong code.
func (s *sessions) redeem(code, host string) (cookie string) {
	given := digest(sha256.Sum256([]byte(code)))
	s.mu.Lock()
	defer s.mu.Unlock()
	isOpen := s.code != (digest{}) && s.now().Before(s.until)
	if !isOpen || subtle.ConstantTimeCompare(given[:], s.code[:]) != 1 {
		return ""
	}
	s.code = digest{}
	cookie = random()
	newSession := &session{cookie: sha256.Sum256([]byte(cookie)), host: host, key: sha256.Sum256([]byte(random()))}
	s.all = append(s.all[max(0, len(s.all)+1-maxSessions):], newSession)
	return cookie
}

// find returns the session of a request, or nil.
func (s *sessions) find(r *http.Request) *session {
	cookies := r.CookiesNamed(cookieName) // servers on other ports of this host can set this cookie, too
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cookie := range cookies[:min(len(cookies), maxCookies)] {
		given := digest(sha256.Sum256([]byte(cookie.Value)))
		for _, candidate := range s.all {
			if subtle.ConstantTimeCompare(given[:], candidate.cookie[:]) == 1 && candidate.host == r.Host {
				return candidate
			}
		}
	}
	return nil
}

// maxCookies is the maximum number of cookies of one name that are checked in a request.
const maxCookies = 16
