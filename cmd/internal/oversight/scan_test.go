package oversight

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// scanned returns what is found in a vault with a secret in A.md, where reads of some names fail.
func scanned(t *testing.T, ctx context.Context, fails func(name string) bool) (scan, error) {
	t.Helper()
	dir := t.TempDir()
	secret := "ghp" + "_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6"
	for name, text := range map[string]string{"A.md": "x\n" + secret + "\n", "B.md": "nothing\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	folder := require.Value(disk.Open(dir))(t)
	t.Cleanup(func() { folder.Close() })
	folder.InterposeReads(func(_, name string) error {
		if fails(name) {
			return errors.New("input/output error")
		}
		return nil
	})
	var s scan
	err := s.run(ctx, folder, func(int) {})
	return s, err
}

func TestAScanSaysWhatItCouldNotRead(t *testing.T) {
	for _, test := range []struct {
		unreadable     string
		unread         string
		rows, searched int
	}{
		{"", "", 1, 2},
		{"A.md", "A.md", 0, 1},
		{"B.md", "B.md", 1, 1},
	} {
		s, err := scanned(t, t.Context(), func(name string) bool { return name == test.unreadable })
		assert.NoError(t, err)
		assert.Equal(t, strings.Join(s.unread, ","), test.unread)
		assert.Equal(t, len(s.rows), test.rows, "without %q", test.unreadable)
		assert.Equal(t, s.searched, test.searched, "without %q", test.unreadable)
		assert.Equal(t, s.status(), terminal.ExitFailed, "without %q", test.unreadable)
	}
	assert.Equal(t, (&scan{searched: 2}).status(), terminal.ExitDone)
}

func TestAScanStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := scanned(t, ctx, func(string) bool { return false })
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, s.searched, 0)
	assert.Equal(t, terminal.StatusOf(s.cancelled()), terminal.ExitInterrupted, "the exit status")
}

func TestAScanFindsSecretsInNames(t *testing.T) {
	dir := t.TempDir()
	secret := "ghp" + "_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6"
	require.NoError(t, os.Mkdir(filepath.Join(dir, "of "+secret), 0o700))
	for _, name := range []string{"key " + secret + ".png", "of " + secret + "/A.md", "B.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600))
	}
	folder := require.Value(disk.Open(dir))(t)
	defer folder.Close()
	var s scan
	require.NoError(t, s.run(t.Context(), folder, func(int) {}))
	var rows []string
	for _, row := range s.rows {
		assert.That(t, row.InName, "%v", row)
		assert.Equal(t, row.Line, 0, "%v", row)
		rows = append(rows, row.Path+" "+row.Kind)
	}
	assert.Equal(t, strings.Join(rows, ", "), "key ….png github-pat, of … github-pat")
}
