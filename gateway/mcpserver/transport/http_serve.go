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
	defaultConnections = 256 // an agent needs two or three
	defaultGrace       = 10 * time.Second
)

// HTTPConfig configures a server. Server, Addr and Token are required.
type HTTPConfig struct {
	// Server answers the requests that pass.
	Server *Server

	// Addr is where to listen: "127.0.0.1:8765", "localhost:0", "[::1]:80",
	// "0.0.0.0:8080" for all addresses, or "unix:/absolute/path".
	Addr string

	// Listener is an open listener at Addr, such as a socket of systemd, which Serve closes;
	// nil opens Addr.
	Listener net.Listener

	// TLSCert and TLSKey name PEM files. Both are required unless Addr is a loopback address
	// or a socket: the token is not sent unencrypted.
	TLSCert, TLSKey string

	// Origins are the web origins whose pages may send requests, such as
	// "https://app.example". Requests of other programs than browsers need none.
	Origins []string

	// Hosts are valid names in a Host header besides "localhost", loopback addresses, the
	// host of Addr and the names in the certificate.
	Hosts []string

	// Proxies are addresses and networks of proxies, and "unix" for whoever connects to a socket: their header
	// X-Forwarded-For says whom a request is from. Of anybody else it is not read.
	Proxies []string

	// Token is the bearer token of clients: at least 32 random bytes, as text. See [Token].
	Token string

	// HolderOf returns whose a token is, the zero Holder for no one's. The error is a [*Refusal].
	// It is asked at every request that has another token than Token, compares in constant time,
	// and must be safe for concurrent use; nil is for no other tokens.
	HolderOf func(ctx context.Context, token string) (Holder, error)

	// TokenEnded reports whether the agent of Token has no rights any more, see [Holder.Ended]; nil is
	// never.
	TokenEnded func() bool

	// SignIn answers the requests for its paths, of anybody: after the Host header it checks them
	// itself. nil is for none.
	SignIn SignIn

	// Resource describes the server to OAuth clients, nil if it accepts no access tokens.
	Resource *Resource

	// MaxSessions is the maximum number of open sessions (0: 1000), MaxConnections that of
	// connections (0: 256), which are fewer where the process can open few files, see [httpguard.ConnLimit].
	MaxSessions, MaxConnections int

	// Idle is how long a session without a request lasts (0: 30 minutes).
	Idle time.Duration

	// Grace is how long running requests may continue when the server stops (0: 10 seconds).
	// It should be a little longer than the time limit of a call.
	Grace time.Duration

	// MaxBody is the maximum size of the body of a request in bytes (0: as on standard input).
	MaxBody int64

	// Ready returns why calls are not possible now, for /readyz; nil is always ready.
	Ready func() error

	// Metrics writes the answer of /metrics, in the text format of Prometheus: what an agent with that name may know, "" for
	// the owner, who may know all. nil is 404.
	Metrics func(w io.Writer, agent string)

	// Opened and Ended are called with the caller (see [callerOf]) of each session that opens
	// or ends. Both may be nil; they must not block.
	Opened, Ended func(caller string)

	// Log receives messages for the operator, without tokens, session ids or text of
	// messages; nil discards them.
	Log *slog.Logger
}

// complete returns c with its defaults. The error says what is wrong with c.
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

// CheckAddr returns a *SettingError for a text that is not valid for Config.Addr on this system.
// Like the other checks it reads no file, opens no port and resolves no name.
func CheckAddr(text string) error {
	_, err := parseAddr(text)
	return err
}

// CheckOrigin returns a *SettingError for a text that is not valid in Config.Origins.
func CheckOrigin(text string) error {
	_, err := parseOrigin(text)
	return err
}

// CheckHost returns a *SettingError for a text that is not valid in Config.Hosts.
func CheckHost(text string) error {
	_, err := parseHost(text)
	return err
}

// CheckProxy returns a *SettingError for a text that is not valid in Config.Proxies.
func CheckProxy(text string) error {
	_, err := parseProxies([]string{text})
	return err
}

// CheckTLS returns a *SettingError if TLSCert, TLSKey and Addr of a config cannot be combined. It
// does not read the files.
func CheckTLS(c HTTPConfig) error {
	a, err := parseAddr(c.Addr)
	switch {
	case err != nil:
		return err
	case c.TLSCert == "" && c.TLSKey == "" && !a.private():
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

// shutdownLimit is how long interrupted requests may take to end. A process that one of them
// started is stopped in less.
const shutdownLimit = 2 * time.Second

// ServeHTTP serves until ctx ends, and returns when no connection and no goroutine is left. Running
// requests may continue for the time of grace; if some must be interrupted, it returns [ErrCut].
// It returns a *SettingError, before it serves anything, for a setting that is wrong or unsafe.
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
	if c.Resource != nil { // clients name it in the Host header
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
	if listening != nil && at.network == "unix" {
		listening("unix:" + at.text)
	} else if listening != nil {
		scheme := "http"
		host := at.host
		if pair != nil {
			scheme = "https"
			if httpguard.Unspecified(host) && len(pair.Leaf.DNSNames) > 0 {
				host = pair.Leaf.DNSNames[0]
			}
		}
		if httpguard.Unspecified(host) {
			host = "localhost"
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		listening(scheme + "://" + net.JoinHostPort(host, port) + endpoint)
	}
	return d.serve(ctx, httpguard.NewConnLimiter(l, c.MaxConnections), pair)
}

// serve answers on a listener until ctx ends.
func (d *handler) serve(ctx context.Context, g *httpguard.ConnLimiter, pair *tls.Certificate) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx)) // requests outlive ctx, for the time of grace
	defer cut()
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
	case err := <-failed: // the listener broke
		d.close(s, g, cut)
		return err
	case <-ctx.Done():
		err := d.close(s, g, cut)
		<-failed
		return err
	}
}

// close ends, in this order: streams, which would never end by themselves, idle connections,
// requests that still run after the time of grace, and all connections.
func (d *handler) close(s *http.Server, g *httpguard.ConnLimiter, cut context.CancelFunc) error {
	empty := d.stop()
	d.streams.Close()
	g.CloseUnauthenticated()
	grace, cancel := context.WithTimeout(context.Background(), d.Grace)
	defer cancel()
	err := s.Shutdown(grace)
	cut()
	if err != nil {
		select {
		case <-empty:
		case <-time.After(shutdownLimit):
		}
		err = ErrCut
	}
	_ = s.Close()
	d.sessions.close()
	return err
}

// SettingError is a setting with which no server starts: it is wrong or unsafe, or not possible
// on this machine.
type SettingError struct {
	Setting string // its name, such as "http" or "allow-origin"
	Value   string // "" if it is secret or does not matter
	Reason  string // what is wrong with it, to follow it in a sentence
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

// Code is that of a wrong request.
func (e *SettingError) Code() string { return "bad_request" }

// Hint says what would be right, "" if the error does.
func (e *SettingError) Hint() string { return e.hint }

// Unwrap returns the error of the system, nil if there is none.
func (e *SettingError) Unwrap() error { return e.cause }

// errNoServer is a mistake of the program, not of a setting.
var errNoServer = errors.New("Config.Server is missing")

// ErrCut is returned by a server that stopped before every request was answered.
var ErrCut = errors.New("the server stopped before all requests were completed")
