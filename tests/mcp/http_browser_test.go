package mcp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// countingClient writes a client of the app that notes each of its starts, and
// returns it with how to count them.
func countingClient(t *testing.T) (client string, starts func() int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the client is a script")
	}
	folder := t.TempDir()
	client, log := filepath.Join(folder, "obsidian"), filepath.Join(folder, "starts")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nif [ \"$1\" = version ]; then echo '1.12.7 (installer 1.12.7)'; exit; fi\necho 'Note.md'\necho text\n",
		log)
	testenv.WriteProgram(t, client, []byte(script))
	return client, func() int {
		text, _ := os.ReadFile(log) // there is none before the first start
		return strings.Count(string(text), "\n")
	}
}

// visit is a request that a page can have a browser send. A page chooses the
// method, the body and, within limits, the headers; the browser adds the rest.
type visit struct {
	what, method string
	kind         string // the Content-Type, "" for none
	origin       string // as the browser writes it; "" where it sends none
	site         string // Sec-Fetch-Site
	host         string // "" for that of the server
	headers      []string
	asked        bool // the browser asks before, so that it can carry a token
}

// visits are all the ways. ours is the address of the server.
func visits(ours string) []visit {
	_, port, _ := net.SplitHostPort(ours)
	const evil = "https://evil.example"
	rebound := "evil.example:" + port
	all := []visit{
		{what: "a request in no mode", method: "POST", kind: "text/plain;charset=UTF-8", origin: evil, site: "cross-site"},
		{what: "a beacon", method: "POST", kind: "text/plain;charset=UTF-8", origin: evil, site: "cross-site",
			headers: []string{"Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "empty"}},
		{what: "a form", method: "POST", kind: "application/x-www-form-urlencoded", origin: evil, site: "cross-site",
			headers: []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-User", "?1"}},
		{what: "a form that hides where it stands", method: "POST", kind: "text/plain", origin: "null", site: "cross-site"},
		{what: "an image", method: "GET", site: "cross-site", headers: []string{"Accept", "image/*", "Sec-Fetch-Dest", "image"}},
		{what: "a page of a sister site", method: "POST", kind: "text/plain", origin: "http://sister.localhost:" + port, site: "same-site"},
		{what: "an event source", method: "GET", origin: evil, site: "cross-site", headers: []string{"Accept", "text/event-stream"}},
		{what: "a web socket", method: "GET", origin: evil, site: "cross-site",
			headers: []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
				"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}},
		{what: "a name that leads to us since", method: "POST", kind: "application/json", origin: "http://" + rebound,
			site: "same-origin", host: rebound, asked: true},
		{what: "the same, and nothing told", method: "GET", site: "same-origin", host: rebound, headers: []string{"Accept", "text/event-stream"}, asked: true},
		{what: "a name with a dot at its end", method: "GET", site: "same-origin", host: "evil.example.:" + port, asked: true},
		{what: "a name that begins like ours", method: "GET", site: "same-origin", host: "127.0.0.1.evil.example:" + port, asked: true},
	}
	for _, origin := range []string{evil, "null", "http://localhost:3000", "http://" + ours, "chrome-extension://abcdefghijklmnop"} {
		all = append(all,
			visit{what: "what is asked before, from " + origin, method: "POST", kind: "application/json", origin: origin, site: "cross-site", asked: true},
			visit{what: "the end of a session, from " + origin, method: "DELETE", origin: origin, site: "cross-site", asked: true},
			visit{what: "the question before, from " + origin, method: "OPTIONS", origin: origin, site: "cross-site",
				headers: []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers",
					"authorization,content-type,mcp-method", "Access-Control-Request-Private-Network", "true"}})
	}
	return all
}

// wanted is the rule, said once more: a name or an origin that is not ours, or a
// word of the browser that the page is of another site, is 403; who comes as from
// nowhere has no token.
func (v visit) wanted() int {
	if v.host != "" || v.origin != "" || v.site != "" && v.site != "none" && v.site != "same-origin" {
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

// send writes the request as a browser does, byte by byte, and returns the answer.
func (v visit) send(t *testing.T, addr, body string) *http.Response {
	t.Helper()
	conn := require.Value(net.Dial("tcp", addr))(t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(harness.Deadline))
	host := v.host
	if host == "" {
		host = addr
	}
	if v.method == http.MethodGet || v.method == http.MethodOptions {
		body = ""
	}
	head := fmt.Sprintf("%s /mcp HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0\r\nContent-Length: %d\r\n", v.method, host, len(body))
	for i := 0; i < len(v.headers); i += 2 {
		head += v.headers[i] + ": " + v.headers[i+1] + "\r\n"
	}
	for name, value := range map[string]string{"Content-Type": v.kind, "Origin": v.origin, "Sec-Fetch-Site": v.site} {
		if value != "" {
			head += name + ": " + value + "\r\n"
		}
	}
	if _, err := io.WriteString(conn, head+"\r\n"+body); err != nil {
		t.Fatalf("%s: %v", v.what, err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.That(t, err == nil, "%s: %v", v.what, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.Equal(t, err, nil, "%s: got as far as a message: %q", v.what, text)
	assert.NotContains(t, string(text), "jsonrpc", "%s: got as far as a message", v.what)
	return answer
}

// A page of a browser starts nothing, learns nothing, and is asked by its browser
// in vain, whatever it sends, even when it knows the token and a session. The
// messages are those that need no other one before: one is enough to do harm.
func TestWhatAPageOfABrowserReaches(t *testing.T) {
	t.Parallel()
	client, starts := countingClient(t)
	s := harness.ServeHTTP(t, "--backend=obsidian", "--shadow=private", "--cli="+client)
	a := require.Value(s.Connect(t.Context()))(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"daily:path"}%s}}`
	stateless, inSession := fmt.Sprintf(call, ","+harness.ModernMeta), fmt.Sprintf(call, "")
	tried := 0
	for _, v := range visits(s.Addr) {
		variants := []visit{v}
		if older := v; older.origin != "" { // browsers of some years ago
			older.site = ""
			older.what += ", from an older browser"
			variants = append(variants, older)
		}
		for _, v := range variants {
			bodies := map[string][]string{stateless: nil}
			if v.asked { // and let through by a browser that does not ask
				bodies[stateless] = []string{"Authorization", "Bearer " + harness.Token, "MCP-Protocol-Version",
					"2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli"}
				bodies[inSession] = []string{"Authorization", "Bearer " + harness.Token, "Mcp-Session-Id", a.Session}
			}
			for body, more := range bodies {
				tried++
				sent := v
				sent.headers = slices.Concat(v.headers, more)
				answer := sent.send(t, s.Addr, body)
				assert.Equal(t, answer.StatusCode, v.wanted(), "%s: status", v.what)
				for name := range answer.Header {
					if strings.HasPrefix(name, "Access-Control-") || name == "Mcp-Session-Id" || name == "Set-Cookie" || name == "Upgrade" {
						t.Errorf("%s: is answered with %s", v.what, name)
					}
				}
			}
		}
	}
	n := starts()
	assert.That(t, n <= 0, "pages started the client %d times", n)
	// The session lives, and the client can be started.
	if got, err := a.Call(t.Context(), map[string]any{"command": "daily:path"}); err != nil || !got.OK || starts() == 0 {
		t.Errorf("the call of an agent: %+v, %v, %d starts", got.Error, err, starts())
	}
	t.Logf("%d requests of pages", tried)
}
