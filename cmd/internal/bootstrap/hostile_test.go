package bootstrap

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// serving returns a server that answers each call with a page.
func serving(t *testing.T, page func(n int) map[string]any) (s *RemoteServer, asked *int) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": map[string]any{"structuredContent": page(n)}})
		n++
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return &RemoteServer{URL: server.URL}, &n
}

// TestPagesWithoutEndAreNotCollected: a server that always has one more page is not asked for all of them.
func TestPagesWithoutEndAreNotCollected(t *testing.T) {
	for _, size := range []int{0, 4 << 20} {
		text := strings.Repeat("x", size)
		s, asked := serving(t, func(n int) map[string]any {
			return map[string]any{"ok": true, "stdout": text, "truncated": map[string]any{"cursor": fmt.Sprint(n)}}
		})
		_, err := s.Do(t.Context(), gateway.Request{Command: "files"})
		require.That(t, err != nil, "pages of %d bytes: %v", size, err)
		assert.Contains(t, err.Error(), "more than", "pages of %d bytes: %v", size, err)
		require.That(t, *asked <= maxPages, "pages of %d bytes: %d were fetched", size, *asked)
		assert.That(t, *asked*size <= 2*maxWhole, "pages of %d bytes: %d were fetched", size, *asked)
	}
}

// TestAServerSendsNoControls: nothing of an answer is obeyed by a terminal, in whatever form it comes.
func TestAServerSendsNoControls(t *testing.T) {
	const evil = "a\x1b[2Jb\u009b31mc\u202ed"
	s, _ := serving(t, func(int) map[string]any {
		return map[string]any{"ok": true, "stdout": evil, "notices": []string{evil}, "error": map[string]any{"code": evil, "message": evil, "hint": evil}}
	})
	result, err := s.Do(t.Context(), gateway.Request{Command: "files"})
	assert.NoError(t, err)
	all, _ := json.Marshal(result)
	for _, sign := range []string{`\u001b`, "\x1b", "\u009b", "\u202e"} {
		assert.That(t, !strings.Contains(string(all), sign), "%q is in %s", sign, all)
	}
	assert.That(t, strings.HasPrefix(result.Stdout, "a"), "the text is %q", result.Stdout)
}
