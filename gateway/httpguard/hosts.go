package httpguard

import (
	"crypto/x509"
	"net/netip"
	"strconv"
	"strings"
)

// Hosts decides by which names we may be called. A page of a browser can make a
// name of its own point to this machine, and is then let talk to it as to its own
// server; the name stays in the Host header and gives it away. So only names that
// are known to be ours pass, on every address. The port says nothing and is not
// looked at: it changes on the way through tunnels and containers.
type Hosts struct {
	names map[string]bool
	leaf  *x509.Certificate // nil without TLS
}

// NewHosts returns the hosts that are called localhost, or one of names, as [HostName]
// returns them, or a name in the certificate leaf, which may be nil.
func NewHosts(names []string, leaf *x509.Certificate) Hosts {
	h := Hosts{map[string]bool{"localhost": true}, leaf}
	for _, name := range names {
		h.names[name] = true
	}
	return h
}

// Allow reports whether a Host header is one of ours.
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

// HostName returns the host of a Host header in lower case, and an address as
// package netip writes it. It knows "name", "name:port", "[::1]" and "[::1]:port",
// and nothing else: what browsers and proxies read differently is refused.
func HostName(header string) (string, bool) {
	name, port, found := header, "", false
	if end := strings.IndexByte(header, ']'); strings.HasPrefix(header, "[") && end > 0 {
		name, port, found = header[1:end], strings.TrimPrefix(header[end+1:], ":"), end+1 < len(header)
		if found && header[end+1] != ':' {
			return "", false
		}
		ip, err := netip.ParseAddr(name)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", false
		}
		name = ip.String()
	} else if name, port, found = strings.Cut(header, ":"); !plain(name) {
		return "", false
	}
	if found && !IsPort(port) {
		return "", false
	}
	return strings.ToLower(name), true
}

const maxName = 253 // of a name in the DNS

// plain reports whether a name holds only what names of hosts hold.
func plain(name string) bool {
	for _, c := range []byte(name) {
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// IsPort reports whether text is the number of a port, as it is usually written.
func IsPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0 && text[0] != '+' && text[0] != '0'
}

// Bracketed puts the brackets around an address of version 6 that has none.
func Bracketed(entry string) string {
	if ip, err := netip.ParseAddr(entry); err == nil && ip.Is6() {
		return "[" + entry + "]"
	}
	return entry
}

// Unspecified reports whether a host is the address that stands for all of a machine.
func Unspecified(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsUnspecified()
}
