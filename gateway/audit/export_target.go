package audit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
)

// CheckTarget returns an error if address is not a valid target: an OTLP/HTTP endpoint for logs such as
// "https://collector:4318/v1/logs", "syslog+tcp://host:port", "syslog+tls://host:port", "syslog+unix:///path" or
// "file:///path".
func CheckTarget(address string) error {
	_, _, err := parseTarget(address, ExportConfig{Getenv: func(string) string { return "" }})
	return err
}

// ExportFileOf returns the path of a target "file:///path", "" for any other target.
func ExportFileOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		return pathOf(u)
	}
	return ""
}

// pathOf returns the path in a URL as a native path. On Windows it has a drive after the first slash.
func pathOf(u *url.URL) string {
	if drive := filepath.FromSlash(strings.TrimPrefix(u.Path, "/")); filepath.VolumeName(drive) != "" {
		return drive
	}
	return filepath.FromSlash(u.Path)
}

// parseTarget parses the address of a target. name is the address without user, password and query,
// which may be secret.
func parseTarget(address string, c ExportConfig) (s sender, name string, err error) {
	u, err := url.Parse(address)
	if err != nil && strings.HasPrefix(address, "file:") {
		return nil, "", errors.New("want file:///PATH, with a drive file:///C:/PATH")
	}
	if err != nil {
		return nil, "", errors.New("is not an address such as https://collector:4318/v1/logs")
	}
	name = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	hasQuery := u.RawQuery != "" || u.ForceQuery
	hasExtras := u.User != nil || hasQuery || u.Fragment != ""
	switch u.Scheme {
	case "http", "https":
		logs, err := telemetry.OpenLogs(address, c.Getenv, c.Version)
		if err != nil {
			return nil, "", err
		}
		return otlp{logs: logs}, name, nil
	case "syslog+tcp", "syslog+tls":
		_, _, err := net.SplitHostPort(u.Host)
		isBare := u.Path == "" && !hasExtras
		if err != nil || !isBare || u.Hostname() == "" {
			return nil, "", fmt.Errorf("want %s://HOST:PORT", u.Scheme)
		}
		return &syslog{network: "tcp", address: u.Host, secure: u.Scheme == "syslog+tls"}, name, nil
	case "syslog+unix", "file":
		isFile := strings.HasPrefix(u.Path, "/") && !strings.HasSuffix(u.Path, "/")
		if u.Host != "" || hasExtras || !isFile {
			return nil, "", fmt.Errorf("want %s:///PATH", u.Scheme)
		}
		if u.Scheme == "syslog+unix" {
			return &syslog{network: "unix", address: pathOf(u)}, name, nil
		}
		return fileSender{name: pathOf(u)}, name, nil
	}
	return nil, "", errors.New(
		"is not an address that begins with http, https, syslog+tcp, syslog+tls, syslog+unix or file",
	)
}

// otlp sends entries as OpenTelemetry log records.
type otlp struct {
	confirmed
	logs *telemetry.Logs
}

func (o otlp) send(ctx context.Context, entries []ExportEntry) error {
	records := make([]telemetry.LogRecord, len(entries))
	for i, e := range entries {
		l := e.Line
		records[i] = telemetry.LogRecord{
			Time: l.Time,
			Warn: e.isNotable(),
			Text: string(e.Text),
			Attributes: [][2]string{
				{"vaultwicket.part", e.Part},
				{"vaultwicket.kind", l.Kind},
				{"vaultwicket.decision", l.Decision},
				{"vaultwicket.command", l.Command},
				{"vaultwicket.agent", l.Agent},
				{"vaultwicket.vault", l.Vault},
				{"vaultwicket.rule", l.Rule},
				{"vaultwicket.outcome", l.Code},
			},
		}
	}
	refused, reason, err := o.logs.Send(ctx, records)
	if err == nil && refused > 0 {
		return &ExportRefused{min(refused, len(entries)), reason}
	}
	return err
}

func (o otlp) close() { o.logs.Close() }

// syslog sends entries as RFC 5424 messages. On a stream each is preceded by its length (RFC 6587,
// over TLS RFC 5425); on a Unix datagram socket each is a datagram. The protocol has no
// acknowledgements: messages count as delivered if the connection is still open after deliveryDelay, see [sender].
type syslog struct {
	network, address string
	secure           bool

	connection net.Conn
	datagrams  bool
}

// maxWrite is how many bytes of messages are collected for one write to a stream.
const maxWrite = 64 << 10

func (*syslog) deliveryDelay() time.Duration { return 500 * time.Millisecond }

func (s *syslog) send(ctx context.Context, entries []ExportEntry) error {
	var messages []string
	host, _ := os.Hostname()
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		host = "-"
	}
	for _, e := range entries {
		priority := 13*8 + 6 // log audit, informational
		if e.isNotable() {
			priority-- // notice
		}
		messages = append(
			messages,
			fmt.Sprintf(
				"<%d>1 %s %s vaultwicket %d %s - %s",
				priority,
				e.Line.Time.UTC().Format("2006-01-02T15:04:05.000000Z"),
				host,
				os.Getpid(),
				e.Part,
				e.Text,
			),
		)
	}
	if !s.isConnected() {
		dialer := net.Dialer{Timeout: 5 * time.Second}
		var err error
		if s.secure {
			s.connection, err = (&tls.Dialer{NetDialer: &dialer}).DialContext(ctx, s.network, s.address)
		} else {
			s.connection, err = dialer.DialContext(ctx, s.network, s.address)
		}
		s.datagrams = err != nil && s.network == "unix"
		if s.datagrams { // the socket of most syslog daemons takes datagrams, and refuses a stream
			s.connection, err = dialer.DialContext(ctx, "unixgram", s.address)
		}
		if err != nil {
			s.connection = nil // it may be a non-nil interface around a nil pointer
			return fmt.Errorf("connect: %w", err)
		}
	}
	deadline, _ := ctx.Deadline()
	_ = s.connection.SetWriteDeadline(deadline)
	var framed strings.Builder
	for i, message := range messages {
		if s.datagrams {
			framed.WriteString(message)
		} else {
			fmt.Fprintf(&framed, "%d %s", len(message), message)
		}
		if s.datagrams || framed.Len() > maxWrite || i == len(messages)-1 {
			if _, err := io.WriteString(s.connection, framed.String()); err != nil {
				s.close()
				return fmt.Errorf("write: %w", err)
			}
			framed.Reset()
		}
	}
	return nil
}

// isConnected reports whether the connection appears to be open at the other end. It closes a connection
// that is not.
func (s *syslog) isConnected() bool {
	if s.connection == nil {
		return false
	}
	_ = s.connection.SetReadDeadline(time.Now().Add(time.Millisecond))
	var buf [1]byte
	_, err := s.connection.Read(buf[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.close()
	}
	return s.connection != nil
}

func (s *syslog) close() {
	if s.connection != nil {
		_ = s.connection.Close()
		s.connection = nil
	}
}
