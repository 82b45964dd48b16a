package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestALinkOpensOnce(t *testing.T) {
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {})
	link := d.Open()
	for _, method := range []string{http.MethodHead, http.MethodPost} { // neither uses it up
		r := httptest.NewRequest(method, link, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %d, %v", method, w.Code, w.Result().Cookies())
		}
	}
	if w := get(d, link+"x"); w.Code != http.StatusForbidden {
		t.Errorf("a longer code: %d", w.Code)
	}
	first := get(d, link)
	if first.Code != http.StatusOK || !strings.Contains(first.Body.String(), `content="0; url=`+d.base+`"`) {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	cookie := first.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Domain != "" || cookie.Path != d.base || cookie.MaxAge != 0 || !cookie.Expires.IsZero() {
		t.Errorf("cookie %+v", cookie)
	}
	if again := get(d, link); again.Code != http.StatusForbidden || len(again.Result().Cookies()) > 0 {
		t.Errorf("a replay: %d", again.Code)
	}
}

// A browser that has the page open is led to it by a link that was used, also from a page
// of another site, where it sends no strict cookie. Any other is told so by the page.
func TestALinkThatWasUsedLeadsToThePage(t *testing.T) {
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {})
	link := d.Open()
	cookie := get(d, link).Result().Cookies()[0]
	for _, test := range []struct {
		site   string
		cookie bool
		want   int
	}{{"none", true, 303}, {"same-origin", true, 303}, {"cross-site", false, 200}, {"none", false, 403}, {"same-site", false, 403}} {
		r := httptest.NewRequest(http.MethodGet, link, nil)
		r.Host = "127.0.0.1:4567"
		r.Header.Set("Sec-Fetch-Site", test.site)
		if test.cookie {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		leads := w.Header().Get("Location") == d.base || strings.Contains(w.Body.String(), `content="0; url=`+d.base+`"`)
		if w.Code != test.want || leads != (test.want != 403) || len(w.Result().Cookies()) > 0 {
			t.Errorf("%+v: %d %s", test, w.Code, w.Body)
		}
	}
}

func TestALinkExpiresAndIsReplaced(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := New("", func() time.Time { return now }, nil)
	old := d.Open()
	next := d.Open()
	if w := get(d, old); w.Code != http.StatusForbidden {
		t.Errorf("the link before: %d", w.Code)
	}
	now = now.Add(CodeLife)
	if w := get(d, next); w.Code != http.StatusForbidden {
		t.Errorf("after its time: %d", w.Code)
	}
	if d.Open(); len(d.sessions.all) != 0 {
		t.Error("a session without a code")
	}
}

func TestAFrameOrAPrefetchDoesNotUseALinkUp(t *testing.T) {
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {})
	link := d.Open()
	for name, value := range map[string]string{"Sec-Fetch-Dest": "iframe", "Sec-Purpose": "prefetch;prerender"} {
		r := httptest.NewRequest(http.MethodGet, link, nil)
		r.Host = "localhost"
		r.Header.Set(name, value)
		w := httptest.NewRecorder()
		if d.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	cookieOf(t, d)
}

// Whoever knows the address, and not the link, learns nothing from any path.
func TestWithoutACookieEveryPathIsTheSame(t *testing.T) {
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {})
	want := get(d, "/").Body.String()
	for _, path := range []string{"/favicon.ico", d.base, d.base + "approvals", d.base + "assets/page.css", d.base + "events", "/mcp", "/%2e%2e/"} {
		if w := get(d, path); w.Code != http.StatusForbidden || w.Body.String() != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if strings.Contains(want, d.base) {
		t.Error("the answer names the path")
	}
}

func TestChangesAreFormsThatAreShort(t *testing.T) {
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {})
	cookie := cookieOf(t, d)
	token := url.Values{TokenField: {d.sessions.all[0].token("pause")}}.Encode()
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
		r := httptest.NewRequest(http.MethodPost, d.base+"pause?"+token, strings.NewReader(test.body))
		r.Host = "127.0.0.1:4567"
		r.Header.Set("Origin", "http://127.0.0.1:4567")
		r.Header.Set("Content-Type", test.kind)
		r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
		w := httptest.NewRecorder()
		if d.ServeHTTP(w, r); w.Code != test.want {
			t.Errorf("%s: %d, want %d", name, w.Code, test.want)
		}
	}
}

func TestTheOldestSessionIsReplaced(t *testing.T) {
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {})
	first := cookieOf(t, d)
	for range maxSessions {
		cookieOf(t, d)
	}
	r := httptest.NewRequest(http.MethodGet, d.base, nil)
	r.Host = "127.0.0.1:4567"
	r.AddCookie(&http.Cookie{Name: cookieName, Value: first})
	w := httptest.NewRecorder()
	if d.ServeHTTP(w, r); w.Code != http.StatusForbidden || len(d.sessions.all) != maxSessions {
		t.Errorf("%d with %d sessions", w.Code, len(d.sessions.all))
	}
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
	g := New("", nil, func(http.ResponseWriter, *http.Request, Visit) {
		if reached = true; !w.read.IsZero() {
			t.Errorf("the request is cancelled at %v", w.read)
		}
	})
	cookie := cookieOf(t, g)
	r := httptest.NewRequest(http.MethodPost, g.base+"changes/undo", strings.NewReader(url.Values{TokenField: {g.sessions.all[0].token("changes")}}.Encode()))
	r.Host = "127.0.0.1:4567"
	r.Header.Set("Origin", "http://127.0.0.1:4567")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
	if g.ServeHTTP(w, r); !reached {
		t.Error("the request was refused")
	}
	refused := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r.Header.Del("Cookie")
	if g.ServeHTTP(refused, r); refused.read.IsZero() {
		t.Error("whoever has no cookie may send for ever")
	}
}
