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

// Hosts is an allowlist of names in Host headers. A web page can make its own name resolve to this
// machine, so that the browser mistakes this server for the page's own (DNS rebinding); the Host
// header still contains that name. The port is not compared, because tunnels and containers change
// it.
type Hosts struct {
	names map[string]bool
	leaf  *x509.Certificate // nil without TLS
}

// NewHosts returns an allowlist of localhost, loopback addresses, the given names, and the names in
// the certificate leaf, which may be nil. The names must have the form that [HostName] returns.
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

// HostName returns the host in a Host header: a name in lower case, or an IPv6 address as package
// netip formats it. ok is false unless the header has the form "name", "name:port", "[::1]" or
// "[::1]:port": browsers and proxies interpret other forms differently.
func HostName(header string) (string, bool) {
	if strings.HasPrefix(header, "[") {
		return bracketedHost(header)
	}
	name, port, hasPort := strings.Cut(header, ":")
	isName := name != "" && len(name) <= maxName && strings.Trim(name, nameChars) == ""
	if !isName || hasPort && !IsPort(port) {
		return "", false
	}
	return strings.ToLower(name), true
}

// bracketedHost returns the IPv6 address in a header "[::1]" or "[::1]:port".
func bracketedHost(header string) (string, bool) {
	address, rest, isClosed := strings.Cut(header[len("["):], "]")
	ip, err := netip.ParseAddr(address)
	isPlain := err == nil && ip.Is6() && ip.Zone() == ""
	if !isClosed || !isPlain {
		return "", false
	}
	if rest != "" {
		port, hasColon := strings.CutPrefix(rest, ":")
		if !hasColon || !IsPort(port) {
			return "", false
		}
	}
	return ip.String(), true
}

const (
	maxName   = 253 // maximum length of a DNS name
	nameChars = ".-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// IsPort reports whether text is a port number from 1 to 65535 without sign or leading zeros.
func IsPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0 && text == strconv.FormatUint(number, 10)
}

// Bracketed returns entry, enclosed in brackets if it is a bare IPv6 address.
func Bracketed(entry string) string {
	if ip, err := netip.ParseAddr(entry); err == nil && ip.Is6() {
		return "[" + entry + "]"
	}
	return entry
}

// Unspecified reports whether a host is 0.0.0.0 or ::, which stand for all addresses of the machine.
func Unspecified(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsUnspecified()
}

// Origins is the set of web origins whose pages may send requests, in the form of
// [CanonicalOrigin].
type Origins map[string]bool

// CanonicalOrigin returns an origin in the form in which browsers send it. ok is false if entry is
// not an origin.
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

// OriginKind classifies the page that sent a request, by its headers.
type OriginKind uint8

// The kinds of origin.
const (
	Foreign  OriginKind = iota // a page of another origin that is not listed
	NoOrigin                   // not a page, or a page of this server
	Listed                     // a page of a listed origin
)

// Judge returns the kind of origin of a request by the headers Origin and Sec-Fetch-Site. Browsers
// send these headers, and no page can change them.
func (o Origins) Judge(h http.Header) OriginKind {
	origin, isSent := h["Origin"]
	switch {
	case isSent && len(origin) == 1 && o[origin[0]]:
		return Listed
	case isSent:
		return Foreign
	}
	for _, site := range h["Sec-Fetch-Site"] {
		if site != "none" && site != "same-origin" {
			return Foreign
		}
	}
	return NoOrigin
}

// Client returns an HTTP client for a server that the user configured. It does not follow redirects:
// requests and the tokens in them are meant for that server only, and a redirect could make this
// machine send requests to addresses that only it can reach.
func Client(transport *http.Transport) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CheckURL returns an error unless text is a valid URL of a server: https, or http on this machine,
// without user, password, query and fragment.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.User != nil, strings.ContainsAny(text, "?#"), u.Hostname() == "":
		return errors.New(`is not a URL such as "https://login.example"`)
	case u.Scheme != "https" && !IsLoopback(u):
		return errors.New("must have https, because tokens depend on it")
	}
	return nil
}

// IsLoopback reports whether a URL has the scheme http and a host on this machine.
func IsLoopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	isLocalHost := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "http" && isLocalHost
}
