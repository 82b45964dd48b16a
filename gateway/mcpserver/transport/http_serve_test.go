package transport

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A server that stops ends its streams, answers what is running, and takes nothing
// new.
func TestStoppingAnswersWhatRuns(t *testing.T) {
	r := open(t, func(c *HTTPConfig) { c.Grace = time.Hour })
	id := r.session()
	stream := r.stream(id)
	silent := r.dial()
	defer silent.Close()
	body, headers := modern(1, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	subscription := r.follow(http.MethodPost, body, headers...)
	answers := r.begun(callHTTP(1, "block", "{}"), sessionHeader, id)
	r.stop()
	for range stream.lines { // it ends, although the call goes on
	}
	for range subscription.lines {
	}
	answer, err := r.try(t.Context(), http.MethodGet, "/healthz", "")
	assert.That(t, err != nil || answer.status == http.StatusServiceUnavailable, "a new request was taken: %+v", answer)
	close(r.release)
	assert.Equal(t, soon(t, "the answer", answers).text(t), "released")
	assert.NoError(t, r.wait(), "the end")
}

// What still comes over an open connection is told to come later, to the next server.
func TestWhileStoppingNothingBegins(t *testing.T) {
	x := newDirect(t, nil)
	id := x.session(t)
	<-x.stop()
	w := x.send(t.Context(), http.MethodPost, callHTTP(1, "who", "{}"), sessionHeader, id)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Connection") != "close" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// A call that takes longer than the time of grace is cut off, and told so.
func TestStoppingHasAnEnd(t *testing.T) {
	inBubble(t, func(c *HTTPConfig) { c.Grace = time.Minute }, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		id := x.session(t)
		c := p.dial()
		answer := make(chan string)
		go func() {
			text, _ := io.ReadAll(c)
			answer <- string(text)
		}()
		x.block(c, id)
		begin := time.Now()
		go func() { _ = stop() }()
		err := <-x.toy.ended
		assert.ErrorIs(t, err, context.Canceled, "%v after %v", err, time.Since(begin))
		assert.That(t, time.Since(begin) >= time.Minute, "%v after %v", err, time.Since(begin))
		text := <-answer
		assert.Contains(t, text, `"id":1`)
		assert.Contains(t, text, "is unknown")
		synctest.Wait()
		err = stop()
		assert.ErrorIs(t, err, ErrCut, "%v after %v", err, time.Since(begin))
		assert.That(t, time.Since(begin) <= time.Minute+shutdownLimit, "%v after %v", err, time.Since(begin))
		assert.That(t, len(x.sessions.byID) == 0, "a session is left")
	})
}

// A handler that does not listen to its context does not keep the server.
func TestStoppingDoesNotWaitForTheDeaf(t *testing.T) {
	inBubble(t, func(c *HTTPConfig) {
		c.Grace = time.Minute
		c.Ready = func() error {
			time.Sleep(time.Hour) // of the fake clock: longer than anything waits for it
			return nil
		}
	}, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		c := p.dial()
		defer c.Close()
		_, _ = io.WriteString(c, strings.Replace(strings.Replace(goodHead, "POST", "GET", 1), "/mcp", "/readyz", 1)+"\r\n")
		synctest.Wait()
		begin := time.Now()
		err := stop()
		assert.ErrorIs(t, err, ErrCut, "%v after %v", err, time.Since(begin))
		assert.That(t, time.Since(begin) <= time.Minute+2*shutdownLimit, "%v after %v", err, time.Since(begin))
		time.Sleep(time.Hour) // it ends at last
	})
}

func TestSettingsThatAreRefused(t *testing.T) {
	cert, key, _ := certificateFiles(t)
	for _, test := range []struct {
		name          string
		change        func(*HTTPConfig)
		setting, want string
	}{
		{"no token", func(c *HTTPConfig) { c.Token = "" }, "token-file", "is missing"},
		{"a weak token", func(c *HTTPConfig) { c.Token = "secret" }, "token-file", "is shorter"},
		{"no address", func(c *HTTPConfig) { c.Addr = "" }, "http", "is not a listen address"},
		{"no port", func(c *HTTPConfig) { c.Addr = "127.0.0.1" }, "http", "is not a listen address"},
		{"a port by name", func(c *HTTPConfig) { c.Addr = "127.0.0.1:http" }, "http", "is not a listen address"},
		{"a port that is none", func(c *HTTPConfig) { c.Addr = "127.0.0.1:65536" }, "http", "is not a listen address"},
		{"a URL", func(c *HTTPConfig) { c.Addr = "http://127.0.0.1:80" }, "http", "is not a listen address"},
		{"a host that is none", func(c *HTTPConfig) { c.Addr = "a b:80" }, "http", "has an invalid host"},
		{"no host", func(c *HTTPConfig) { c.Addr = ":0" }, "http", "has no host"},
		{"no host, with a certificate", func(c *HTTPConfig) { c.Addr, c.TLSCert, c.TLSKey = ":0", cert, key }, "http", "has no host"},
		{"all addresses by number in the open", func(c *HTTPConfig) { c.Addr = "0.0.0.0:0" }, "http", "be sent unencrypted"},
		{"all addresses of version 6 in the open", func(c *HTTPConfig) { c.Addr = "[::]:0" }, "http", "be sent unencrypted"},
		{"another machine's view in the open", func(c *HTTPConfig) { c.Addr = "192.0.2.1:0" }, "http", "be sent unencrypted"},
		{"a name in the open", func(c *HTTPConfig) { c.Addr = "localhost.example:0" }, "http", "be sent unencrypted"},
		{"a certificate without key", func(c *HTTPConfig) { c.TLSCert = cert }, "tls-key", "is required"},
		{"a key without certificate", func(c *HTTPConfig) { c.TLSKey = key }, "tls-cert", "is required"},
		{"files that are no pair", func(c *HTTPConfig) { c.TLSCert, c.TLSKey = key, cert }, "tls-cert", "cannot be used"},
		{"files that are not there", func(c *HTTPConfig) { c.TLSCert, c.TLSKey = "/nowhere", key }, "tls-cert", "cannot be read"},
		{"an address that is not ours", func(c *HTTPConfig) { c.Addr, c.TLSCert, c.TLSKey = "192.0.2.1:0", cert, key }, "http", "cannot listen"},
		{"a wrong origin", func(c *HTTPConfig) { c.Origins = []string{"*"} }, "allow-origin", "is not a web origin"},
		{"a wrong host", func(c *HTTPConfig) { c.Hosts = []string{"*"} }, "allow-host", "is not a host name"},
		{"a limit below zero", func(c *HTTPConfig) { c.MaxSessions = -1 }, "http", "negative limit"},
	} {
		c := HTTPConfig{Server: newToy().server, Addr: "127.0.0.1:0", Token: goodToken}
		test.change(&c)
		ctx, cancel := context.WithCancel(t.Context())
		err := ServeHTTP(ctx, c, func(url string) { t.Errorf("%s: it listens on %s", test.name, url); cancel() })
		cancel()
		var wrong *SettingError
		require.That(t, errors.As(err, &wrong), "%s: %v", test.name, err)
		require.Equal(t, wrong.Setting, test.setting, "%s", test.name)
		require.Contains(t, err.Error(), test.want, "%s", test.name)
		assert.That(t, wrong.Hint() != "", "%s: %v", test.name, err)
		assert.That(t, !strings.Contains(fmt.Sprint(err), "secret"), "%s: the error shows the token", test.name)
	}
	assert.ErrorIs(t, ServeHTTP(t.Context(), HTTPConfig{Addr: "127.0.0.1:0", Token: goodToken}, nil), errNoServer, "without a server")
}

// A client that has connected and says nothing is not waited for.
func TestStoppingDoesNotWaitForUnauthenticated(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, x *offline, p *pipes, stop func() error) {
		c := p.dial()
		defer c.Close()
		synctest.Wait()
		begin := time.Now()
		err := stop()
		require.Equal(t, err, nil, "%v after %v", err, time.Since(begin))
		assert.That(t, time.Since(begin) <= time.Second, "%v after %v", err, time.Since(begin))
	})
}

// The file of hosts may say that localhost is another machine's way to this one.
func TestANameForLoopbackMustBeOne(t *testing.T) {
	l, err := listener(t.Context(), HTTPConfig{Addr: "localhost:0"}, address{network: "tcp", text: "0.0.0.0:0", host: "localhost"})
	assert.That(t, isSetting(err, "http"), "%v, %v", l, err)
}

func TestAnAddressInUseIsRefused(t *testing.T) {
	r := open(t, nil)
	err := ServeHTTP(t.Context(), HTTPConfig{Server: newToy().server, Addr: r.addr, Token: goodToken}, nil)
	// Windows says it in the language of the user.
	assert.That(t, isSetting(err, "http"), "%v", err)
	assert.That(t, runtime.GOOS == "windows" || strings.Contains(err.Error(), "in use"), "%v", err)
}

// certificateFiles makes a certificate for the name vault.example and the address
// 127.0.0.1.
func certificateFiles(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private := require.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"vault.example", "*.wild.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der := require.Value(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	secret := require.Value(x509.MarshalPKCS8PrivateKey(private))(t)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	parsed := require.Value(x509.ParseCertificate(der))(t)
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

func TestTLSOnAllAddresses(t *testing.T) {
	cert, key, pool := certificateFiles(t)
	r := open(t, func(c *HTTPConfig) { c.Addr, c.TLSCert, c.TLSKey = "0.0.0.0:0", cert, key })
	assert.That(t, strings.HasPrefix(r.url, "https://vault.example:"), "url %q", r.url)
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(r.url, "https://"), endpoint))
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	for host, want := range map[string]int{"vault.example": 200, "VAULT.example:1": 200, "a.wild.example": 200,
		"127.0.0.1": 200, "localhost": 200, "wild.example": 403, "evil.example": 403, "test": 403} {
		q := require.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port+"/readyz", nil))(t)
		q.Host = host
		q.Header.Set("Authorization", "Bearer "+goodToken)
		answer := require.Value(transport.RoundTrip(q))(t)
		answer.Body.Close()
		assert.Equal(t, answer.StatusCode, want, "%s: %d by %s", host, answer.StatusCode, answer.Proto)
		assert.Equal(t, answer.ProtoMajor, 1, "%s: %d by %s", host, answer.StatusCode, answer.Proto)
	}
	// A client that speaks plain HTTP to it learns that and gets nothing.
	plainly := require.Value(net.Dial("tcp", net.JoinHostPort("127.0.0.1", port)))(t)
	defer plainly.Close()
	_, _ = io.WriteString(plainly, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	text, _ := io.ReadAll(plainly)
	assert.That(t, !strings.Contains(string(text), "200 OK"), "%q", text)
}

func TestUrls(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:0": "http://127.0.0.1:", "localhost:0": "http://localhost:", "LocalHost:0": "http://LocalHost:"} {
		r := open(t, func(c *HTTPConfig) { c.Addr = addr })
		assert.That(t, strings.HasPrefix(r.url, want), "%s: %q", addr, r.url)
		assert.That(t, strings.HasSuffix(r.url, "/mcp"), "%s: %q", addr, r.url)
	}
}

func TestASocketIsForOneUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	path := filepath.Join(t.TempDir(), "socket")
	onSocket := func(c *HTTPConfig) { c.Addr = "unix:" + path }
	r := open(t, onSocket)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	assert.Equal(t, r.url, "unix:"+path, "url")
	ready := func(r *running) string {
		return r.raw(strings.Replace(strings.Replace(goodHead, "POST", "GET", 1), "/mcp", "/readyz", 1)+"Connection: close\r\n\r\n", false)
	}
	assert.Contains(t, ready(r), "200 OK")
	assert.Contains(t, r.raw("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", false), "401", "without the token")
	// A second server does not take it away.
	err = ServeHTTP(t.Context(), HTTPConfig{Server: newToy().server, Addr: "unix:" + path, Token: goodToken}, nil)
	assert.That(t, isSetting(err, "http"), "%v", err)
	assert.Contains(t, err.Error(), "in use by another server")
	assert.Contains(t, ready(r), "200 OK", "after the second server")
	r.stop()
	assert.NoError(t, r.wait())
	left, _ := os.ReadDir(filepath.Dir(path))
	assert.Equal(t, len(left), 0, "left behind: %v", left)

	// What a server that was killed has left is replaced.
	l := require.Value(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	l.SetUnlinkOnClose(false)
	l.Close()
	assert.Contains(t, ready(open(t, onSocket)), "200 OK")
}

func TestWhatIsNoOldSocketIsNotReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	dir, err := os.MkdirTemp("", "s") // that of the test may be too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, []byte("a note"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), link))
	for path, want := range map[string]string{
		file: "is not a socket", link: "is not a socket", dir: "is not a socket", "relative": "not an absolute path", "": "not an absolute path",
		filepath.Join(file, "s"):                       "cannot be",
		filepath.Join(dir, "missing", "s"):             "cannot listen",
		"/" + strings.Repeat("x", 200):                 "too long",
		"/tmp/" + strings.Repeat("x", maxSocket-30):    "",
		"/" + strings.Repeat("x", maxSocket-10) + "/s": "too long",
	} {
		if want == "" {
			_, err := parseAddr("unix:" + path)
			assert.NoError(t, err)
			continue
		}
		err := ServeHTTP(t.Context(), HTTPConfig{Server: newToy().server, Addr: "unix:" + path, Token: goodToken}, nil)
		var wrong *SettingError
		require.That(t, errors.As(err, &wrong), "%q: %v", path, err)
		assert.Contains(t, err.Error(), want, "%q", path)
	}
	text, err := os.ReadFile(file)
	assert.Equal(t, string(text), "a note", "%q, %v", text, err)
	cert, key, _ := certificateFiles(t)
	c := HTTPConfig{Server: newToy().server, Addr: "unix:" + filepath.Join(dir, "s"), Token: goodToken, TLSCert: cert, TLSKey: key}
	err = ServeHTTP(t.Context(), c, nil)
	assert.That(t, isSetting(err, "tls-cert"), "%v", err)
}

// A socket that another process has put in the place of ours is not removed.
func TestOnlyOurOwnSocketIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	path := filepath.Join(t.TempDir(), "s")
	l := require.Value(listenSocket(path))(t)
	require.NoError(t, os.Remove(path))
	other := require.Value(net.Listen("unix", path))(t)
	defer other.Close()
	assert.NoError(t, l.Close())
	_, err := os.Lstat(path)
	assert.NoError(t, err)
}

func TestABrokenListenerEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newDirect(t, nil)
		p := newPipes()
		p.Close()
		assert.ErrorIs(t, x.serve(t.Context(), httpguard.NewConnLimiter(p, 1), nil), net.ErrClosed)
	})
}

func TestNothingIsSentAfterTheAnswer(t *testing.T) {
	assert.ErrorIs(t, (&httpResponse{isFinished: true}).send([]byte("{}")), errAnswered)
}

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
		a := require.Value(parseAddr(test.addr))(t)
		err := checkPassed(test.l, a, test.addr)
		if wrong, ok := errors.AsType[*SettingError](err); ok == test.ok || ok && (wrong.Setting != "http" || wrong.Hint() == "") {
			t.Errorf("a socket at %v for %s: %v", test.l.Addr(), test.addr, err)
		}
	}
	a, _ := parseAddr("127.0.0.1:1")
	_, err := listener(context.Background(), HTTPConfig{Addr: "127.0.0.1:1", Listener: loop}, a)
	assert.That(t, err != nil, "it is opened")
	_, err = loop.Accept()
	assert.ErrorIs(t, err, net.ErrClosed, "the refused socket is left open")
}

// Everybody can connect to a socket in the file system that systemd makes by default.
func TestAPassedUnixSocketIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such address")
	}
	folder := require.Value(os.MkdirTemp("", "s"))(t)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s")
	l := require.Value(net.Listen("unix", path))(t)
	defer l.Close()
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o660: false, 0o606: false} {
		require.NoError(t, os.Chmod(path, mode))
		assert.Equal(t, (checkPassed(l, address{network: "unix", text: path}, "unix:"+path) == nil), ok, "with mode %v", mode)
	}
	assert.That(t, checkPassed(l, address{network: "unix", text: path + "2"}, "unix:"+path+"2") != nil, "another path passes")
	assert.That(t, checkPassed(l, address{network: "tcp", text: "127.0.0.1:0", host: "127.0.0.1"}, "127.0.0.1:0") != nil, "a socket passes for a TCP address")
}
