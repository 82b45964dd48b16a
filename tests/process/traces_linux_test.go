package process

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// sentTraces is a collector that keeps all it is sent.
type sentTraces struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sentTraces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.text, "%s %s\n%s\n", r.URL.Path, r.Header, body)
}

func TestTracesHoldNothingOfTheVault(t *testing.T) {
	t.Parallel()
	var sent sentTraces
	server := httptest.NewServer(&sent)
	defer server.Close()
	vault := filepath.Join(t.TempDir(), "CANARYVault")
	harness.WriteFile(t, filepath.Join(vault, "CANARY.md"), []byte("CANARY\n"))
	s := traced(t, server.URL, vault)
	for _, arguments := range []string{
		`{"command":"read","params":{"path":"CANARY.md"}}`, `{"command":"search","params":{"query":"CANARY"}}`, `{"command":"CANARY"}`,
		`{"command":"append","params":{"path":"CANARY.md","content":"CANARY"}}`, `{"command":"read","params":{"path":"CANARY-gone.md"}}`,
	} {
		s.Send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":` + arguments +
			`,"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=b","baggage":"c=CANARY"}}}`)
		s.Read()
	}
	require.NoError(t, s.End())
	got := sent.text.String()
	for _, want := range []string{"/v1/traces", `"name":"call read"`, `"name":"call search"`, `"name":"call unknown"`, `"name":"call append"`, `"name":"run"`,
		`"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"`, `"parentSpanId":"00f067aa0ba902b7"`, `"stringValue":"mutations_off"`, `"stringValue":"not_found"`} {
		assert.That(t, strings.Contains(got, want), "the collector is not told %s: %s", want, got)
	}
	for _, hidden := range []string{"CANARY", vault, filepath.Dir(vault)} {
		assert.That(t, !strings.Contains(got, hidden), "the collector is told %q: %s", hidden, got)
	}
}

// traced is a server on a vault with a collector, "" for none.
func traced(t *testing.T, endpoint, vault string) *harness.StdioServer {
	t.Helper()
	env := []string{"HOME=" + t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint}
	return harness.StartSessionWith(t, env, "--config=none", "--backend=embedded", "--vault="+vault, "--tier=v3")
}

func TestAServerHasNoNetworkUseOfItsOwn(t *testing.T) {
	t.Parallel()
	closed := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed.Close()
	for _, endpoint := range []string{"", "http://" + closed.Addr().String(), "nonsense"} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			s := traced(t, endpoint, harness.SampleVault(t))
			result := s.Result(harness.Calling("random:read"))
			assert.That(t, result.OK, "%+v", result.Error)
			for _, link := range openFiles(t, s.Process.Process.Pid) {
				assert.That(t, endpoint != "" || !strings.HasPrefix(link, "socket:"), "the server has %s open", link)
			}
			assert.NoError(t, s.End(), "it ended")
		})
	}
}

func openFiles(t *testing.T, pid int) (links []string) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		if link, err := os.Readlink(filepath.Join(folder, entry.Name())); err == nil {
			links = append(links, link)
		}
	}
	return links
}
