package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"vaultwicket/gateway/state/private"
)

// Of a token in its file. A shorter one can be guessed.
const (
	leastToken = 32
	mostToken  = 4 << 10
)

func (m Machine) http(ctx context.Context, r *Report) {
	if m.Invalid != nil || m.Settings.HTTP.Addr == "" {
		return
	}
	h := m.Settings.HTTP
	if h.TokenFile != "" {
		const why = "the server does not start"
		text, err := private.Read(h.TokenFile, mostToken)
		var unsafe *private.Unsafe
		switch {
		case errors.As(err, &unsafe):
			r.problem("token-unsafe", unsafe.Error(), "others could use the server; "+why, strings.TrimPrefix(unsafe.Remedy()+"; if others could read it, make another token", "; "))
		case err != nil:
			r.problem("token-missing", fmt.Sprintf("the token file %q cannot be read: %v", h.TokenFile, reason(err)), why, "let \"vaultwicket serve --http\" make one, or correct token-file")
		case len(strings.TrimSpace(string(text))) < leastToken:
			r.problem("token-short", fmt.Sprintf("the token in %q has fewer than %d characters", h.TokenFile, leastToken), "it could be guessed; "+why, "remove the file: a new token is made at the next start")
		default:
			r.ok("token", fmt.Sprintf("token file %q", h.TokenFile))
		}
	}
	if h.Cert != "" {
		m.certificate(h.Cert, h.Key, r)
	}
	// Report an address on which no server can listen. While a server of vaultwicket serves HTTP, the
	// address may be its own.
	all, _ := private.Servers(private.ServersFolder(m.State))
	if !(strings.HasPrefix(h.Addr, "unix:") || slices.ContainsFunc(all, func(s private.Server) bool { return s.Transport == "http" })) {
		if err := m.Listen(ctx, h.Addr); err != nil {
			r.problem("http-address", fmt.Sprintf("MCP cannot be served at %s: %v", h.Addr, err), "the server does not start", "end the program that listens there, or set another address")
		}
	}
	if !isLoopback(h.Addr) && h.Cert == "" {
		r.warn("http-open", fmt.Sprintf("MCP is served at %s without TLS", h.Addr), "the token and the notes can be read by others in the network", "listen on 127.0.0.1, or set tls-cert and tls-key")
	}
}

func (m Machine) certificate(cert, key string, r *Report) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		r.problem("certificate-unusable", fmt.Sprintf("the certificate %q cannot be used: %v", cert, err), "the server does not start", "correct tls-cert and tls-key: both are PEM files that belong together")
		return
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return // LoadX509KeyPair has parsed it
	}
	switch left := leaf.NotAfter.Sub(m.Now()); {
	case left <= 0:
		r.problem("certificate-expired", fmt.Sprintf("the certificate %q ended on %s", cert, leaf.NotAfter.Format(time.DateOnly)), "clients refuse to connect", "renew it")
	case left < 14*24*time.Hour:
		r.warn("certificate-ends", fmt.Sprintf("the certificate %q ends on %s", cert, leaf.NotAfter.Format(time.DateOnly)), "clients refuse to connect from then on", "renew it")
	}
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() || strings.HasPrefix(addr, "unix:")
}
