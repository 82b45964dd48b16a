package streamable

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/tests/require"
)

// BenchmarkCall is a whole call over one connection: "http" through all checks,
// "bare" by mcp-go alone.
func BenchmarkCall(b *testing.B) {
	b.Run("http", func(b *testing.B) {
		ctx, stop := context.WithCancel(context.Background())
		urls, done := make(chan string, 1), make(chan error, 1)
		go func() {
			done <- Serve(ctx, Config{Server: newToy().server, Addr: "127.0.0.1:0", Token: goodToken}, func(url string) { urls <- url })
		}()
		benchmarkCalls(b, <-urls)
		stop()
		<-done
	})
	b.Run("bare", func(b *testing.B) {
		l := http.Server{Handler: server.NewStreamableHTTPServer(newToy().server.MCP)}
		at := require.Value(listener(b.Context(), Config{}, address{network: "tcp", text: "127.0.0.1:0", host: "127.0.0.1"}))(b)
		done := make(chan error, 1)
		go func() { done <- l.Serve(at) }()
		benchmarkCalls(b, "http://"+at.Addr().String()+endpoint)
		l.Close()
		<-done
	})
}

func benchmarkCalls(b *testing.B, url string) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	body, headers := modernCall(1, "who", "{}")
	b.ReportAllocs()
	for b.Loop() {
		q := require.Value(http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body)))(b)
		q.Header.Set("Authorization", "Bearer "+goodToken)
		q.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			q.Header.Set(headers[i], headers[i+1])
		}
		answer := require.Value(transport.RoundTrip(q))(b)
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		require.That(b, answer.StatusCode == http.StatusOK, "%v", answer.Status)
	}
}
