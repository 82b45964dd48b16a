package mcp

import (
	"fmt"
	"net"
	"net/http"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestManySessions opens as many sessions as the built server takes, with a call in each. For
// the next ones those end that were idle for longest.
func TestManySessions(t *testing.T) {
	t.Parallel()
	most := testenv.Count(100, 1000)
	vault := t.TempDir()
	harness.WriteFile(t, filepath.Join(vault, "Tides.md"), []byte("Two a day.\n"))
	s := harness.ServeHTTP(t, "--backend=embedded", "--vault="+vault, fmt.Sprintf("--max-sessions=%d", most))
	open := func() *harness.HTTPSession {
		a := require.Value(s.Connect(t.Context()))(t)
		got, err := a.Call(t.Context(), map[string]any{"command": "random:read"})
		require.Equal(t, err, nil, "%+v", got.Error)
		require.That(t, got.OK, "%+v", got.Error)
		return a
	}
	first := open()
	// Not with the pages of its program, which it returns after a moment and takes again.
	before := harness.StatusKiB(t, s.Process.Process.Pid, "RssAnon")
	second := open()
	for range most - 2 {
		open()
	}
	after := harness.StatusKiB(t, s.Process.Process.Pid, "RssAnon")
	t.Logf("%d sessions: %d KiB of memory with the first, %d KiB with all", most, before, after)
	per := (after - before) / most
	assert.That(t, per <= 48, "a session takes %d KiB", per)
	if got, err := first.Call(t.Context(), map[string]any{"command": "version"}); err != nil || !got.OK {
		t.Errorf("the first session: %+v, %v", got, err)
	}
	for range 2 {
		open()
	}
	if got, err := first.Call(t.Context(), map[string]any{"command": "version"}); err != nil || !got.OK {
		t.Errorf("the first session, which was used last: %+v, %v", got, err)
	}
	if _, err := second.Call(t.Context(), map[string]any{"command": "version"}); err == nil || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("the session that was idle for longest: %v", err)
	}
	answer, err := s.Send(t.Context(), http.MethodDelete, "", "Mcp-Session-Id", first.Session)
	require.Equal(t, err, nil, "%+v", answer)
	assert.Equal(t, answer.Status, http.StatusOK, "%+v", answer)
	open()
	assert.Equal(t, len(harness.WorkersOf(t, s.Process.Process.Pid)), 1, "the server has the children")
}

// Silent connections without a token take a share of the files that a server can have open: callers with one go on,
// also on new connections.
func TestSilentConnectionsDoNotLockCallersOut(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	harness.WriteFile(t, filepath.Join(vault, "Tides.md"), []byte("Two a day.\n"))
	s := harness.ServeHTTPWithFiles(t, 64, "--backend=embedded", "--vault="+vault, "--allow-mutations", "--tier=v1")
	for range 120 {
		silent := require.Value(net.Dial("tcp", s.Host()))(t)
		defer silent.Close()
	}
	for i := range 10 {
		a := require.Value(s.Connect(t.Context()))(t)
		got, err := a.Call(t.Context(), map[string]any{"command": "append", "params": map[string]any{"path": "Tides.md", "content": fmt.Sprint(i)}})
		require.Equal(t, err, nil, "call %d: %+v", i, got.Error)
		require.That(t, got.OK, "call %d: %+v", i, got.Error)
	}
	assert.That(t, !strings.Contains(s.Said(), "too many open files"), "the server says %s", s.Said())
}

func TestAServerAsksAtTheTerminalOfItsClient(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"a.md": "one\n", "b.md": "one\n", "c.md": "one\n"})
	r.Set("ask", `"client"`)
	r.Set("min-answer-time", `"0s"`)
	server := r.OverHTTP()
	for _, test := range []struct {
		note, typed string
		gone        bool
	}{{"a.md", "n\n", false}, {"b.md", "\n", false}, {"c.md", "y\n", true}} {
		c := osexec.Command("/bin/sh", "-c", `exec "$0" "$@" 2>/dev/tty`, harness.Binary, "run", "--url=http://"+server.Addr+"/mcp", "delete", "path="+test.note)
		c.Env = []string{"HOME=" + t.TempDir(), "TERM=dumb", "VAULTWICKET_TOKEN=" + harness.Token}
		shown, err := harness.AtTerminal(t, c, test.typed)
		assert.Contains(t, shown, `removes: "`+test.note+`"`, "typed %q", test.typed)
		assert.Contains(t, shown, "Allow this?", "typed %q", test.typed)
		if gone := r.Read(test.note) == ""; gone != test.gone || (err == nil) != test.gone ||
			!test.gone && !strings.Contains(shown, "Cancelled. Nothing was changed.") {
			t.Errorf("typed %q: %v, gone %v, shown %s", test.typed, err, gone, shown)
		}
	}
}
