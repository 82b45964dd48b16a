package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const addrHint = `use one such as "127.0.0.1:8765", "localhost:8765", "[::1]:8765" or "unix:/absolute/path"`

// address is a parsed listen address.
type address struct {
	network, text string // the arguments for package net
	host          string // the host of a TCP address
}

// parseAddr parses HTTPConfig.Addr. The error is a *SettingError.
func parseAddr(text string) (address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		switch {
		case runtime.GOOS == "windows":
			return address{}, &SettingError{
				Setting: "http",
				Value:   text,
				Reason:  "is not supported on Windows",
				hint:    `use "127.0.0.1:8765"`,
			}
		case !filepath.IsAbs(path):
			return address{}, &SettingError{
				Setting: "http",
				Value:   text,
				Reason:  "is not an absolute path",
				hint:    `such as "unix:/run/user/1000/vaultwicket.sock"`,
			}
		case max(len(path), len(filepath.Dir(path))+maxTempName) > maxSocket:
			return address{}, &SettingError{
				Setting: "http",
				Value:   text,
				Reason:  "is too long for a socket",
				hint:    "choose a shorter path",
			}
		}
		return address{network: "unix", text: path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || port != "0" && !httpguard.IsPort(port) {
		return address{}, &SettingError{Setting: "http", Value: text, Reason: "is not a listen address", hint: addrHint}
	}
	if host == "" { // package net would listen on all addresses, which must be requested explicitly
		return address{}, &SettingError{Setting: "http", Value: text, Reason: "has no host",
			hint: "write 127.0.0.1" + text + " for this machine only, or 0.0.0.0" + text + " for all networks"}
	}
	if _, ok := httpguard.HostName(httpguard.Bracketed(host)); !ok {
		return address{}, &SettingError{Setting: "http", Value: text, Reason: "has an invalid host", hint: addrHint}
	}
	return address{network: "tcp", text: text, host: host}, nil
}

// isPrivate reports whether only this machine can reach the address.
func (a address) isPrivate() bool {
	if a.network == "unix" || strings.EqualFold(a.host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.IsLoopback()
}

// certificate loads the key pair of a config. It returns nil if the config has none and needs none.
func certificate(c HTTPConfig) (*tls.Certificate, error) {
	if err := CheckTLS(c); err != nil || c.TLSCert == "" {
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
		return nil, &SettingError{
			Setting: "tls-cert",
			Value:   c.TLSCert,
			Reason:  "cannot be used with its key",
			cause:   err,
			hint:    "both files must be in PEM form and belong together",
		}
	}
	return &pair, nil
}

func isLoopback(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// listener returns the listener of a config, or opens one at the address, without TLS. It closes a
// listener of the config that is not valid.
func listener(ctx context.Context, c HTTPConfig, a address) (net.Listener, error) {
	if c.Listener != nil {
		err := checkPassed(c.Listener, a, c.Addr)
		if err != nil {
			c.Listener.Close()
			return nil, err
		}
		return c.Listener, nil
	}
	if a.network == "unix" {
		return listenSocket(a.text)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, a.network, a.text)
	if err != nil {
		return nil, &SettingError{
			Setting: "http",
			Value:   c.Addr,
			Reason:  "cannot listen",
			cause:   err,
			hint:    "choose another port, or 0 for a free one",
		}
	}
	// The hosts file can map the name localhost to any address.
	if a.isPrivate() && !isLoopback(l) {
		l.Close()
		return nil, &SettingError{
			Setting: "http",
			Value:   c.Addr,
			Reason:  "is not a loopback address on this machine",
			hint:    "use 127.0.0.1",
		}
	}
	return l, nil
}

// checkPassed returns an error unless a listener is at the address a: only the address was checked, so a
// socket that more clients can reach must not be served. shown is the address for messages.
func checkPassed(l net.Listener, a address, shown string) error {
	settingErr := func(reason, hint string) error {
		return &SettingError{Setting: "http", Value: shown, Reason: reason, hint: hint}
	}
	wrongAddress := settingErr(
		"is not the address of the socket that was passed, "+l.Addr().String(),
		"use the same address in the socket unit and in --http",
	)
	if a.network == "unix" {
		at, ok := l.Addr().(*net.UnixAddr)
		if !ok || at.Name != a.text {
			return wrongAddress
		}
		info, err := os.Lstat(a.text)
		isPrivate := err == nil && info.Mode().Type() == fs.ModeSocket && info.Mode().Perm()&0o077 == 0
		if !isPrivate {
			return settingErr("can be reached by other users", "set SocketMode=0600 in the socket unit")
		}
		return nil
	}
	at, ok := l.Addr().(*net.TCPAddr)
	_, port, _ := net.SplitHostPort(a.text) // parseAddr has validated it
	if !ok {
		return wrongAddress
	}
	isPort := port == "0" || port == strconv.Itoa(at.Port)
	if !isPort || a.isPrivate() && !isLoopback(l) {
		return wrongAddress
	}
	ip, err := netip.ParseAddr(a.host)
	isSpecific := err == nil && !ip.IsUnspecified()
	if isSpecific && ip.Unmap() != at.AddrPort().Addr().Unmap() {
		return wrongAddress
	}
	return nil
}

const (
	// maxSocket is the maximum length, in bytes, of the path of a socket on all supported systems.
	maxSocket = 103

	// maxTempName is the maximum length of the temporary path of the socket, relative to its folder, see
	// [listenSocket].
	maxTempName = len("/.vaultwicket-4294967295/s")
)

// socket is a listener on a Unix socket. Close removes the path if it still belongs to this listener.
type socket struct {
	net.Listener
	path string
	info fs.FileInfo
}

// listenSocket creates a socket that only this user can connect to. It is created in a private folder
// and then renamed, so that others can never connect, and the path is never missing while an old socket
// is replaced.
func listenSocket(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, &SettingError{Setting: "http", Value: "unix:" + path, Reason: "cannot be accessed", cause: err}
	case info.Mode().Type() != fs.ModeSocket:
		return nil, &SettingError{
			Setting: "http",
			Value:   "unix:" + path,
			Reason:  "already exists and is not a socket",
			hint:    "choose another path; only an old socket is replaced",
		}
	default:
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			c.Close()
			return nil, &SettingError{
				Setting: "http",
				Value:   "unix:" + path,
				Reason:  "is in use by another server",
				hint:    "stop that one, or choose another path",
			}
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, &SettingError{
				Setting: "http",
				Value:   "unix:" + path,
				Reason:  "already exists and may be in use",
				cause:   err,
				hint:    "remove it if it is not in use",
			}
		}
	}
	cannotListen := func(err error) error {
		return &SettingError{
			Setting: "http",
			Value:   "unix:" + path,
			Reason:  "cannot listen",
			cause:   err,
			hint:    "the folder must exist and belong to you",
		}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".vaultwicket-")
	if err != nil {
		return nil, cannotListen(err)
	}
	defer os.RemoveAll(dir)
	temporary := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, cannotListen(err)
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(temporary, 0o600)
	own, statErr := os.Lstat(temporary)
	err = cmp.Or(err, statErr)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		l.Close()
		return nil, cannotListen(err)
	}
	return &socket{l, path, own}, nil
}

// Close stops listening and removes the path.
func (s *socket) Close() error {
	if info, err := os.Lstat(s.path); err == nil && os.SameFile(info, s.info) {
		_ = os.Remove(s.path) // a leftover socket does no harm
	}
	return s.Listener.Close()
}

// maxPEM is the maximum size in bytes of a file with certificates or a key. A chain has about ten
// thousand.
const maxPEM = 1 << 20

// readPEM reads the file of a setting. It may be a symbolic link to a regular file, because programs that
// renew certificates create such links. The error is a *SettingError without text of the file.
func readPEM(setting, path string) ([]byte, error) {
	fail := func(reason string, cause error) ([]byte, error) {
		return nil, &SettingError{
			Setting: setting,
			Value:   path,
			Reason:  reason,
			hint:    "name a file in PEM form",
			cause:   cause,
		}
	}
	file, err := ownerfiles.OpenRegular(path)
	switch {
	case errors.Is(err, ownerfiles.ErrNotRegular):
		return fail(err.Error(), nil)
	case err != nil:
		return fail("cannot be read", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPEM+1))
	switch {
	case err != nil:
		return fail("cannot be read", err)
	case len(text) > maxPEM:
		return fail(fmt.Sprintf("is larger than %d bytes", maxPEM), nil)
	}
	return text, nil
}
