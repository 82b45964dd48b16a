package streamable

import (
	"net/http"
	"net/url"
	"strings"
)

// origins are the web origins whose pages may send requests, as browsers write
// them.
type origins map[string]bool

func newOrigins(list []string) (origins, error) {
	allowed := origins{}
	for _, entry := range list {
		origin, err := parseOrigin(entry)
		if err != nil {
			return nil, err
		}
		allowed[origin] = true
	}
	return allowed, nil
}

// parseOrigin reads an entry of Config.Origins. The error is a *SettingError.
func parseOrigin(entry string) (string, error) {
	origin, ok := canonicalOrigin(entry)
	if !ok {
		return "", &SettingError{Setting: "allow-origin", Value: entry, Reason: "is not a web origin", hint: `use a scheme and a host without a path, such as "https://app.example" or "http://localhost:3000"`}
	}
	return origin, nil
}

// canonicalOrigin returns an origin as a browser would send it.
func canonicalOrigin(entry string) (string, bool) {
	u, err := url.Parse(entry)
	if err != nil || u.Scheme == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(entry, "?#") {
		return "", false
	}
	name, ok := hostName(u.Host)
	if !ok {
		return "", false
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	origin := scheme + "://" + bracketed(name)
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return origin, true
	}
	return origin + ":" + port, true
}

// from says where a request comes from.
type originKind uint8

const (
	foreign  originKind = iota // a page that is not listed
	noOrigin                   // no page at all
	listed                     // a page that is
)

// judge says where a request comes from. Only browsers send the two headers, and
// no page can change them. A page that is listed is of another site than ours by
// nature; any other word about the site than "none" and "same-origin" means a
// page that is not.
func (o origins) judge(h http.Header) originKind {
	origin, sent := h["Origin"]
	switch {
	case sent && len(origin) == 1 && o[origin[0]]:
		return listed
	case sent:
		return foreign
	}
	for _, site := range h["Sec-Fetch-Site"] {
		if site != "none" && site != "same-origin" {
			return foreign
		}
	}
	return noOrigin
}

// share lets the page of a listed origin read the answer.
func share(answer http.Header, origin string) {
	answer.Set("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
}

// preflight answers a browser that asks on behalf of a listed page what it may
// send.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// isPreflight reports whether a request is such a question.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
