package transport

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// attempt is one request of the matrix.
type attempt struct{ host, origin, site, method, token, path string }

// verdict is what the specification says of an attempt, in its own
// words: it shares nothing with the code.
func (a attempt) verdict() int {
	ours := []string{"127.0.0.1:9", "[::1]:80", "Vault.Example:443"}
	fromListed := a.origin == "https://app.example"
	switch {
	case !slices.Contains(ours, a.host):
		return 403 // a page that rebound its own name
	case a.origin != "-" && !fromListed:
		return 403 // a page of another origin
	case a.origin == "-" && a.site != "-" && a.site != "none" && a.site != "same-origin":
		return 403 // a page, although it hides its origin
	case a.path == "/healthz":
		if a.method == "GET" || a.method == "HEAD" {
			return 200
		}
		return 405
	case a.path == "/elsewhere":
		return 404
	case a.method == "PREFLIGHT" && fromListed:
		return 204 // browsers send no token with it
	case a.token != "Bearer "+goodToken:
		return 401
	}
	switch a.method {
	case "POST":
		return 400 // passed all the way to the body, which is no message
	case "GET", "DELETE":
		return 400 // passed to the session, which is missing
	}
	return 405
}

func (a attempt) text() string {
	method, more := a.method, ""
	if method == "PREFLIGHT" {
		method, more = "OPTIONS", "Access-Control-Request-Method: POST\r\n"
	}
	for _, h := range [][2]string{{"Host", a.host}, {"Origin", a.origin}, {"Sec-Fetch-Site", a.site}, {"Authorization", a.token}} {
		if h[1] != "-" {
			more += h[0] + ": " + h[1] + "\r\n"
		}
	}
	return method + " " + a.path + " HTTP/1.1\r\n" + more + "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]"
}

// Every combination of what a browser or a program may send is answered as the
// rule says. Wrong tokens are left to a second test: their answers are slow. By default
// it is one of seven, which are all combinations of any three.
func TestMatrix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	r := open(t, func(c *HTTPConfig) {
		c.Addr = "unix:" + t.TempDir() + "/s" // ports would run out
		c.Origins = []string{"https://app.example"}
		c.Hosts = []string{"vault.example"}
	})
	hosts := []string{"-", "127.0.0.1:9", "[::1]:80", "Vault.Example:443", "evil.example", "localhost.evil.example", "localhost.", "0.0.0.0"}
	origins := []string{"-", "https://app.example", "http://app.example", "https://evil.example", "null", ""}
	sites := []string{"-", "none", "same-origin", "same-site", "Cross-Site"}
	methods := []string{"POST", "GET", "DELETE", "OPTIONS", "PREFLIGHT", "HEAD", "PUT", "BREW"}
	tokens := []string{"-", "Bearer " + goodToken, "Basic " + goodToken}
	count, mine := 0, testenv.Shard(t, 7)
	for _, path := range []string{"/mcp", "/healthz", "/elsewhere"} {
		for _, host := range hosts {
			for _, origin := range origins {
				for _, site := range sites {
					for _, method := range methods {
						for _, token := range tokens {
							if count++; mine(count) {
								checkAttempt(t, r, attempt{host, origin, site, method, token, path})
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d requests", count)
}

func checkAttempt(t *testing.T, r *running, a attempt) {
	t.Helper()
	want := a.verdict()
	if a.host == "-" {
		want = http.StatusBadRequest // of net/http: HTTP/1.1 requires one
	}
	answer := serveRaw(t, r, a.text())
	defer answer.Body.Close()
	require.Equal(t, answer.StatusCode, want, "%+v", a)
	if a.host == "-" {
		return
	}
	h := answer.Header
	require.Equal(t, h.Get("Cache-Control"), "no-store", "%+v: header %v", a, h)
	require.Equal(t, h.Get("X-Content-Type-Options"), "nosniff", "%+v: header %v", a, h)
	require.Equal(t, want == 401, h.Get("WWW-Authenticate") == "Bearer", "%+v: header %v", a, h)
	require.Equal(t, want == 405, h.Get("Allow") != "", "%+v: header %v", a, h)
	shared := h.Get("Access-Control-Allow-Origin")
	if shared != "" && shared != "https://app.example" || shared != "" && a.origin != shared || want == 403 && shared != "" {
		t.Fatalf("%+v: shared with %q", a, shared)
	}
}

// serveRaw sends a request on a connection of its own.
func serveRaw(t *testing.T, r *running, text string) *http.Response {
	t.Helper()
	c := r.dial()
	defer c.Close()
	require.Value(io.WriteString(c, text))(t)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.That(t, err == nil, "%q: %v", text, err)
	return answer
}

func TestOneWrongHeaderIsEnough(t *testing.T) {
	r := open(t, func(c *HTTPConfig) { c.Origins = []string{"https://app.example"} })
	const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + goodToken + "\r\nContent-Type: application/json\r\n"
	for _, test := range []struct {
		name, text string
		want       int
	}{
		{"two hosts", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400},
		{"a whole address as the target", "POST http://localhost/mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400},
		{"a whole address with another name", "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400},
		{"CONNECT", "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\nConnection: close\r\n\r\n", 400},
		{"OPTIONS of the server", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400},
		{"HTTP/1.0 without a host", "GET /healthz HTTP/1.0\r\n\r\n", 403},
		{"two origins", head + "Origin: https://app.example\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n", 403},
		{"two tokens", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + goodToken +
			"\r\nAuthorization: Bearer " + goodToken + "\r\nConnection: close\r\n\r\n", 401},
		{"two sessions", head + "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 400},
		{"two types", head + "Content-Type: text/plain\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 400},
		{"two versions",
			head +
				"Mcp-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2026-07-28\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
			400},
		{"a path that only resolves to ours", "POST /x/../mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404},
		{"an escaped path", "POST /%6dcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404},
		{"a path with a slash more", "POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404},
		{"two slashes", "POST //mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404},
		{"where OAuth would be", "GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404},
		{"a space in a header's name", "POST /mcp HTTP/1.1\r\nHost : localhost\r\n\r\n", 400},
		{"a folded header", head + " folded\r\nConnection: close\r\n\r\n", 415},
		{"a NUL in a header", head + "X: a\x00b\r\n\r\n", 400},
		{"a form", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + goodToken +
			"\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 415},
		{"a compressed body", head + "Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 415},
		{"a length beyond numbers", goodHead + "Content-Length: 100000000000000000000\r\n\r\n", 400},
		{"a length below zero", goodHead + "Content-Length: -1\r\n\r\n", 400},
		{"an answer that cannot be a stream", head + "Accept: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 406},
	} {
		assert.Equal(t, statusOf(r.raw(test.text, false)), test.want, "%s", test.name)
	}
}

func TestHosts(t *testing.T) {
	h := require.Value(newHosts("192.168.1.5", []string{"vault.example"}, nil))(t)
	for _, name := range []string{"localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:65535", "[::1]", "[0:0::1]:80", "192.168.1.5:80", "vault.EXAMPLE"} {
		assert.That(t, h.Allow(name), "%q is refused", name)
	}
	for _, name := range []string{"", ":80", "192.168.1.6", "[::]", "[::1", "[::1]x", "[::1]80", "[::1%25lo]:80", "::1",
		"localhost:", "localhost:0", "localhost:0x50", "localhost:+1",
		"localhost:65536", "localhost:80:80", "vault.example.", "xvault.example", "vault.example.evil", "2130706433",
		"127.1", "0x7f.0.0.1", "a@localhost", "localhost/x", "localhost#", "lócalhost"} {
		assert.That(t, !h.Allow(name), "%q passed", name)
	}
}

func TestPreflightTellsWhatAListedPageMaySend(t *testing.T) {
	r := open(t, func(c *HTTPConfig) { c.Origins = []string{"HTTPS://App.example:443/"} })
	answer := r.send(http.MethodOptions, endpoint, "", "Authorization", "", "Origin", "https://app.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,mcp-session-id")
	require.That(t, answer.status == http.StatusNoContent, "%+v", answer)
	for name, want := range map[string]string{"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Mcp-Session-Id", "Vary": "Origin"} {
		assert.Contains(t, answer.header.Get(name), want, "%s", name)
	}
	assert.Equal(t, answer.header.Get("Access-Control-Allow-Credentials"), "", "cookies are allowed")
	answer = r.post(initialize(legacyVersion), "Origin", "https://app.example", "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, answer.status, http.StatusOK)
	assert.Contains(t, answer.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id")
}

func FuzzHostName(f *testing.F) {
	for _, seed := range []string{"localhost", "127.0.0.1:80", "[::1]:443", "[::1", "::1", "a:b:c", "a@b", "a/b",
		"[::ffff:127.0.0.1]", "[fe80::1%25lo]", "x]", "[x]", "a:+1", "a:", "ＬＯＣＡＬＨＯＳＴ", "localhost\x00"} {
		f.Add(seed)
	}
	h := require.Value(newHosts("127.0.0.1", []string{"vault.example", "fd00::1"}, nil))(f)
	f.Fuzz(func(t *testing.T, header string) {
		if !h.Allow(header) {
			return
		}
		// What passes is, to a reader that knows only that the last colon outside of
		// brackets begins a port, one of our names.
		name := header
		if i := strings.LastIndexByte(header, ':'); i > strings.LastIndexByte(header, ']') {
			name = header[:i]
		}
		bare := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
		ip := net.ParseIP(bare)
		ours := bare == "localhost" || bare == "vault.example" || ip != nil && (ip.IsLoopback() || ip.Equal(net.ParseIP("fd00::1")))
		assert.That(t, ours, "%q passed", header)
		assert.That(t, !strings.ContainsAny(header, "/@ \\?#%,\x00"), "%q passed", header)
	})
}

func TestOriginsAndHostsAreRefusedWithAHint(t *testing.T) {
	for _, wrong := range []string{"", "*", "null", "app.example", "https://", "https://app.example/path",
		"https://a@b", "https://app.example?x", "https://app.example#", "//app.example", "file:///x",
		"https://app example", "javascript:alert(1)"} {
		_, err := newHandler(HTTPConfig{Origins: []string{wrong}}, httpguard.Hosts{})
		assert.That(t, isSetting(err, "allow-origin"), "origin %q: %v", wrong, err)
	}
	for _, wrong := range []string{"", "*", "a:80", "[::1]:80", "a b", "http://a", "*.example", "a/b", "[x]", strings.Repeat("a", 254)} {
		_, err := newHosts("", []string{wrong}, nil)
		assert.That(t, isSetting(err, "allow-host"), "host %q: %v", wrong, err)
	}
	if h, err := newHosts("", []string{"FD00::1", "[fd00::2]", "Vault_1.example"}, nil); err != nil ||
		!h.Allow("[fd00:0::1]:80") || !h.Allow("[FD00::2]") || !h.Allow("vault_1.EXAMPLE:65535") ||
		h.Allow("vault_1.example:65536") {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestAnOriginIsWrittenAsABrowserSendsIt(t *testing.T) {
	for entry, want := range map[string]string{
		"https://App.example:443/": "https://app.example", "HTTP://app.example:80": "http://app.example", "http://app.example:443": "http://app.example:443",
		"http://[::1]:8080": "http://[::1]:8080", "http://[0:0::1]": "http://[::1]",
		"https://[FD00::A]:443": "https://[fd00::a]", "app+x://notes_1": "app+x://notes_1",
	} {
		got, err := parseOrigin(entry)
		assert.Equal(t, got, want, "%q", entry)
		assert.NoError(t, err, "%q", entry)
	}
}

func TestSettingsCanBeJudgedBeforehand(t *testing.T) {
	wrong := []error{
		CheckAddr("8765"), CheckAddr(":1"), CheckAddr("unix:x"), CheckOrigin("*"), CheckHost("a:80"),
		CheckTLS(HTTPConfig{Addr: "0.0.0.0:1"}), CheckTLS(HTTPConfig{Addr: "127.0.0.1:1", TLSCert: "/x"}), CheckTLS(HTTPConfig{Addr: "x"}),
	}
	for i, setting := range []string{"http", "http", "http", "allow-origin", "allow-host", "http", "tls-key", "http"} {
		assert.That(t, isSetting(wrong[i], setting), "%d: %v", i, wrong[i])
	}
	for i, err := range []error{
		CheckAddr("127.0.0.1:0"), CheckOrigin("https://app.example"), CheckHost("[::1]"),
		CheckTLS(HTTPConfig{Addr: "127.0.0.1:1"}), CheckTLS(HTTPConfig{Addr: "0.0.0.0:1", TLSCert: "/nowhere", TLSKey: "/nowhere"}),
	} {
		assert.That(t, err == nil, "%d: %v", i, err)
	}
}

func isSetting(err error, name string) bool {
	wrong, ok := err.(*SettingError)
	return ok && wrong.Setting == name && wrong.Hint() != "" && wrong.Code() == "bad_request" && strings.HasPrefix(fmt.Sprint(err), name)
}
