package streamable

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func tcp(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A socket that was passed is served if it is at the address of the settings, and else
// refused and closed.
func TestAPassedSocketIsAtItsAddress(t *testing.T) {
	loop := tcp(t, "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(loop.Addr().String())
	everywhere := tcp(t, "0.0.0.0:0")
	_, other, _ := net.SplitHostPort(everywhere.Addr().String())
	for _, test := range []struct {
		l    net.Listener
		addr string
		ok   bool
	}{
		{loop, "127.0.0.1:" + port, true},
		{loop, "localhost:" + port, true},
		{loop, "127.0.0.1:0", true},
		{loop, "0.0.0.0:" + port, true}, // open to less than the settings allow
		{loop, "127.0.0.1:1", false},
		{loop, "127.0.0.2:" + port, false},
		{everywhere, "127.0.0.1:" + other, false}, // and the token would be sent unencrypted
		{everywhere, "localhost:" + other, false},
		{everywhere, "0.0.0.0:" + other, true},
	} {
		a, err := parseAddr(test.addr)
		require.NoError(t, err)
		err = checkPassed(test.l, a, test.addr)
		if wrong, ok := errors.AsType[*SettingError](err); ok == test.ok || ok && (wrong.Setting != "http" || wrong.Hint() == "") {
			t.Errorf("a socket at %v for %s: %v", test.l.Addr(), test.addr, err)
		}
	}
	a, _ := parseAddr("127.0.0.1:1")
	if _, err := listener(context.Background(), Config{Addr: "127.0.0.1:1", Listener: loop}, a); err == nil {
		t.Error("it is opened")
	}
	if _, err := loop.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the refused socket is left open: %v", err)
	}
}

// Everybody can connect to a socket in the file system that systemd makes by default.
func TestAPassedUnixSocketIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such address")
	}
	folder, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o660: false, 0o606: false} {
		require.NoError(t, os.Chmod(path, mode))
		assert.Equal(t, (checkPassed(l, address{network: "unix", text: path}, "unix:"+path) == nil), ok, "with mode %v", mode)
	}
	assert.That(t, checkPassed(l, address{network: "unix", text: path + "2"}, "unix:"+path+"2") != nil, "another path passes")
	assert.That(t, checkPassed(l, address{network: "tcp", text: "127.0.0.1:0", host: "127.0.0.1"}, "127.0.0.1:0") != nil, "a socket passes for a TCP address")
}
