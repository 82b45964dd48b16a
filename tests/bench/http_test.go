package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// BenchmarkHTTP measures calls over HTTP with 1, 10 and 100 clients at once, each
// with a session of its own: to the app's client, of which each call is a start,
// against bare starts of that client side by side as many as there are clients;
// and to the resident worker, which starts nothing. Run it with -benchtime 2000x.
func BenchmarkHTTP(b *testing.B) {
	client := program(b, "obsidian")
	for _, clients := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("starts/%d", clients), func(b *testing.B) {
			s := serveHTTP(b, "--backend=obsidian", "--cli="+client, "--tier=v1", "--max-parallel=64")
			calls := s.load(b, clients, "random:read")
			bare := load(b, clients, func(int) { bareStart(b, client, "random:read") })
			report(b, calls)
			b.ReportMetric(bare.perSecond, "bare-starts/s")
			b.ReportMetric(calls.perSecond/bare.perSecond, "throughput/bare")
		})
		b.Run(fmt.Sprintf("worker/%d", clients), func(b *testing.B) {
			s := serveHTTP(b, "--backend=embedded", "--vault="+smallVault(b), "--tier=v1", "--max-parallel=64")
			report(b, s.load(b, clients, "random:read"))
		})
	}
}

// BenchmarkSessions reports the memory of the server with 1,000 sessions, each of
// which was opened by a handshake and made a call.
func BenchmarkSessions(b *testing.B) {
	for b.Loop() {
		s := serveHTTP(b, "--backend=embedded", "--vault="+smallVault(b), "--tier=v1")
		rest := memory(s.process.Process.Pid, "VmRSS")
		for range 1000 {
			c := s.connect(b)
			c.call(b, "random:read")
			c.close()
		}
		full := memory(s.process.Process.Pid, "VmRSS")
		b.ReportMetric(float64(rest)/1024, "rest-MiB")
		b.ReportMetric(float64(full)/1024, "sessions-MiB")
		b.ReportMetric(float64(full-rest)/1000, "KiB/session")
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
	require.That(b, err == nil && s.url != "", "url %q, token: %v", s.url, err)
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
	header, _ := c.post(b, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}})
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
	assert.That(b, err == nil && resp.StatusCode == http.StatusOK, "%s: %s %s %v", method, resp.Status, answer, err)
	return resp.Header, answer
}

func (s *httpServer) load(b *testing.B, clients int, command string) loaded {
	sessions := make([]*httpClient, clients)
	for i := range sessions {
		sessions[i] = s.connect(b)
		sessions[i].call(b, command)
	}
	return load(b, clients, func(i int) { sessions[i].call(b, command) })
}

// loaded is what came of doing something many times.
type loaded struct {
	perSecond     float64
	p50, p95, p99 time.Duration
}

// load does something b.N times, side by side.
func load(b *testing.B, side int, do func(i int)) loaded {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, side)
	var running sync.WaitGroup
	begun := time.Now()
	for i := range side {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				took[i] = append(took[i], timed(func() { do(i) }))
			}
		})
	}
	running.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[min(len(all)-1, len(all)*percent/100)] }
	return loaded{float64(len(all)) / time.Since(begun).Seconds(), at(50), at(95), at(99)}
}

func report(b *testing.B, l loaded) {
	b.ReportMetric(l.perSecond, "calls/s")
	b.ReportMetric(ms(l.p50), "ms/p50")
	b.ReportMetric(ms(l.p95), "ms/p95")
	b.ReportMetric(ms(l.p99), "ms/p99")
}
