package ui

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestALinkOpensOnce(t *testing.T) {
	d := ignoring(t)
	link := d.Open()
	for _, method := range []string{http.MethodHead, http.MethodPost} { // neither uses it up
		w := send(d, method, link, "", "Host", "localhost")
		if w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %d, %v", method, w.Code, w.Result().Cookies())
		}
	}
	assert.Equal(t, get(d, link+"x").Code, http.StatusForbidden, "a longer code")
	first := get(d, link)
	require.Equal(t, first.Code, http.StatusOK)
	require.Contains(t, first.Body.String(), `content="0; url=`+d.base+`"`)
	cookie := first.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Domain != "" || cookie.Path != d.base ||
		cookie.MaxAge != 0 || !cookie.Expires.IsZero() {
		t.Errorf("cookie %+v", cookie)
	}
	again := get(d, link)
	assert.Equal(t, again.Code, http.StatusForbidden, "a replay")
	assert.Equal(t, len(again.Result().Cookies()), 0, "a replay")
}

// A browser that has the page open is led to it by a link that was used, also from a page
// of another site, where it sends no strict cookie. Any other is told so by the page.
func TestALinkThatWasUsedLeadsToThePage(t *testing.T) {
	d := ignoring(t)
	link := d.Open()
	cookie := get(d, link).Result().Cookies()[0].String()
	for _, test := range []struct {
		site   string
		cookie bool
		want   int
	}{{"none", true, 303}, {"same-origin", true, 303}, {"cross-site", false, 200}, {"none", false, 403}, {"same-site", false, 403}} {
		w := send(d, http.MethodGet, link, "", "Sec-Fetch-Site", test.site, "Cookie", map[bool]string{true: cookie}[test.cookie])
		leads := w.Header().Get("Location") == d.base || strings.Contains(w.Body.String(), `content="0; url=`+d.base+`"`)
		assert.Equal(t, w.Code, test.want, "%+v: %d %s", test, w.Code, w.Body)
		assert.Equal(t, leads, test.want != 403, "%+v: %d %s", test, w.Code, w.Body)
		assert.Equal(t, len(w.Result().Cookies()), 0, "%+v: %d %s", test, w.Code, w.Body)
	}
}

func TestALinkExpiresAndIsReplaced(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := newGuard(func() time.Time { return now }, noQuestions(t), nil)
	old := d.Open()
	next := d.Open()
	assert.Equal(t, get(d, old).Code, http.StatusForbidden, "the link before")
	now = now.Add(LinkLife)
	assert.Equal(t, get(d, next).Code, http.StatusForbidden, "after its time")
	d.Open()
	assert.Equal(t, len(d.sessions.all), 0, "a session without a code")
}

func TestAFrameOrAPrefetchDoesNotUseALinkUp(t *testing.T) {
	d := ignoring(t)
	link := d.Open()
	for name, value := range map[string]string{"Sec-Fetch-Dest": "iframe", "Sec-Purpose": "prefetch;prerender"} {
		assert.Equal(t, send(d, http.MethodGet, link, "", "Host", "localhost", name, value).Code, http.StatusForbidden, "%s", name)
	}
	cookieOf(t, d)
}

// No browser sends such a header twice.
func TestAHeaderOfThePageThatIsSentTwiceIsForeign(t *testing.T) {
	for name, value := range map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://example.com"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header[name] = []string{value}
		assert.That(t, !isForeign(r), "%s", name)
		r.Header.Add(name, value)
		assert.That(t, isForeign(r), "%s twice", name)
	}
}

// A client that knows the address, and not the link, learns nothing from any path.
func TestWithoutACookieEveryPathIsTheSame(t *testing.T) {
	d := ignoring(t)
	want := get(d, "/").Body.String()
	for _, path := range []string{"/favicon.ico", d.base, d.base + "approvals", d.base + "assets/page.css", d.base + "events", "/mcp", "/%2e%2e/"} {
		w := get(d, path)
		assert.Equal(t, w.Code, http.StatusForbidden, "%s", path)
		assert.Equal(t, w.Body.String(), want, "%s", path)
	}
	assert.That(t, !strings.Contains(want, d.base), "the answer names the path")
}

func TestChangesAreFormsThatAreShort(t *testing.T) {
	d := ignoring(t)
	cookie := cookieOf(t, d)
	token := url.Values{tokenField: {visit{session: d.sessions.all[0]}.Token("pause")}}.Encode()
	for name, test := range map[string]struct {
		kind, body string
		want       int
	}{
		"a form":                    {"application/x-www-form-urlencoded; charset=utf-8", token, 200},
		"JSON":                      {"application/json", "{}", 415},
		"text":                      {"text/plain", token, 415},
		"no type":                   {"", token, 415},
		"two tokens":                {"application/x-www-form-urlencoded", token + "&" + token, 403},
		"a form that is too long":   {"application/x-www-form-urlencoded", token + "&x=" + strings.Repeat("x", bodyLimit), 400},
		"a form that is not one":    {"application/x-www-form-urlencoded", token + "&%zz", 400},
		"a token in the query only": {"application/x-www-form-urlencoded", "", 403},
	} {
		w := send(d, http.MethodPost, d.base+"pause?"+token, test.body, "Origin", "http://127.0.0.1:4567",
			"Content-Type", test.kind, "Cookie", cookieName+"="+cookie)
		assert.Equal(t, w.Code, test.want, "%s", name)
	}
}

func TestTheOldestSessionIsReplaced(t *testing.T) {
	d := ignoring(t)
	first := cookieOf(t, d)
	for range maxSessions {
		cookieOf(t, d)
	}
	w := send(d, http.MethodGet, d.base, "", "Cookie", cookieName+"="+first)
	assert.Equal(t, w.Code, http.StatusForbidden, "%d with %d sessions", w.Code, len(d.sessions.all))
	assert.Equal(t, len(d.sessions.all), maxSessions, "%d with %d sessions", w.Code, len(d.sessions.all))
}

// deadlines is an answer that keeps the last limit for reading.
type deadlines struct {
	*httptest.ResponseRecorder
	read time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = at
	return nil
}

// The time in which a form must come is not the time that a change may take.
func TestTheLimitForReadingEndsWithTheForm(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	reached := false
	g := newGuard(time.Now, noQuestions(t), func(http.ResponseWriter, *http.Request, visit) {
		reached = true
		assert.That(t, w.read.IsZero(), "the request is cancelled at %v", w.read)
	})
	cookie := cookieOf(t, g)
	r := httptest.NewRequest(http.MethodPost, g.base+"changes/undo",
		strings.NewReader(url.Values{tokenField: {visit{session: g.sessions.all[0]}.Token("changes")}}.Encode()))
	r.Host = "127.0.0.1:4567"
	r.Header.Set("Origin", "http://127.0.0.1:4567")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
	g.ServeHTTP(w, r)
	assert.That(t, reached, "the request was refused")
	refused := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r.Header.Del("Cookie")
	g.ServeHTTP(refused, r)
	assert.That(t, !refused.read.IsZero(), "a client without the cookie may send for ever")
}

// attempt is one request of the matrix, in words.
type attempt struct{ host, origin, site, dest, cookie, token, method, path string }

// verdict is what the specification says of an attempt. It shares nothing with the code.
func (a attempt) verdict() int {
	loopback := map[string]bool{"127.0.0.1:4567": true, "localhost:4567": true, "127.0.0.1:9": true, "[::1]:4567": true}
	change := a.method == "POST"
	switch {
	case !loopback[a.host]:
		return 403 // a name that was made to point here
	case a.method != "GET" && a.method != "HEAD" && !change:
		return 405
	case a.path == "outside", a.cookie != "good" && a.cookie != "besides another", a.host != "127.0.0.1:4567":
		return 403 // no session, or one of another host
	case a.dest == "iframe":
		return 403 // framing
	case a.site == "same-site", a.site == "cross-site":
		return 403 // another page, of another port too
	case a.site == "none" && change:
		return 403 // no form is sent by hand
	case !change && a.origin != "-" && a.origin != "http://127.0.0.1:4567":
		return 403
	case change && a.origin == "null" && a.site != "same-origin":
		return 403 // a page that hides its origin
	case change && a.origin != "null" && a.origin != "http://127.0.0.1:4567":
		return 403 // another origin, or none
	case change && a.token != "good":
		return 403
	}
	return 200
}

// secrets are the values that the words of an attempt stand for.
type secrets struct{ base, cookie, other, token, otherPage, otherSession string }

func (a attempt) request(s secrets) *http.Request {
	path := map[string]string{"page": s.base + "approvals/approve", "outside": "/approvals/approve"}[a.path]
	body := ""
	if token, given := map[string]string{"good": s.token, "wrong": altered(s.token), "other page": s.otherPage,
		"other session": s.otherSession}[a.token]; given {
		body = url.Values{tokenField: {token}}.Encode()
	}
	r := httptest.NewRequest(a.method, path, strings.NewReader(body))
	r.Host = a.host
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range map[string]string{"Origin": a.origin, "Sec-Fetch-Site": a.site, "Sec-Fetch-Dest": a.dest} {
		if value != "-" {
			r.Header.Set(name, value)
		}
	}
	switch a.cookie {
	case "good":
		r.Header.Set("Cookie", cookieName+"="+s.cookie)
	case "wrong":
		r.Header.Set("Cookie", cookieName+"="+altered(s.cookie))
	case "of another process":
		r.Header.Set("Cookie", cookieName+"="+s.other)
	case "besides another":
		r.Header.Set("Cookie", cookieName+"=x; "+cookieName+"="+s.cookie)
	}
	return r
}

// altered returns a secret whose first character is another one.
func altered(secret string) string {
	if secret[0] == 'x' {
		return "y" + secret[1:]
	}
	return "x" + secret[1:]
}

// Every combination of what a browser or a program may send is answered as the rule says. By
// default it is one of eleven, which are all combinations of any four of the eight.
func TestMatrix(t *testing.T) {
	reached, mine := 0, testenv.Shard(t, 11)
	d := newGuard(time.Now, noQuestions(t), func(http.ResponseWriter, *http.Request, visit) { reached++ })
	s := secrets{base: d.base, cookie: cookieOf(t, d)}
	s.token, s.otherPage = visit{session: d.sessions.all[0]}.Token("approvals"), visit{session: d.sessions.all[0]}.Token("changes")
	foreign := newGuard(time.Now, noQuestions(t), nil)
	s.other = cookieOf(t, foreign)
	s.otherSession = visit{session: foreign.sessions.all[0]}.Token("approvals")
	count := 0
	every(func(a attempt) {
		if count++; !mine(count) {
			return
		}
		before := reached
		w := httptest.NewRecorder()
		d.ServeHTTP(w, a.request(s))
		want := a.verdict()
		require.Equal(t, w.Code, want, "%+v", a)
		require.Equal(t, reached > before, want == 200, "%+v", a)
		checkProtected(t, w.Header())
	})
	t.Logf("%d requests, %d reached the page", count, reached)
}

func every(visit func(attempt)) {
	for _, host := range []string{"127.0.0.1:4567", "localhost:4567", "127.0.0.1:9", "[::1]:4567", "evil.example",
		"localhost.evil.example:4567", "0.0.0.0:4567", ""} {
		for _, origin := range []string{"-", "http://127.0.0.1:4567", "https://127.0.0.1:4567", "http://127.0.0.1:9",
			"http://localhost:4567", "null", "https://evil.example"} {
			for _, site := range []string{"-", "none", "same-origin", "same-site", "cross-site"} {
				for _, cookie := range []string{"none", "good", "wrong", "of another process", "besides another"} {
					for _, token := range []string{"none", "good", "wrong", "other page", "other session"} {
						for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
							for _, path := range []string{"page", "outside"} {
								for _, dest := range []string{"document", "iframe"} {
									visit(attempt{host, origin, site, dest, cookie, token, method, path})
								}
							}
						}
					}
				}
			}
		}
	}
}

// checkProtected requires the header of every answer, whatever it is.
func checkProtected(t *testing.T, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		require.That(t, strings.Contains(policy, part), "policy %q lacks %s", policy, part)
	}
	require.That(t, !strings.Contains(policy, "unsafe"), "policy %q", policy)
	require.That(t, !strings.Contains(policy, "http"), "policy %q", policy)
	require.That(t, !strings.Contains(policy, "data:"), "policy %q", policy)
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
		"Access-Control-Allow-Origin": ""} {
		require.Equal(t, h.Get(name), want, "%s", name)
	}
}

// cookieOf opens the page with the link and returns the cookie.
func cookieOf(t *testing.T, d *guard) string {
	t.Helper()
	w := get(d, d.Open())
	cookies := w.Result().Cookies()
	require.Equal(t, w.Code, http.StatusOK, "the link answers %d with %d cookies", w.Code, len(cookies))
	require.Equal(t, len(cookies), 2, "the link answers %d with %d cookies", w.Code, len(cookies))
	require.Equal(t, cookies[0].Name, cookieName, "the link answers %d with %d cookies", w.Code, len(cookies))
	return cookies[0].Value
}

func get(d *guard, path string) *httptest.ResponseRecorder { return send(d, http.MethodGet, path, "") }

// send sends a request with headers, of which those with the value "" are left out.
func send(d *guard, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:4567"
	for header := range slices.Chunk(headers, 2) {
		switch name, value := header[0], header[1]; {
		case name == "Host":
			r.Host = value
		case value != "":
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// ignoring is a guard of a page that answers nothing.
func ignoring(t *testing.T) *guard {
	return newGuard(time.Now, noQuestions(t), func(http.ResponseWriter, *http.Request, visit) {})
}

// noQuestions is the pages of questions of a state folder that has none.
func noQuestions(t *testing.T) *linkPages {
	return newLinkPages(filepath.Join(t.TempDir(), "state"), "1-page", "", time.Now, slog.New(slog.DiscardHandler))
}
