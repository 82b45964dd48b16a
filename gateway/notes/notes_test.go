package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vaultwicket/tests/require"
)

func TestFolders(t *testing.T) {
	vault := t.TempDir()
	for _, path := range []string{"b/c", "a", ".obsidian", "b/d"} {
		require.NoError(t, os.MkdirAll(filepath.Join(vault, path), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(vault, "note.md"), nil, 0o600))
	_ = os.Symlink(t.TempDir(), filepath.Join(vault, "outside")) // not on every system
	for path, want := range map[string][]string{"": {"a", "b"}, "b": {"c", "d"}, "a": nil} {
		if names, more, err := Folders(vault, path, 10); !slices.Equal(names, want) || more || err != nil {
			t.Errorf("%q: %q, %v, %v", path, names, more, err)
		}
	}
	if names, more, err := Folders(vault, "", 1); !slices.Equal(names, []string{"a"}) || !more || err != nil {
		t.Errorf("one: %q, %v, %v", names, more, err)
	}
	for _, path := range []string{"..", "../x", "note.md", "missing", "outside", "/etc"} {
		if names, _, err := Folders(vault, path, 10); err == nil {
			t.Errorf("%q: %q", path, names)
		}
	}
	if _, _, err := Folders("", "", 10); err == nil {
		t.Error("folders of an unknown vault")
	}
}

func TestANoteIsReadByItsHash(t *testing.T) {
	vault := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(vault, "a.md"), []byte("milk"), 0o600))
	sum := sha256.Sum256([]byte("milk"))
	if text, ok := WithHash(vault, "a.md", hex.EncodeToString(sum[:])); text != "milk" || !ok {
		t.Errorf("%q, %v", text, ok)
	}
	for _, path := range []string{"a.md", "b.md", "../a.md"} {
		if _, ok := WithHash(vault, path, "other"); ok {
			t.Errorf("%q has another hash", path)
		}
	}
}
