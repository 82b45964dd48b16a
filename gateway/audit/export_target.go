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

// CheckTarget says what is wrong with an address of a target: "http://" or "https://" for OTLP, with the path
// of logs; "syslog+tcp://host:port", "syslog+tls://host:port" and "syslog+unix:///path";
// "file:///path".
func CheckTarget(address string) error {
	_, _, err := parseTarget(address, ExportConfig{Getenv: func(string) string { return "" }})
	return err
}

// ExportFileOf returns the file of an address "file:///path", "" for any other.
func ExportFileOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		return pathOf(u)
	}
	return ""
}

// pathOf returns the path of a URL, which on Windows has a drive after the first slash.
func pathOf(u *url.URL) string {
	if drive := filepath.FromSlash(strings.TrimPrefix(u.Path, "/")); filepath.VolumeName(drive) != "" {
		return drive
	}
	return filepath.FromSlash(u.Path)
}

// parseTarget reads an address. The name is without what may be secret.
func parseTarget(address string, c ExportConfig) (to sender, name string, err error) {
	u, err := url.Parse(address)
	if err != nil && strings.HasPrefix(address, "file:") {
		return nil, "", errors.New("want file:///PATH, with a drive file:///C:/PATH")
	}
	if err != nil {
		return nil, "", errors.New("is not an address such as https://collector:4318/v1/logs")
	}
	name = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	switch u.Scheme {
	case "http", "https":
		logs, err := telemetry.OpenLogs(address, c.Getenv, c.Version)
		if err != nil {
			return nil, "", err
		}
		return otlp{logs: logs}, name, nil
	case "syslog+tcp", "syslog+tls":
		_, _, err := net.SplitHostPort(u.Host)
		isBare := u.Path == "" && u.User == nil
		if err != nil || !isBare || u.Hostname() == "" {
			return nil, "", fmt.Errorf("want %s://HOST:PORT", u.Scheme)
		}
		return &syslog{network: "tcp", address: u.Host, secure: u.Scheme == "syslog+tls"}, name, nil
	case "syslog+unix", "file":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasSuffix(u.Path, "/") {
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

// otlp sends entries as log records of OpenTelemetry.
type otlp struct {
	confirmed
	logs *telemetry.Logs
}

func (o otlp) send(ctx context.Context, entries []ExportEntry) error {
	records := make([]telemetry.LogRecord, len(entries))
	for i, e := range entries {
		l := e.Line
		records[i] = telemetry.LogRecord{Time: l.Time, Warn: e.isNotable(), Text: string(e.Text), Attributes: [][2]string{
			{
				"vaultwicket.part",
				e.Part,
			}, {"vaultwicket.kind", l.Kind}, {"vaultwicket.decision", l.Decision}, {"vaultwicket.command", l.Command}, {"vaultwicket.agent", l.Agent},
			{"vaultwicket.vault", l.Vault}, {"vaultwicket.rule", l.Rule}, {"vaultwicket.outcome", l.Code},
		}}
	}
	refused, reason, err := o.logs.Send(ctx, records)
	if err == nil && refused > 0 {
		return &ExportRefused{min(refused, len(entries)), reason}
	}
	return err
}

func (o otlp) close() { o.logs.Close() }

// syslog sends entries as messages of RFC 5424, framed by their lengths (RFC 6587, and RFC 5425 over
// TLS), to a Unix socket of datagrams one each. The protocol has no answers: what was written has
// arrived if the connection is still open a moment later.
type syslog struct {
	network, address string
	secure           bool

	connection net.Conn
	datagrams  bool
}

func (*syslog) delay() time.Duration { return 500 * time.Millisecond }

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
	if !s.isUp() {
		dialer := net.Dialer{Timeout: 5 * time.Second}
		var err error
		if s.secure {
			s.connection, err = (&tls.Dialer{NetDialer: &dialer}).DialContext(ctx, s.network, s.address)
		} else {
			s.connection, err = dialer.DialContext(ctx, s.network, s.address)
		}
		if s.datagrams = err != nil && s.network == "unix"; s.datagrams { // most systems have one of datagrams
			s.connection, err = dialer.DialContext(ctx, "unixgram", s.address)
		}
		if err != nil {
			s.connection = nil // not an interface with nothing in it
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
		if s.datagrams || framed.Len() > 64<<10 || i == len(messages)-1 {
			if _, err := io.WriteString(s.connection, framed.String()); err != nil {
				s.close()
				return fmt.Errorf("write: %w", err)
			}
			framed.Reset()
		}
	}
	return nil
}

// isUp reports whether the other side has the connection open, as far as that can be seen, and closes
// it if not.
func (s *syslog) isUp() bool {
	if s.connection == nil {
		return false
	}
	_ = s.connection.SetReadDeadline(time.Now().Add(time.Millisecond))
	var one [1]byte
	_, err := s.connection.Read(one[:])
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
