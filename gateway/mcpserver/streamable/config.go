package streamable

import (
	"cmp"
	"io"
	"log/slog"
	"net"
	"time"

	"vaultwicket/gateway/mcpserver/wire"
)

const (
	defaultSessions    = 1000
	defaultIdle        = 30 * time.Minute
	defaultBody        = 4 << 20 // as on stdio: the longest arguments of a call, escaped
	defaultConnections = 256     // an agent needs two or three
	defaultGrace       = 10 * time.Second
)

// Config configures a server. Server, Addr and Token are required.
type Config struct {
	// Server answers what passes. It needs no option of its own for HTTP.
	Server *wire.Server

	// Addr is where to listen: "127.0.0.1:8765", "localhost:0", "[::1]:80",
	// "0.0.0.0:8080" for all addresses, or "unix:/absolute/path".
	Addr string

	// Listener is open already, such as a socket of systemd, and is served in place of
	// opening Addr. It must be at Addr. nil opens Addr. Serve closes it.
	Listener net.Listener

	// TLSCert and TLSKey name PEM files. They are required, both, unless Addr is a
	// loopback address or a socket: a token does not travel in the open.
	TLSCert, TLSKey string

	// Origins are the web origins whose pages may send requests, such as
	// "https://app.example". Requests that no page sent need none.
	Origins []string

	// Hosts are names by which clients may call us besides "localhost", loopback
	// addresses, the host of Addr and the names in the certificate.
	Hosts []string

	// Token is what a client must know: at least 32 random bytes, as text. See
	// [Token].
	Token string

	// MaxSessions bounds the sessions that are open, 0 for 1000, and
	// MaxConnections the connections, 0 for 256.
	MaxSessions, MaxConnections int

	// Idle is how long a session lasts in which nothing is going on, 0 for half an
	// hour.
	Idle time.Duration

	// Grace is how long running requests may go on when the server stops, 0 for
	// ten seconds. It should be a little longer than the time limit of a call.
	Grace time.Duration

	// MaxBody bounds the body of a request in bytes, 0 for 4 MiB.
	MaxBody int64

	// Ready says at /readyz why work cannot be done now, to who has the token. nil
	// is always ready.
	Ready func() error

	// Metrics writes what /metrics answers, in the text format of Prometheus, to who
	// has the token; nil for 404.
	Metrics func(io.Writer)

	// Opened and Ended are told of each session by its caller (see [callerOf]), so
	// that what is kept for a session can go with it. Both may be nil; they must not
	// block.
	Opened, Ended func(caller string)

	// Log takes messages for the person who runs the server; nil discards them. No
	// token, session or text of a message is ever in them.
	Log *slog.Logger
}

// complete returns c with its defaults, or what is wrong with it.
func (c Config) complete() (Config, error) {
	c.MaxSessions = cmp.Or(c.MaxSessions, defaultSessions)
	c.MaxConnections = cmp.Or(c.MaxConnections, defaultConnections)
	c.Idle = cmp.Or(c.Idle, defaultIdle)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.MaxBody = cmp.Or(c.MaxBody, defaultBody)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxSessions < 0 || c.MaxConnections < 0 || c.Idle < 0 || c.Grace < 0 || c.MaxBody < 0 {
		return c, &SettingError{Setting: "http", Reason: "negative limit", hint: "leave it out for the default"}
	}
	if c.Server == nil {
		return c, errNoServer
	}
	if reason := Weakness(c.Token); reason != "" {
		return c, &SettingError{Setting: "token-file", Reason: "the token " + reason, hint: "leave it out and one is created at the first start"}
	}
	return c, nil
}

// Settings can be checked before the server starts: nothing here reads a
// file, opens a port or asks for a name. An error is a *SettingError.

// CheckAddr refuses what cannot be [Config].Addr on this system.
func CheckAddr(text string) error {
	_, err := parseAddr(text)
	return err
}

// CheckOrigin refuses what cannot be one of [Config].Origins.
func CheckOrigin(text string) error {
	_, err := parseOrigin(text)
	return err
}

// CheckHost refuses what cannot be one of [Config].Hosts.
func CheckHost(text string) error {
	_, err := parseHost(text)
	return err
}

// CheckTLS refuses a config whose TLSCert and TLSKey do not go together, or not
// with its Addr. What is in the files is not looked at.
func CheckTLS(c Config) error {
	at, err := parseAddr(c.Addr)
	if err != nil {
		return err
	}
	return checkTLS(c, at)
}
