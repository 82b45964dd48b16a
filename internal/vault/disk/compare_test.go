package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A change of thousands of small notes compares each of them several times: that takes about as much memory as a note
// has, and no buffer for long files.
func TestASmallFileIsComparedInLittleMemory(t *testing.T) {
	const most = 4 << 10 // bytes for one comparison of a note of a few bytes
	text := []byte("a short note\n")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.md"), text, 0o600))
	folder := require.Value(Open(dir))(t)
	defer folder.Close()
	path := require.Value(ParsePath("a.md"))(t)
	sum := sha256.Sum256(text)
	for name, content := range map[string]Content{
		"by its text": Text(text),
		"by its hash": Sum(hex.EncodeToString(sum[:]), int64(len(text))),
	} {
		const times = 200
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			require.NoError(t, folder.Unchanged(path, content))
		}
		runtime.ReadMemStats(&after)
		each := (after.TotalAlloc - before.TotalAlloc) / times
		assert.That(t, each < most, "%s: %d bytes", name, each)
	}
}

// A file that has another text, a longer one or a shorter one is not the expected one, however it is compared.
func TestAnotherTextIsNoticed(t *testing.T) {
	text := []byte("0123456789")
	sum := sha256.Sum256(text)
	for _, content := range []Content{Text(text), Sum(hex.EncodeToString(sum[:]), int64(len(text)))} {
		for now, want := range map[string]error{
			"0123456789": nil, "0123456780": ErrChanged, "01234567890": ErrChanged, "012345678": ErrChanged, "": ErrChanged,
		} {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte(now), 0o600))
			folder := require.Value(Open(dir))(t)
			path := require.Value(ParsePath("a.md"))(t)
			assert.Equal(t, folder.Unchanged(path, content), want, "%q", now)
			folder.Close()
		}
	}
}
