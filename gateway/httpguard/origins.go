package httpguard

import (
	"net/http"
	"net/url"
	"strings"
)

// Origins are the web origins whose pages may send requests, as browsers write
// them: see [CanonicalOrigin].
type Origins map[string]bool

// CanonicalOrigin returns an origin as a browser would send it.
func CanonicalOrigin(entry string) (string, bool) {
	u, err := url.Parse(entry)
	if err != nil || u.Scheme == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(entry, "?#") {
		return "", false
	}
	name, ok := HostName(u.Host)
	if !ok {
		return "", false
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	origin := scheme + "://" + Bracketed(name)
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return origin, true
	}
	return origin + ":" + port, true
}

// OriginKind says where a request comes from.
type OriginKind uint8

// The kinds of origin.
const (
	Foreign  OriginKind = iota // a page that is not listed
	NoOrigin                   // no page at all
	Listed                     // a page that is
)

// Judge says where a request comes from. Only browsers send the two headers, and
// no page can change them. A page that is listed is of another site than ours by
// nature; any other word about the site than "none" and "same-origin" means a
// page that is not.
func (o Origins) Judge(h http.Header) OriginKind {
	origin, sent := h["Origin"]
	switch {
	case sent && len(origin) == 1 && o[origin[0]]:
		return Listed
	case sent:
		return Foreign
	}
	for _, site := range h["Sec-Fetch-Site"] {
		if site != "none" && site != "same-origin" {
			return Foreign
		}
	}
	return NoOrigin
}
