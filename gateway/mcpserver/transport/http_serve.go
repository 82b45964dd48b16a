package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

const (
	defaultSessions    = 1000
	defaultIdle        = 30 * time.Minute
	defaultConnections = 256 // an agent needs about three
	defaultGrace       = 10 * time.Second
)

// HTTPConfig configures [ServeHTTP]. Server, Addr and Token are required.
type HTTPConfig struct {
	// Server answers the requests that pass the checks.
	Server *Server

	// Addr is the address to listen on, such as "127.0.0.1:8765", "localhost:0", "[::1]:80",
	// "0.0.0.0:8080" for all addresses, or "unix:/absolute/path".
	Addr string

	// Listener is an open listener at Addr, such as a socket of systemd, which ServeHTTP will close. If it
	// is nil, ServeHTTP opens Addr.
	Listener net.Listener

	// TLSCert and TLSKey are the paths of PEM files. They are required unless Addr is a loopback address
	// or a socket, so that the token is never sent unencrypted.
	TLSCert, TLSKey string

	// Origins lists the web origins whose pages may send requests, such as "https://app.example". They
	// are not needed for requests of programs other than browsers.
	Origins []string

	// Hosts lists valid names in a Host header besides "localhost", loopback addresses, the host of Addr
	// and the names in the certificate.
	Hosts []string

	// Proxies lists addresses and networks of trusted proxies, and "unix" for everything that connects to a socket.
	// The header X-Forwarded-For is used only in their requests.
	Proxies []string

	// Token is the bearer token of clients: at least 32 random bytes as text. See [Token].
	Token string

	// HolderOf returns the holder of a token, the zero Holder if the token is unknown. The error is a
	// [*Refusal]. It is called for every request with a token other than Token. It must compare tokens in
	// constant time and be safe for concurrent use. nil means that there are no other tokens.
	HolderOf func(ctx context.Context, token string) (Holder, error)

	// TokenEnded reports whether the agent of Token has lost its rights, see [Holder.Ended]. nil means
	// never.
	TokenEnded func() bool

	// SignIn answers all requests for its paths, with or without a token: only the Host header is checked
	// before. nil disables signing in.
	SignIn SignIn

	// Resource describes the server to OAuth clients, nil if it accepts no access tokens.
	Resource *Resource

	// MaxSessions is the maximum number of open sessions (0: 1000), MaxConnections that of connections
	// (0: 256). If the process can open only few files, it is lower, see [httpguard.ConnLimit].
	MaxSessions, MaxConnections int

	// Idle is how long a session lasts without requests (0: 30 minutes).
	Idle time.Duration

	// Grace is how long running requests may continue when the server stops (0: 10 seconds).
	// It should be slightly longer than the time limit of a call.
	Grace time.Duration

	// MaxBody is the maximum size of a request body in bytes (0: MaxMessage).
	MaxBody int64

	// Ready returns an error if calls are currently impossible, for /readyz. nil means always ready.
	Ready func() error

	// Metrics writes the figures that an agent may see, in the text format of Prometheus, for /metrics. For "", the
	// owner, it writes all figures. nil means that there is no such path.
	Metrics func(w io.Writer, agent string)

	// Opened and Ended are called with the caller (see [callerOf]) of each session that opens or ends.
	// Both may be nil; they must not block.
	Opened, Ended func(caller string)

	// Log receives messages for the operator, without tokens, session ids or protocol messages; nil
	// discards them.
	Log *slog.Logger
}

// complete returns c with defaults filled in. It returns an error if c is invalid.
func (c HTTPConfig) complete() (HTTPConfig, error) {
	c.MaxSessions = cmp.Or(c.MaxSessions, defaultSessions)
	c.MaxConnections = cmp.Or(c.MaxConnections, defaultConnections)
	c.Idle = cmp.Or(c.Idle, defaultIdle)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.MaxBody = cmp.Or(c.MaxBody, MaxMessage)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	isNegative := min(c.MaxSessions, c.MaxConnections) < 0 || min(c.Idle, c.Grace) < 0 || c.MaxBody < 0
	if isNegative {
		return c, &SettingError{Setting: "http", Reason: "negative limit", hint: "leave it out for the default"}
	}
	c.MaxConnections = httpguard.ConnLimit(c.MaxConnections)
	if c.Server == nil {
		return c, errNoServer
	}
	if reason := Weakness(c.Token); reason != "" {
		return c, &SettingError{
			Setting: "token-file",
			Reason:  "the token " + reason,
			hint:    "leave it out and one is created at the first start",
		}
	}
	return c, nil
}

// CheckAddr returns a *SettingError if text is not valid as HTTPConfig.Addr on this system. Like the
// other checks, it reads no files, opens no ports and resolves no names.
func CheckAddr(text string) error {
	_, err := parseAddr(text)
	return err
}

// CheckOrigin returns a *SettingError if text is not valid in HTTPConfig.Origins.
func CheckOrigin(text string) error {
	_, err := parseOrigin(text)
	return err
}

// CheckHost returns a *SettingError if text is not valid in HTTPConfig.Hosts.
func CheckHost(text string) error {
	_, err := parseHost(text)
	return err
}

// CheckProxy returns a *SettingError if text is not valid in HTTPConfig.Proxies.
func CheckProxy(text string) error {
	_, err := parseProxies([]string{text})
	return err
}

// CheckTLS returns a *SettingError if TLSCert, TLSKey and Addr of a config cannot be combined. It does
// not read the files.
func CheckTLS(c HTTPConfig) error {
	a, err := parseAddr(c.Addr)
	switch {
	case err != nil:
		return err
	case c.TLSCert == "" && c.TLSKey == "" && !a.isPrivate():
		return &SettingError{
			Setting: "http",
			Value:   c.Addr,
			Reason:  "is reachable from other machines, and the token would be sent unencrypted",
			hint:    "listen on 127.0.0.1, or set a certificate with --tls-cert and --tls-key",
		}
	case c.TLSCert == "" && c.TLSKey != "":
		return &SettingError{
			Setting: "tls-cert",
			Reason:  "is required with tls-key",
			hint:    "set the file of the certificate",
		}
	case c.TLSCert != "" && c.TLSKey == "":
		return &SettingError{Setting: "tls-key", Reason: "is required with tls-cert", hint: "set the file of the key"}
	case c.TLSCert != "" && a.network == "unix":
		return &SettingError{
			Setting: "tls-cert",
			Value:   c.TLSCert,
			Reason:  "cannot be combined with a Unix socket",
			hint:    "leave tls-cert and tls-key out",
		}
	}
	return nil
}

// shutdownLimit is how long interrupted requests may take to end. Stopping their processes takes less.
const shutdownLimit = 2 * time.Second

// ServeHTTP serves MCP over HTTP until ctx is done, and returns when all connections and goroutines have
// ended. Running requests may continue for the grace period; if some must be interrupted, it returns
// [ErrCut]. If a setting is invalid or unsafe, it returns a *SettingError before it serves anything.
// listening is called with the URL of the endpoint once clients can connect; it may be nil.
func ServeHTTP(ctx context.Context, c HTTPConfig, listening func(url string)) error {
	c, err := c.complete()
	if err != nil {
		return err
	}
	at, err := parseAddr(c.Addr)
	if err != nil {
		return err
	}
	pair, err := certificate(c)
	if err != nil {
		return err
	}
	var leaf *x509.Certificate
	if pair != nil {
		leaf = pair.Leaf
	}
	if c.Resource != nil { // clients send its host in the Host header
		u, err := url.Parse(c.Resource.URL)
		if err != nil {
			return &SettingError{Setting: "public-url", Value: c.Resource.URL, Reason: "is not a URL", cause: err}
		}
		c.Hosts = append(slices.Clone(c.Hosts), httpguard.Bracketed(u.Hostname()))
	}
	names, err := newHosts(httpguard.Bracketed(at.host), c.Hosts, leaf)
	if err != nil {
		return err
	}
	d, err := newHandler(c, names)
	if err != nil {
		return err
	}
	l, err := listener(ctx, c, at)
	if err != nil {
		return err
	}
	if listening != nil {
		listening(endpointURL(at, l, leaf))
	}
	return d.serve(ctx, httpguard.NewConnLimiter(l, c.MaxConnections), pair)
}

// endpointURL returns the URL of the endpoint on a listener at an address. leaf is the certificate, nil
// without TLS.
func endpointURL(at address, l net.Listener, leaf *x509.Certificate) string {
	if at.network == "unix" {
		return "unix:" + at.text
	}
	scheme := "http"
	host := at.host
	if leaf != nil {
		scheme = "https"
		if httpguard.Unspecified(host) && len(leaf.DNSNames) > 0 {
			host = leaf.DNSNames[0]
		}
	}
	if httpguard.Unspecified(host) {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return scheme + "://" + net.JoinHostPort(host, port) + endpoint
}

// serve answers requests on a listener until ctx is done.
func (d *handler) serve(ctx context.Context, g *httpguard.ConnLimiter, pair *tls.Certificate) error {
	base, interrupt := context.WithCancel(context.WithoutCancel(ctx)) // requests may outlive ctx by the grace period
	defer interrupt()
	s := httpguard.NewServer(base, d, slog.NewLogLogger(d.Log.Handler(), slog.LevelDebug))
	failed := make(chan error, 1)
	var l net.Listener = g
	if pair != nil {
		l = tls.NewListener(
			g,
			&tls.Config{
				Certificates: []tls.Certificate{*pair},
				NextProtos:   []string{"http/1.1"},
				MinVersion:   tls.VersionTLS12,
			},
		)
	}
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed: // the listener failed
		d.close(s, g, interrupt)
		return err
	case <-ctx.Done():
		err := d.close(s, g, interrupt)
		<-failed
		return err
	}
}

// close ends, in this order: streams, which would never end by themselves, idle connections, requests
// that are still running after the grace period, and all connections.
func (d *handler) close(s *http.Server, g *httpguard.ConnLimiter, interrupt context.CancelFunc) error {
	idle := d.stop()
	d.streams.Close()
	g.CloseUnauthenticated()
	grace, cancel := context.WithTimeout(context.Background(), d.Grace)
	defer cancel()
	err := s.Shutdown(grace)
	interrupt()
	if err != nil {
		select {
		case <-idle:
		case <-time.After(shutdownLimit):
		}
		err = ErrCut
	}
	_ = s.Close()
	d.sessions.close()
	return err
}

// SettingError is the error of a setting that is invalid, unsafe, or impossible on this machine. The
// server does not start.
type SettingError struct {
	Setting string // name of the setting, such as "http" or "allow-origin"
	Value   string // its value, "" if it is secret or irrelevant
	Reason  string // a predicate for the setting, such as "is not a URL"
	hint    string
	cause   error
}

func (e *SettingError) Error() string {
	text := e.Setting
	if e.Value != "" {
		text = fmt.Sprintf("%s %q", e.Setting, e.Value)
	}
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", text, e.Reason, e.cause)
	}
	return text + ": " + e.Reason
}

// Code returns the code of an invalid request.
func (e *SettingError) Code() string { return "bad_request" }

// Hint returns advice about a valid setting, "" if the error text contains it.
func (e *SettingError) Hint() string { return e.hint }

// Unwrap returns the underlying error, nil if there is none.
func (e *SettingError) Unwrap() error { return e.cause }

// errNoServer is an error of the calling program, not of a setting.
var errNoServer = errors.New("Config.Server is missing")

// ErrCut is returned if the server stopped before every request was answered.
var ErrCut = errors.New("the server stopped before all requests were completed")
