package streamable

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"

	"vaultwicket/gateway/httpguard"
)

const addrHint = `use one such as "127.0.0.1:8765", "localhost:8765", "[::1]:8765" or "unix:/absolute/path"`

// address is where to listen.
type address struct {
	network, text string // as package net takes them
	host          string // of a TCP address
}

// parseAddr reads Config.Addr. The error is a *SettingError.
func parseAddr(text string) (address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if err := canSocket(path); err != nil {
			return address{}, err
		}
		return address{network: "unix", text: path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || port != "0" && !httpguard.IsPort(port) {
		return address{}, &SettingError{Setting: "http", Value: text, Reason: "is not a listen address", hint: addrHint}
	}
	if host == "" { // which package net takes for every address, so it must be meant
		return address{}, &SettingError{Setting: "http", Value: text, Reason: "has no host",
			hint: "write 127.0.0.1" + text + " for this machine only, or 0.0.0.0" + text + " for all networks"}
	}
	if _, ok := httpguard.HostName(httpguard.Bracketed(host)); !ok {
		return address{}, &SettingError{Setting: "http", Value: text, Reason: "has an invalid host", hint: addrHint}
	}
	return address{network: "tcp", text: text, host: host}, nil
}

// private reports whether nobody but this machine can reach the address.
func (a address) private() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.network == "unix" || strings.EqualFold(a.host, "localhost") || err == nil && ip.IsLoopback()
}

// checkTLS refuses an address without the certificate that it needs, and half of
// one.
func checkTLS(c Config, a address) error {
	switch {
	case c.TLSCert == "" && c.TLSKey == "" && !a.private():
		return &SettingError{Setting: "http", Value: c.Addr, Reason: "is reachable from other machines, and the token would be sent unencrypted",
			hint: "listen on 127.0.0.1, or set a certificate with --tls-cert and --tls-key"}
	case c.TLSCert == "" && c.TLSKey != "":
		return &SettingError{Setting: "tls-cert", Reason: "is required with tls-key", hint: "set the file of the certificate"}
	case c.TLSCert != "" && c.TLSKey == "":
		return &SettingError{Setting: "tls-key", Reason: "is required with tls-cert", hint: "set the file of the key"}
	case c.TLSCert != "" && a.network == "unix":
		return &SettingError{Setting: "tls-cert", Value: c.TLSCert, Reason: "cannot be combined with a Unix socket", hint: "leave tls-cert and tls-key out"}
	}
	return nil
}

// certificate loads the key pair of a config, nil when it names none and needs
// none.
func certificate(c Config, a address) (*tls.Certificate, error) {
	if err := checkTLS(c, a); err != nil || c.TLSCert == "" {
		return nil, err
	}
	cert, err := readPEM("tls-cert", c.TLSCert)
	if err != nil {
		return nil, err
	}
	key, err := readPEM("tls-key", c.TLSKey)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, &SettingError{Setting: "tls-cert", Value: c.TLSCert, Reason: "cannot be used with its key", cause: err, hint: "both files must be in PEM form and belong together"}
	}
	return &pair, nil
}

// leaf is the certificate itself, nil without one.
func leaf(pair *tls.Certificate) *x509.Certificate {
	if pair == nil {
		return nil
	}
	return pair.Leaf
}

// listen opens the address. What it returns does not speak TLS itself.
func listen(ctx context.Context, a address, shown string) (net.Listener, error) {
	if a.network == "unix" {
		return listenSocket(a.text)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, a.network, a.text)
	if err != nil {
		return nil, &SettingError{Setting: "http", Value: shown, Reason: "cannot listen", cause: err, hint: "choose another port, or 0 for a free one"}
	}
	// The name localhost may stand for anything in the file of hosts.
	if a.private() && !loopback(l) {
		l.Close()
		return nil, &SettingError{Setting: "http", Value: shown, Reason: "is not a loopback address on this machine", hint: "use 127.0.0.1"}
	}
	return l, nil
}

func loopback(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// urlOf returns the address of the endpoint for people and clients.
func urlOf(l net.Listener, a address, pair *tls.Certificate) string {
	if a.network == "unix" {
		return "unix:" + a.text
	}
	scheme, host := "http", a.host
	if pair != nil {
		scheme = "https"
		if httpguard.Unspecified(host) && len(pair.Leaf.DNSNames) > 0 {
			host = pair.Leaf.DNSNames[0]
		}
	}
	if httpguard.Unspecified(host) {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // a listener's own address has one
	return scheme + "://" + net.JoinHostPort(host, port) + endpoint
}
