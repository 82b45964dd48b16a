package streamable

import (
	"crypto/x509"
	"net/netip"
	"strconv"
	"strings"
)

// hosts decides by which names we may be called. A page of a browser can make a
// name of its own point to this machine, and is then let talk to it as to its own
// server; the name stays in the Host header and gives it away. So only names that
// are known to be ours pass, on every address. The port says nothing and is not
// looked at: it changes on the way through tunnels and containers.
type hosts struct {
	names map[string]bool
	leaf  *x509.Certificate // nil without TLS
}

// newHosts returns the hosts of an address and a list of further names.
func newHosts(addr string, more []string, leaf *x509.Certificate) (hosts, error) {
	h := hosts{map[string]bool{"localhost": true}, leaf}
	if name, ok := hostName(addr); ok && !unspecified(name) {
		h.names[name] = true
	}
	for _, entry := range more {
		name, err := parseHost(entry)
		if err != nil {
			return h, err
		}
		h.names[name] = true
	}
	return h, nil
}

// parseHost reads an entry of Config.Hosts. The error is a *SettingError.
func parseHost(entry string) (string, error) {
	name, ok := hostName(bracketed(entry))
	if !ok || withPort(entry) {
		return "", &SettingError{Setting: "allow-host", Value: entry, Reason: "is not a host name", hint: `use a name or an address without a port, such as "notes.example"`}
	}
	return name, nil
}

// allow reports whether a Host header is one of ours.
func (h hosts) allow(header string) bool {
	name, ok := hostName(header)
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

// hostName returns the host of a Host header in lower case, and an address as
// package netip writes it. It knows "name", "name:port", "[::1]" and "[::1]:port",
// and nothing else: what browsers and proxies read differently is refused.
func hostName(header string) (string, bool) {
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
	if found && !isPort(port) {
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

func isPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0 && text[0] != '+' && text[0] != '0'
}

// bracketed puts the brackets around an address of version 6 that has none.
func bracketed(entry string) string {
	if ip, err := netip.ParseAddr(entry); err == nil && ip.Is6() {
		return "[" + entry + "]"
	}
	return entry
}

func withPort(entry string) bool {
	_, err := netip.ParseAddr(entry)
	return err != nil && !strings.HasSuffix(entry, "]") && strings.Contains(entry, ":")
}

func unspecified(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsUnspecified()
}
