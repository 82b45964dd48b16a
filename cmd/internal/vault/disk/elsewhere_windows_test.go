package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// TestWhatIsInTheCloudIsFetchedForItsReaderOnly: a walk leaves it, a read by its path does
// not. The attribute is the one that a file has whose content was moved away.
func TestWhatIsInTheCloudIsFetchedForItsReaderOnly(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"Here.md", "Away.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("text"), 0o600))
	}
	away, err := windows.UTF16PtrFromString(filepath.Join(folder, "Away.md"))
	require.NoError(t, err)
	require.NoError(t, windows.SetFileAttributes(away, windows.FILE_ATTRIBUTE_OFFLINE))
	if now, err := windows.GetFileAttributes(away); err != nil || now&windows.FILE_ATTRIBUTE_OFFLINE == 0 {
		t.Skipf("this file system does not keep the attribute: %x, %v", now, err)
	}
	f := openFolder(t, folder)
	met := map[string]error{}
	require.NoError(t, f.Walk(Path{}, func(e Entry) { _, _, met[e.Path.String()] = e.Read() }))
	assert.That(t, met["Here.md"] == nil && errors.Is(met["Away.md"], system.ErrElsewhere), "read on a walk: %v", met)
	if _, _, err := f.ReadHere(mustPath(t, "Away.md")); !errors.Is(err, system.ErrElsewhere) {
		t.Errorf("by its path, but for no one: %v", err)
	}
	if text, err := f.Read(mustPath(t, "Away.md")); err != nil || string(text) != "text" {
		t.Errorf("for its reader: %q, %v", text, err)
	}
}
