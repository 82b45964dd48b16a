package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// BenchmarkHTTP measures calls over HTTP to the resident worker with 10 clients at once, each
// with a session of its own. Run it with -benchtime 2000x.
func BenchmarkHTTP(b *testing.B) {
	b.Run("worker/10", func(b *testing.B) {
		s := serveHTTP(b, "--backend=embedded", "--vault="+smallVault(b), "--tier=v1", "--max-parallel=64")
		sessions := make([]*httpClient, 10)
		for i := range sessions {
			sessions[i] = s.connect(b)
			sessions[i].call(b, "random:read")
		}
		var left atomic.Int64
		left.Store(int64(b.N))
		var running sync.WaitGroup
		begun := time.Now()
		for _, session := range sessions {
			running.Go(func() {
				for left.Add(-1) >= 0 {
					session.call(b, "random:read")
				}
			})
		}
		running.Wait()
		b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "calls/s")
	})
}

// BenchmarkSessions reports the memory of the server with 1,000 sessions, each of
// which was opened by a handshake and made a call.
func BenchmarkSessions(b *testing.B) {
	for b.Loop() {
		s := serveHTTP(b, "--backend=embedded", "--vault="+smallVault(b), "--tier=v1")
		for range 1000 {
			c := s.connect(b)
			c.call(b, "random:read")
			c.close()
		}
		b.ReportMetric(float64(memory(s.process.Process.Pid, "VmRSS"))/1024, "sessions-MiB")
	}
}

// httpServer is a vaultwicket that serves HTTP.
type httpServer struct {
	process    *exec.Cmd
	url, token string
	home       string // the state is in it
}

func serveHTTP(b *testing.B, flags ...string) *httpServer {
	b.Helper()
	home := b.TempDir()
	token := filepath.Join(home, "private", "token")
	require.NoError(b, os.Mkdir(filepath.Dir(token), 0o700))
	cmd := exec.Command(program(b, "vaultwicket"), append([]string{
		"serve", "--rate=0", "--http=127.0.0.1:0", "--token-file=" + token,
	}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "VAULTWICKET_CONFIG=none")
	messages := require.Value(cmd.StderrPipe())(b)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s := &httpServer{process: cmd, home: home}
	lines := bufio.NewScanner(messages)
	for s.url == "" && lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "http://"); found {
			s.url = "http://" + strings.FieldsFunc(url, func(r rune) bool { return r == ' ' || r == ',' || r == '"' })[0]
		}
	}
	go io.Copy(io.Discard, messages)
	text, err := os.ReadFile(token)
	require.Equal(b, err, nil, "the url is %q", s.url)
	require.That(b, s.url != "", "the url is %q", s.url)
	s.token = strings.TrimSpace(string(text))
	return s
}

// httpClient is one agent with a session.
type httpClient struct {
	*httpServer
	client  *http.Client
	session string
	id      atomic.Int64
}

func (s *httpServer) connect(b *testing.B) *httpClient {
	b.Helper()
	c := &httpClient{httpServer: s, client: &http.Client{Transport: &http.Transport{}}}
	header, _ := c.post(b, "initialize",
		map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "bench", "version": "1"}})
	c.session = header.Get("Mcp-Session-Id")
	return c
}

func (c *httpClient) close() { c.client.CloseIdleConnections() }

func (c *httpClient) call(b *testing.B, command string) {
	_, answer := c.post(b, "tools/call", callParams(command))
	assert.That(b, bytes.Contains(answer, []byte(`"ok":true`)), "the call was answered with %s", answer)
}

func (c *httpClient) post(b *testing.B, method string, params any) (http.Header, []byte) {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id.Add(1), "method": method, "params": params})
	req, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return nil, nil
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		b.Error(err)
		return nil, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.Equal(b, err, nil, "%s: %s %s %v", method, resp.Status, answer, err)
	assert.Equal(b, resp.StatusCode, http.StatusOK, "%s: %s %s %v", method, resp.Status, answer, err)
	return resp.Header, answer
}
