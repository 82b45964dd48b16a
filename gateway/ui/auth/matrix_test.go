package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

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
	if token, given := map[string]string{"good": s.token, "wrong": altered(s.token), "other page": s.otherPage, "other session": s.otherSession}[a.token]; given {
		body = url.Values{TokenField: {token}}.Encode()
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

// Every combination of what a browser or a program may send is answered as the rule says.
func TestMatrix(t *testing.T) {
	reached := 0
	d := New("", nil, func(http.ResponseWriter, *http.Request, Visit) { reached++ })
	s := secrets{base: d.base, cookie: cookieOf(t, d)}
	s.token, s.otherPage = d.sessions.all[0].token("approvals"), d.sessions.all[0].token("changes")
	foreign := New("", nil, nil)
	s.other = cookieOf(t, foreign)
	s.otherSession = foreign.sessions.all[0].token("approvals")
	count := 0
	every(func(a attempt) {
		before := reached
		w := httptest.NewRecorder()
		d.ServeHTTP(w, a.request(s))
		want := a.verdict()
		if w.Code != want || (reached > before) != (want == 200) {
			t.Fatalf("%+v: %d, want %d", a, w.Code, want)
		}
		checkProtected(t, w.Header())
		count++
	})
	t.Logf("%d requests, %d of them reached the page", count, reached)
}

func every(visit func(attempt)) {
	for _, host := range []string{"127.0.0.1:4567", "localhost:4567", "127.0.0.1:9", "[::1]:4567", "evil.example", "localhost.evil.example:4567", "0.0.0.0:4567", ""} {
		for _, origin := range []string{"-", "http://127.0.0.1:4567", "https://127.0.0.1:4567", "http://127.0.0.1:9", "http://localhost:4567", "null", "https://evil.example"} {
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
		if !strings.Contains(policy, part) {
			t.Fatalf("policy %q lacks %s", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "data:") {
		t.Fatalf("policy %q", policy)
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": ""} {
		if got := h.Get(name); got != want {
			t.Fatalf("%s is %q, want %q", name, got, want)
		}
	}
}

// cookieOf opens the page with the link and returns the cookie.
func cookieOf(t *testing.T, d *Guard) string {
	t.Helper()
	w := get(d, d.Open())
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("the link answers %d with %d cookies", w.Code, len(cookies))
	}
	return cookies[0].Value
}

func get(d *Guard, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:4567"
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}
