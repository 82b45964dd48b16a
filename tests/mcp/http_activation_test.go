//go:build unix

package mcp

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// activated starts the server as systemd does: the socket is descriptor 3, and the
// variables name the process. It returns what the server says first.
func activated(t *testing.T, socket *os.File, addr string) string {
	t.Helper()
	home := t.TempDir()
	c := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`,
		harness.Binary, "serve", "--config=none", "--backend=embedded", "--vault="+t.TempDir(), "--http="+addr)
	c.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "VAULTWICKET_TOKEN="+harness.Token)
	c.ExtraFiles = []*os.File{socket}
	log := require.Value(c.StderrPipe())(t)
	require.NoError(t, c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	line, _ := bufio.NewReader(log).ReadString('\n')
	return line
}

// A client that connects before the server runs waits and is answered.
func TestASocketOfTheServiceManagerIsServed(t *testing.T) {
	t.Parallel()
	l := require.Value(net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	defer l.Close()
	socket := require.Value(l.File())(t)
	defer socket.Close()
	early := require.Value(net.Dial("tcp", l.Addr().String()))(t)
	defer early.Close()
	said, want := activated(t, socket, l.Addr().String()), "serving http://"+l.Addr().String()+"/mcp"
	require.That(t, strings.Contains(said, want), "the server says %q, want %q", said, want)
	if _, err := early.Write([]byte("GET /healthz HTTP/1.1\r\nHost: " + l.Addr().String() + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(early), nil)
	require.Equal(t, err, nil, "the connection from before gets %v", answer)
	require.Equal(t, answer.StatusCode, http.StatusOK, "the connection from before gets %v", answer)
}

// The settings say who may connect; a socket that is open to more is refused.
func TestASocketAtAnotherAddressIsRefused(t *testing.T) {
	t.Parallel()
	l := require.Value(net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4zero}))(t)
	defer l.Close()
	socket := require.Value(l.File())(t)
	defer socket.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	said := activated(t, socket, "127.0.0.1:"+port)
	assert.That(t, strings.Contains(said, "is not the address of the socket that was passed"), "the server says %q", said)
}
