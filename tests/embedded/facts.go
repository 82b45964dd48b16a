package embedded

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Snapshot describes every file and folder of the vault, hidden ones included.
func (h *Vault) Snapshot() string {
	var folders []string
	require.NoError(h.T, filepath.WalkDir(h.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, strings.TrimPrefix(path, h.Dir))
		}
		return err
	}))
	return fmt.Sprintf("%q %s", folders, h.Tree())
}

// CutReport separates what --facts prints from the end of standard error.
func CutReport(stderr string) (rest string, facts protocol.Facts, failure protocol.Failure) {
	lines := strings.TrimSuffix(stderr, "\n")
	start := strings.LastIndexByte(lines, '\n') + 1
	var report struct {
		protocol.Facts
		protocol.Failure
	}
	text, found := strings.CutPrefix(lines[start:], "vaultwicket-facts: ")
	if !found || json.Unmarshal([]byte(text), &report) != nil {
		return stderr, facts, failure
	}
	return stderr[:start], report.Facts, report.Failure
}

// Failure returns what a call reports to the gateway.
func (h *Vault) Failure(args ...string) protocol.Failure {
	h.T.Helper()
	status, _, stderr := h.Run(append([]string{"--facts"}, args...)...)
	_, _, failure := CutReport(stderr)
	assert.That(h.T, status != answer.ExitDone, "%q: status %d, %q", args, status, stderr)
	assert.That(h.T, failure.Code != "", "%q: status %d, %q", args, status, stderr)
	return failure
}

// FactsOf returns the facts of the answer to a call that succeeded.
func FactsOf(t *testing.T, s Said) protocol.Facts {
	t.Helper()
	require.That(t, s.End.Status == answer.ExitDone, "%+v", s)
	_, facts, _ := CutReport(s.Stderr)
	return facts
}

// Exists reports whether something is at a path of the machine.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
