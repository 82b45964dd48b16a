package change_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAChangeThatCannotBeKeptIsNotMade(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text\n"})
	folder := filepath.Join(h.Env["XDG_STATE_HOME"], "vaultwicket")
	require.NoError(t, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "journal"), nil, 0o600)))
	status, out, stderr := h.Run("--facts", "append", "path=a.md", "content=x")
	if status != answer.ExitFailed || !strings.HasPrefix(out, "Error: Nothing was changed, because the journal cannot keep it: ") || h.Get("a.md") != "text\n" {
		t.Errorf("status %d, %q; the note is %q", status, out, h.Get("a.md"))
	}
	_, _, failure := embedded.CutReport(stderr)
	assert.Equal(t, failure.Code, protocol.CodeStateUnavailable, "reported as %+v", failure)
	assert.That(t, failure.Hint != "", "reported as %+v", failure)
}

func TestAnotherWriterIsAConflict(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text\n"})
	unlock := require.Value(h.Journal().Lock(context.Background()))(t)
	defer unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	status, out, _ := embedded.Asked(ctx, h.Host(), "", []string{h.Dir, call.WriteSwitch, "append", "path=a.md", "content=x"})
	want := "Error: Conflict: another program changes notes of the vault. Nothing was changed.\n"
	assert.Equal(t, status, answer.ExitFailed, "want %q", want)
	assert.Equal(t, out, want)
}
