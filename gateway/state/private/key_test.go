package private

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/tests/require"
)

func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	key := Key(dir, "a.key")
	if again := Key(dir, "a.key"); len(key) != keySize || !bytes.Equal(again, key) {
		t.Errorf("%x and %x", key, again)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.key"), []byte("short"), 0o600))
	if bytes.Equal(Key(dir, "a.key"), Key(dir, "a.key")) {
		t.Error("a key that cannot be read is the same twice")
	}
}
