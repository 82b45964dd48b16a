package harness

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Token is what a client of the servers of these tests must know.
const Token = "Th1s-0ne.Op3ns_nothing~but+the/doors-of-tests-0"

// Endpoint is where MCP is served over HTTP, as a client sees it.
type Endpoint struct {
	T             *testing.T
	Network, Addr string
	Client        *http.Client
	Token         string // that its requests carry
}

// NewEndpoint returns the site at an address as the server names it.
func NewEndpoint(t *testing.T, url string) *Endpoint {
	s := &Endpoint{T: t, Token: Token, Network: "tcp", Addr: strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")}
	if path, ok := strings.CutPrefix(url, "unix:"); ok {
		s.Network = "unix"
		s.Addr = path
	}
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, s.Network, s.Addr)
	}}
	s.Client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(s.Client.CloseIdleConnections)
	return s
}

// As is the site for a client with another token.
func (s *Endpoint) As(token string) *Endpoint {
	other := *s
	other.Token = token
	return &other
}

// Host is the name by which a client of the site calls it.
func (s *Endpoint) Host() string {
	if s.Network == "unix" {
		return "localhost"
	}
	return s.Addr
}

// Request is one that a client of MCP sends. Headers are pairs; one with the
// value "" is left out.
func (s *Endpoint) Request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.Host()+path, strings.NewReader(body))
	if err != nil {
		panic(err) // of the test itself
	}
	all := append([]string{"Authorization", "Bearer " + s.Token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream"}, headers...)
	for i := 0; i < len(all); i += 2 {
		r.Header.Del(all[i])
		if all[i+1] != "" {
			r.Header.Set(all[i], all[i+1])
		}
		if all[i] == "Host" {
			r.Host = all[i+1]
		}
	}
	return r
}

// Events reads the messages of an answer one after the other, whether it is a
// document or a stream, until yield is false.
func Events(response *http.Response, yield func(message string) bool) error {
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		text, err := io.ReadAll(response.Body)
		if len(text) > 0 {
			yield(string(bytes.TrimSuffix(text, []byte("\n"))))
		}
		return err
	}
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		message, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "data: ")
		switch {
		case ok && !yield(message):
			return nil
		case !ok && line != "\n" && line != "event: message\n":
			return fmt.Errorf("the stream has the line %q", line)
		}
	}
}

// HTTPServer is the built server, serving HTTP.
type HTTPServer struct {
	*Endpoint
	Process *osexec.Cmd
	ended   chan error

	mu  sync.Mutex
	log strings.Builder // what it said on standard error
}

// ServeHTTP starts the server, on a port of its choice unless the flags name an
// address, and waits until it listens. It is killed at the end of the test.
func ServeHTTP(t *testing.T, flags ...string) *HTTPServer {
	t.Helper()
	return ServeHTTPIn(t, t.TempDir(), flags...)
}

func ServeHTTPIn(t *testing.T, home string, flags ...string) *HTTPServer {
	t.Helper()
	s := newHTTPServer(home, flags...)
	s.start(t)
	return s
}

// ServeHTTPWithFiles is ServeHTTP for a server that can have only so many files open. It needs a shell.
func ServeHTTPWithFiles(t *testing.T, files int, flags ...string) *HTTPServer {
	t.Helper()
	s := newHTTPServer(t.TempDir(), flags...)
	limited := fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, files)
	env := s.Process.Env
	s.Process = osexec.Command("/bin/sh", append([]string{"-c", limited}, s.Process.Args...)...)
	s.Process.Env = env
	s.start(t)
	return s
}

func newHTTPServer(home string, flags ...string) *HTTPServer {
	s := &HTTPServer{ended: make(chan error, 1)}
	if !slices.ContainsFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, "--http=") }) {
		flags = append(flags, "--http=127.0.0.1:0")
	}
	s.Process = osexec.Command(Binary, append([]string{"serve", "--config=none", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)
	s.Process.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "VAULTWICKET_TOKEN="+Token, "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00")
	return s
}

// start starts the process and waits until it listens.
func (s *HTTPServer) start(t *testing.T) {
	t.Helper()
	messages := require.Value(s.Process.StderrPipe())(t)
	require.NoError(t, s.Process.Start())
	urls := make(chan string, 1)
	read := make(chan struct{})
	go func() { defer close(read); s.listen(messages, urls) }()
	t.Cleanup(func() { s.Process.Process.Kill(); <-s.ended })
	go func() { <-read; s.ended <- s.Process.Wait(); close(s.ended) }()
	url, ok := <-urls
	if !ok {
		t.Fatalf("the server does not serve: %s", s.Said())
	}
	s.Endpoint = NewEndpoint(t, url)
}

// listen takes in what the server says, and where it serves.
func (s *HTTPServer) listen(messages io.Reader, urls chan<- string) {
	defer close(urls)
	told := false
	for lines := bufio.NewScanner(messages); lines.Scan(); {
		s.mu.Lock()
		fmt.Fprintln(&s.log, lines.Text())
		s.mu.Unlock()
		_, rest, _ := strings.Cut(lines.Text(), "vaultwicket: serving ")
		if url, _, ok := strings.Cut(rest, ","); ok && !told {
			told = true
			urls <- url
		}
	}
}

func (s *HTTPServer) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Wait waits for the end of the server.
func (s *HTTPServer) Wait() error {
	s.T.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(Deadline):
		s.T.Fatalf("the server goes on; its log:\n%s", s.Said())
		return nil
	}
}
