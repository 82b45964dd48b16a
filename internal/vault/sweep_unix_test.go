//go:build unix

package vault_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
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

// The next process that writes removes what a killed one left, once it is old
// enough. One that only reads removes nothing.
func TestWhatAKilledWriterLeftIsRemoved(t *testing.T) {
	h := embedded.New(t, map[string]string{"n.md": "text", "A/B/x.md": "x"})
	h.Env["XDG_STATE_HOME"] = stateHome(t)
	const tries = 100
	for n := 0; !killWhileWriting(t, h); n++ {
		require.That(t, n != tries, "none of %d writers was killed in time", tries)
	}
	expect := func(when string, left bool, words ...string) {
		t.Helper()
		h.Does(words...)
		got := temporaryFiles(t, h)
		assert.That(t, len(got) > 0 == left, "%s: %q are left", when, got)
	}
	expect("a write while it is young", true, "append", "path=n.md", "content=1")
	h.Later = time.Hour
	expect("a read", true, "read", "path=n.md")
	expect("a dry run", true, call.PlanSwitch, "append", "path=n.md", "content=2")
	expect("a write", false, "append", "path=n.md", "content=3")

	// A file that no journal knows of is left to a worker.
	h.Put("A/.vaultwicket-0123456789abcdef.tmp", "from elsewhere")
	expect("a write that does not look", true, "append", "path=n.md", "content=4")
	w := h.Worker()
	got := w.Ask(nil, "read", "path=n.md")
	assert.That(t, got.End.Status == answer.ExitDone && len(temporaryFiles(t, h)) == 1, "a worker that reads: %+v, %q", got, temporaryFiles(t, h))
	got = w.Ask(nil, "append", "path=n.md", "content=5")
	assert.That(t, got.End.Status == answer.ExitDone && len(temporaryFiles(t, h)) == 0, "a worker that writes: %+v, %q", got, temporaryFiles(t, h))
}

// What cannot be swept yet is not forgotten: a second writer that is killed while
// the first one's files are young leaves its own to the same search.
func TestASecondKilledWriterIsNotForgotten(t *testing.T) {
	h := embedded.New(t, map[string]string{"n.md": "text"})
	h.Env["XDG_STATE_HOME"] = stateHome(t)
	v := require.Value(h.Host().Open(t.Context(), h.Dir, protocol.Request{}))(t)
	j := require.Value(v.Journal())(t)
	unlock := require.Value(j.Lock(t.Context()))(t)
	_ = j.Writing() // and killed
	unlock()
	left := h.File(".vaultwicket-0123456789abcdef.tmp")
	h.Later = 11 * time.Minute
	soon := time.Now().Add(5 * time.Minute) // the file of the second one
	h.Put(filepath.Base(left), "second")
	require.NoError(t, os.Chtimes(left, soon, soon))
	h.Expect(answer.ExitDone, "Appended to: n.md\n", "append", "path=n.md", "content=1")
	assert.That(t, len(temporaryFiles(t, h)) == 1, "a young file is removed")
	h.Later = 20 * time.Minute
	h.Expect(answer.ExitDone, "Appended to: n.md\n", "append", "path=n.md", "content=2")
	got := temporaryFiles(t, h)
	assert.That(t, len(got) == 0, "%q are left", got)
	_, killed := j.Interrupted()
	assert.That(t, !killed, "the journal still tells of a killed writer")
}
