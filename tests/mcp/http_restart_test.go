package mcp

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestSessionsEndWithARestart(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"a.md": "one\n"})
	flags := []string{"--backend=embedded", "--tier=v1", "--vault=" + r.Vault}
	first := harness.ServeHTTPIn(t, r.Home, flags...)
	session := require.Value(first.Connect(t.Context()))(t)
	read := map[string]any{"command": "read", "params": map[string]any{"path": "a.md"}}
	if got, err := session.Call(t.Context(), read); err != nil || got.Stdout != "one\n" {
		t.Fatalf("%+v, %v", got, err)
	}
	require.NoError(t, first.Process.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, first.Wait(), "the server ended")
	second := harness.ServeHTTPIn(t, r.Home, append(flags, "--http="+first.Addr)...)
	require.Equal(t, second.Addr, first.Addr, "it serves")
	answer, err := second.Send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":9,"method":"ping"}`, "Mcp-Session-Id", session.Session)
	if err != nil || answer.Status != http.StatusNotFound || !strings.Contains(answer.Body, "send initialize for a new one") {
		t.Errorf("the session of before: %+v, %v", answer, err)
	}
	again := require.Value(second.Connect(t.Context()))(t)
	if got, err := again.Call(t.Context(), read); err != nil || got.Stdout != "one\n" {
		t.Errorf("a new session: %+v, %v", got, err)
	}
	assert.Equal(t, r.Stateless(second).Do(harness.Calling("read", "path=a.md")).Stdout, "one\n", "without a session")
}
