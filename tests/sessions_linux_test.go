package tests

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAThousandSessions opens as many sessions as the built server takes by
// default, with a call in each. For the next ones those end that were idle for
// longest.
func TestAThousandSessions(t *testing.T) {
	t.Parallel()
	most := 1000
	if testing.Short() {
		most = 200
	}
	vault := t.TempDir()
	writeFile(t, filepath.Join(vault, "Tides.md"), []byte("Two a day.\n"))
	s := serveHTTP(t, "--backend=embedded", "--vault="+vault, fmt.Sprintf("--max-sessions=%d", most))
	open := func() *agent {
		a, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.call(t.Context(), map[string]any{"command": "random:read"})
		if err != nil || !got.OK {
			t.Fatalf("%+v, %v", got.Error, err)
		}
		return a
	}
	first := open()
	before := memoryKiB(t, s.process.Process.Pid)
	second := open()
	for range most - 2 {
		open()
	}
	after := memoryKiB(t, s.process.Process.Pid)
	t.Logf("%d sessions: %d KiB of memory with the first, %d KiB with all", most, before, after)
	if per := (after - before) / most; per > 48 {
		t.Errorf("a session takes %d KiB", per)
	}
	if got, err := first.call(t.Context(), map[string]any{"command": "version"}); err != nil || !got.OK {
		t.Errorf("the first session: %+v, %v", got, err)
	}
	for range 2 {
		open()
	}
	if got, err := first.call(t.Context(), map[string]any{"command": "version"}); err != nil || !got.OK {
		t.Errorf("the first session, which was used last: %+v, %v", got, err)
	}
	if _, err := second.call(t.Context(), map[string]any{"command": "version"}); err == nil || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("the session that was idle for longest: %v", err)
	}
	if answer, err := s.send(t.Context(), http.MethodDelete, "", "Mcp-Session-Id", first.session); err != nil || answer.status != http.StatusOK {
		t.Errorf("%+v, %v", answer, err)
	}
	open()
	if workers := workersOf(t, s.process.Process.Pid); len(workers) != 1 {
		t.Errorf("the server has the children %v", workers)
	}
}

// memoryKiB is the memory of a process in KiB.
func memoryKiB(t *testing.T, pid int) (kib int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fmt.Sscan(rest, &kib)
	return kib
}
