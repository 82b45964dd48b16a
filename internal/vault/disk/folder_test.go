package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A folder that is another one by the time it is open is not entered, and does
// not stay open.
func TestAFolderThatWasReplacedIsNotEntered(t *testing.T) {
	dir := planted(t, map[string]string{"a/n.md": "a", "b/n.md": "b"})
	info := func(name string) fs.FileInfo { return require.Value(os.Lstat(filepath.Join(dir, name)))(t) }
	open := func() *os.Root {
		sub := require.Value(os.OpenRoot(filepath.Join(dir, "a")))(t)
		t.Cleanup(func() { sub.Close() })
		return sub
	}
	sub := open()
	got, err := unlessReplaced(sub, info("a"), "a")
	assert.Equal(t, got, sub, "the same folder")
	assert.NoError(t, err, "the same folder")
	var refusal *Refusal
	got, err = unlessReplaced(sub, info("b"), "a")
	assert.That(t, got == nil, "another folder: %v, %v", got, err)
	require.That(t, errors.As(err, &refusal), "another folder: %v, %v", got, err)
	assert.Equal(t, err.Error(), `"a" was replaced while it was opened`, "another folder: %v, %v", got, err)
	_, err = sub.Stat(".")
	assert.ErrorIs(t, err, fs.ErrClosed, "another folder is still open")
	got, err = unlessReplaced(sub, info("a"), "a")
	assert.That(t, got == nil, "a folder that cannot be looked at: %v, %v", got, err)
	assert.ErrorIs(t, err, fs.ErrClosed, "a folder that cannot be looked at: %v", got)
}

func TestInfoIsThatOfTheFolderWhereverItIs(t *testing.T) {
	outer := t.TempDir()
	plant(t, outer, map[string]string{"vault/a.md": ""})
	folder := openFolder(t, filepath.Join(outer, "vault"))
	if err := os.Rename(filepath.Join(outer, "vault"), filepath.Join(outer, "moved")); err != nil {
		t.Skip("an open folder cannot be moved here")
	}
	want := require.Value(os.Stat(filepath.Join(outer, "moved")))(t)
	got, err := folder.Info()
	require.Equal(t, err, nil, "%v", got)
	assert.That(t, os.SameFile(got, want), "%v", got)
}

func TestAClosedFolder(t *testing.T) {
	folder := require.Value(Open(planted(t, map[string]string{"a/n.md": "text"})))(t)
	require.NoError(t, folder.Close())
	for name, try := range map[string]func() error{
		"Info":  func() error { _, err := folder.Info(); return err },
		"enter": func() error { _, err := folder.enter(nil); return err },
		"place": func() error { _, err := folder.place(nil); return err },
		"Open":  func() error { _, err := folder.Open(mustPath(t, "a/n.md")); return err },
		"Read":  func() error { _, err := folder.Read(mustPath(t, "a/n.md")); return err },
		"Walk":  func() error { return folder.Walk(Path{}, func(Entry) {}) },
	} {
		assert.ErrorIs(t, try(), fs.ErrClosed, "%s", name)
	}
}

// The file of patterns is read like a note: nothing but a regular file is.
func TestIgnored(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "text"})
	folder, name := openFolder(t, dir), filepath.Join(dir, ".vaultwicketignore")
	text, err := folder.Ignored()
	assert.ErrorIs(t, err, fs.ErrNotExist, "without the file: %q", text)
	assert.That(t, text == nil, "without the file: %q, %v", text, err)
	var refusal *Refusal
	if os.Symlink("n.md", name) == nil {
		text, err := folder.Ignored()
		assert.That(t, errors.As(err, &refusal), "a link: %q, %v", text, err)
		assert.That(t, text == nil, "a link: %q, %v", text, err)
		os.Remove(name)
	}
	require.NoError(t, os.WriteFile(name, []byte("private/\n"), 0o644))
	text, err = folder.Ignored()
	require.NoError(t, err)
	assert.Equal(t, string(text), "private/\n")
}

// The limits in bytes, written out.
func TestSizeLimits(t *testing.T) {
	dir := planted(t, map[string]string{"note.md": "", ".obsidian/most.json": "", ".obsidian/more.json": "", ".vaultwicketignore": ""})
	for name, size := range map[string]int64{"note.md": 134_217_729, ".obsidian/most.json": 16_777_216,
		".obsidian/more.json": 16_777_217, ".vaultwicketignore": 61_441} {
		if os.Truncate(filepath.Join(dir, name), size) != nil {
			t.Skip("no sparse files here")
		}
	}
	folder := openFolder(t, dir)
	var size *SizeError
	_, err := folder.Read(mustPath(t, "note.md"))
	require.That(t, errors.As(err, &size), "a note: %v", err)
	assert.Equal(t, size.Limit, 134_217_728, "a note: %v", err)
	text, err := folder.Config("most.json")
	require.Equal(t, err, nil, "settings as large as can be: %d bytes", len(text.ForProgram()))
	assert.Equal(t, len(text.ForProgram()), 16_777_216, "settings as large as can be: %d bytes", len(text.ForProgram()))
	_, err = folder.Config("more.json")
	require.That(t, errors.As(err, &size), "settings that are larger: %v", err)
	assert.Equal(t, size.Limit, 16_777_216, "settings that are larger: %v", err)
	_, err = folder.Ignored()
	require.That(t, errors.As(err, &size), "patterns: %v", err)
	assert.Equal(t, size.Limit, 61_440, "patterns: %v", err)
	require.That(t, os.Truncate(filepath.Join(dir, ".vaultwicketignore"), 61_440) == nil, "cannot be made shorter")
	patterns, err := folder.Ignored()
	require.Equal(t, err, nil, "patterns as large as can be: %d bytes", len(patterns))
	assert.Equal(t, len(patterns), 61_440, "patterns as large as can be: %d bytes", len(patterns))
}
