package httpguard

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Hosts is the allowlist of names in Host headers. A web page can have its own name resolve to
// this machine, and the browser then takes this server for its own (DNS rebinding); the Host
// header still has that name. The port is not compared: tunnels and containers change it.
type Hosts struct {
	names map[string]bool
	leaf  *x509.Certificate // nil without TLS
}

// NewHosts returns an allowlist of localhost, loopback addresses, names, as [HostName] returns
// them, and the names in the certificate leaf, which may be nil.
func NewHosts(names []string, leaf *x509.Certificate) Hosts {
	h := Hosts{map[string]bool{"localhost": true}, leaf}
	for _, name := range names {
		h.names[name] = true
	}
	return h
}

// Allow reports whether a Host header has an allowed name.
func (h Hosts) Allow(header string) bool {
	name, ok := HostName(header)
	if !ok {
		return false
	}
	if h.names[name] {
		return true
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.IsLoopback() {
		return true
	}
	return h.leaf != nil && h.leaf.VerifyHostname(name) == nil
}

// HostName returns the host of a Host header in lower case, an address as package netip formats
// it. ok is false for all but "name", "name:port", "[::1]" and "[::1]:port": browsers and proxies
// read other forms differently.
func HostName(header string) (string, bool) {
	name := header
	port := ""
	found := false
	if end := strings.IndexByte(header, ']'); strings.HasPrefix(header, "[") && end > 0 {
		name = header[1:end]
		port = strings.TrimPrefix(header[end+1:], ":")
		found = end+1 < len(header)
		if found && header[end+1] != ':' {
			return "", false
		}
		ip, err := netip.ParseAddr(name)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", false
		}
		name = ip.String()
	} else if name, port, found = strings.Cut(header, ":"); name == "" || len(name) > maxName || strings.Trim(name, inNames) != "" {
		return "", false
	}
	if found && !IsPort(port) {
		return "", false
	}
	return strings.ToLower(name), true
}

const (
	maxName = 253 // of a name in the DNS
	inNames = ".-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// IsPort reports whether text is a port number in its usual form.
func IsPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0 && text == strconv.FormatUint(number, 10)
}

// Bracketed returns entry, in brackets if it is an IPv6 address without.
func Bracketed(entry string) string {
	if ip, err := netip.ParseAddr(entry); err == nil && ip.Is6() {
		return "[" + entry + "]"
	}
	return entry
}

// Unspecified reports whether a host is 0.0.0.0 or ::, all addresses of a machine.
func Unspecified(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsUnspecified()
}

// Origins are the web origins whose pages may send requests, as browsers write
// them: see [CanonicalOrigin].
type Origins map[string]bool

// CanonicalOrigin returns an origin as a browser would send it.
func CanonicalOrigin(entry string) (string, bool) {
	u, err := url.Parse(entry)
	if err != nil || u.Scheme == "" {
		return "", false
	}
	isMoreThanOrigin := u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(entry, "?#")
	if isMoreThanOrigin {
		return "", false
	}
	name, ok := HostName(u.Host)
	if !ok {
		return "", false
	}
	scheme := strings.ToLower(u.Scheme)
	port := u.Port()
	origin := scheme + "://" + Bracketed(name)
	defaultPorts := map[string]string{"http": "80", "https": "443"}
	if port == "" || port == defaultPorts[scheme] {
		return origin, true
	}
	return origin + ":" + port, true
}

// OriginKind is what the headers say of the page that sent a request.
type OriginKind uint8

// The kinds of origin.
const (
	Foreign  OriginKind = iota // a page of an origin that is not listed
	NoOrigin                   // no page, or one of this server
	Listed                     // a page of a listed origin
)

// Judge returns the kind of origin of a request, from Origin and Sec-Fetch-Site. Only browsers
// send these headers, and no page can change them.
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

// Client returns a client for a server that the user has named. It follows no redirect: what is sent, and the token with it, is
// for that server, and another one could have this machine look at addresses that only it reaches.
func Client(by *http.Transport) *http.Client {
	return &http.Client{
		Transport:     by,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CheckURL returns what is wrong with the URL of a server, nil for one with https, or with http on
// this machine, without a query, a fragment and a password.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.User != nil, strings.ContainsAny(text, "?#"), u.Hostname() == "":
		return errors.New(`is not a URL such as "https://login.example"`)
	case u.Scheme == "https":
		return nil
	}
	if IsLoopback(u) {
		return nil
	}
	return errors.New("must have https, because tokens depend on it")
}

// IsLoopback reports whether a URL is one of http on this machine.
func IsLoopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	isOfMachine := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "http" && isOfMachine
}
