//go:build unix

package vault_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// temporaryFiles are the files of this program that are left in a vault.
func temporaryFiles(t *testing.T, h *embedded.Vault) (names []string) {
	t.Helper()
	err := filepath.WalkDir(h.Dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a writer is faster
		}
		if strings.HasSuffix(path, ".tmp") {
			names = append(names, path)
		}
		return err
	})
	require.NoError(t, err)
	return names
}

// killWhileWriting kills a process with a large note half written, and reports
// whether it left a temporary file: the kill may come too late. The process runs in
// short steps and stops while the test looks.
func killWhileWriting(t *testing.T, h *embedded.Vault) bool {
	t.Helper()
	c := start(t, "3", h.Dir, call.WriteSwitch, "--stdin", "content", "create", "path=A/B/large.md", "overwrite")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.stdin.WriteString(strings.Repeat("a line of a large note\n", 1<<20))
		c.stdin.Close()
		_, _ = c.process.Wait()
	}()
	for {
		select {
		case <-ended:
			return false
		case <-time.After(200 * time.Microsecond):
		}
		_ = c.process.Signal(syscall.SIGSTOP)
		if len(temporaryFiles(t, h)) > 0 {
			_ = c.process.Kill()
			<-ended
			return len(temporaryFiles(t, h)) > 0
		}
		_ = c.process.Signal(syscall.SIGCONT)
	}
}

// The next process that can write removes what a killed one left, at once. One that only reads removes nothing, and says so.
func TestWhatAKilledWriterLeftIsRemoved(t *testing.T) {
	for _, next := range []struct {
		name  string
		words []string
		left  bool
	}{
		{"a read", []string{"read", "path=n.md"}, true},
		{"a dry run", []string{call.PlanSwitch, "append", "path=n.md", "content=2"}, true},
		{"a write", []string{call.WriteSwitch, "append", "path=n.md", "content=3"}, false},
		{"a read with the right to write", []string{call.WriteSwitch, "read", "path=n.md"}, false},
	} {
		h := embedded.New(t, map[string]string{"n.md": "text", "A/B/x.md": "x"})
		h.Env["XDG_STATE_HOME"] = stateHome(t)
		const tries = 100
		for n := 0; !killWhileWriting(t, h); n++ {
			require.That(t, n != tries, "none of %d writers was killed in time", tries)
		}
		at := h.Host()
		status, out, told := embedded.Called(at, append([]string{h.Dir}, next.words...)...)
		at.Close()
		assert.Equal(t, status, answer.ExitDone, "%s: %s", next.name, out)
		assert.Equal(t, len(temporaryFiles(t, h)) > 0, next.left, "%s: temporary files are left", next.name)
		assert.Equal(t, strings.Contains(told, "broken off"), next.left, "%s says %q", next.name, told)
	}
}

// A worker settles it before it answers anything.
func TestAWorkerSettlesWhatWasBrokenOff(t *testing.T) {
	h := embedded.New(t, map[string]string{"n.md": "text", "A/B/x.md": "x"})
	h.Env["XDG_STATE_HOME"] = stateHome(t)
	for !killWhileWriting(t, h) {
	}
	w := h.Worker()
	got := w.Ask(nil, "read", "path=n.md")
	assert.Equal(t, got.End.Status, answer.ExitDone)
	assert.Equal(t, len(temporaryFiles(t, h)), 0, "temporary files")
}
