package auth

import (
	"fmt"
	"html"
	"net/http"
)

// policy lets the page load its own files and nothing else: no inline code, no frames, no
// other machine.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect sets what every answer has.
func protect(h http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Frame-Options":              "DENY",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cache-Control":                "no-store",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
	} {
		h.Set(name, value)
	}
}

// trade gives the cookie to whoever brings the code. The answer is a page that goes on to
// the first view by itself: were it a redirect, browsers would not send a strict cookie
// after a link in another program.
func (g *Guard) trade(w http.ResponseWriter, r *http.Request, code string) {
	if r.Method != http.MethodGet || isEmbedded(r.Header) || r.Header.Get("Sec-Purpose") != "" { // a prefetch would use it up
		refuse(w, http.StatusForbidden, "Open the link in a browser.")
		return
	}
	cookie := g.sessions.redeem(code, r.Host)
	switch site, _ := fetchSite(r.Header); {
	case cookie != "":
	case g.sessions.of(r) != nil: // a browser that has traded it before
		w.Header().Set("Location", g.base)
		w.WriteHeader(http.StatusSeeOther)
		return
	case site == "cross-site": // such a browser keeps its cookie back here, and sends it from a page of ours
		g.goOn(w)
		return
	default:
		refuse(w, http.StatusForbidden, `This link was used before or has expired. Press Enter where "vaultwicket ui" runs for another one.`)
		return
	}
	// Without a domain the cookie is of this host alone, without an age of this run of
	// the browser. It is not marked as secure: there is no TLS on a loopback address.
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: cookie, Path: g.base, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	g.goOn(w)
}

// goOn is a page that goes on to the first view.
func (g *Guard) goOn(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>vaultwicket</title>`+
		`<meta http-equiv="refresh" content="0; url=%[1]s"><link rel="icon" href="%[1]sassets/icon.svg"></head><body><p><a href="%[1]s">Continue</a></p></body></html>`+"\n", g.base)
}

// refuse answers with a page that says why, and links nowhere.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>vaultwicket</title></head>`+
		`<body><main><h1>%s</h1><p>%s</p></main></body></html>`+"\n", http.StatusText(status), html.EscapeString(text))
}
