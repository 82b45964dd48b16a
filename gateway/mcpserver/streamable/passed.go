package streamable

import (
	"context"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// listener returns the one that a config has, or one at the address. A listener that
// fails is closed.
func listener(ctx context.Context, c Config, a address) (net.Listener, error) {
	if c.Listener == nil {
		return listen(ctx, a, c.Addr)
	}
	if err := checkPassed(c.Listener, a, c.Addr); err != nil {
		c.Listener.Close()
		return nil, err
	}
	return c.Listener, nil
}

// checkPassed refuses a listener that is not at the address: what was checked is the
// address, so a socket that is open to more than that must not be served.
func checkPassed(l net.Listener, a address, shown string) error {
	wrong := func(reason, hint string) error {
		return &SettingError{Setting: "http", Value: shown, Reason: reason, hint: hint}
	}
	elsewhere := wrong("is not the address of the socket that was passed, "+l.Addr().String(), "use the same address in the socket unit and in --http")
	if a.network == "unix" {
		at, ok := l.Addr().(*net.UnixAddr)
		if !ok || at.Name != a.text {
			return elsewhere
		}
		if info, err := os.Lstat(a.text); err != nil || info.Mode().Type() != fs.ModeSocket || info.Mode().Perm()&0o077 != 0 {
			return wrong("can be reached by other users", "set SocketMode=0600 in the socket unit")
		}
		return nil
	}
	at, ok := l.Addr().(*net.TCPAddr)
	_, port, _ := net.SplitHostPort(a.text) // parseAddr has looked at it
	if !ok || port != "0" && port != strconv.Itoa(at.Port) || a.private() && !loopback(l) {
		return elsewhere
	}
	if ip, err := netip.ParseAddr(a.host); err == nil && !ip.IsUnspecified() && ip.Unmap() != at.AddrPort().Addr().Unmap() {
		return elsewhere
	}
	return nil
}
