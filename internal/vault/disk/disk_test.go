package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// plant writes files, given by path and text, into dir.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
}

// planted returns a folder with files, given by path and text.
func planted(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	plant(t, dir, files)
	return dir
}

func openFolder(t testing.TB, dir string) *Folder {
	t.Helper()
	folder := require.Value(Open(dir))(t)
	t.Cleanup(func() { folder.Close() })
	return folder
}

func mustPath(t testing.TB, text string) Path {
	t.Helper()
	return require.Value(ParsePath(text))(t)
}

func TestParseFolder(t *testing.T) {
	for text, want := range map[string]string{"": "", "/": "", "a": "a", "a/": "a", "a/b/": "a/b"} {
		got, err := ParseFolder(text)
		require.Equal(t, err, nil, "ParseFolder(%q) = %q", text, got)
		assert.Equal(t, got.String(), want, "ParseFolder(%q) = %q", text, got)
	}
	for _, text := range []string{"//", "a//", "/a", "..", ".git"} {
		got, err := ParseFolder(text)
		assert.That(t, err != nil, "ParseFolder(%q) = %q", text, got)
	}
}

func FuzzCanonicalPath(f *testing.F) {
	for _, seed := range []string{"a.md", "../x", "a/./b", `\\host\x`, "C:x", "a\x00", "/etc/passwd", "a/..", "...",
		"NUL", ".obsidian/app.json", strings.Repeat("a/", 300)} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			return
		}
		assert.That(t, path.String() == text, "%q became %q", text, path)
		inside, err := filepath.Rel(dir, filepath.Join(dir, filepath.FromSlash(text)))
		require.Equal(t, err, nil, "%q leads to %q", text, inside)
		assert.Equal(t, filepath.ToSlash(inside), text, "%q leads to %q", text, inside)
		for _, segment := range strings.Split(text, "/") {
			assert.That(t, !strings.HasPrefix(segment, "."), "%q has the segment %q", text, segment)
			assert.That(t, segment != "", "%q has the segment %q", text, segment)
		}
	})
}

func TestAnAcceptedPathStaysInside(t *testing.T) {
	outer := t.TempDir()
	plant(t, outer, map[string]string{"secret.md": "secret", "vault/in.md": "in", "vault/.obsidian/app.json": "{}"})
	folder := openFolder(t, filepath.Join(outer, "vault"))
	piece := rapid.SampledFrom([]string{"..", ".", "/", "secret.md", "in.md", ".obsidian", "app.json", "vault", `\`, ""})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "pieces"), rapid.SampledFrom([]string{"", "/"}).Draw(t, "glue"))
		path, err := ParsePath(text)
		if err != nil {
			return
		}
		got, err := folder.Read(path)
		require.That(t, err != nil || string(got) == "in", "%q read %q", text, got)
	})
}

func TestOnlyRegularFilesThatAreInsideAreOpened(t *testing.T) {
	outer := t.TempDir()
	plant(t, outer, map[string]string{
		"secret.md": "secret", "vault/real.md": "real", "vault/folder/a.md": "a", "vault/.obsidian/app.json": "{}",
	})
	vault := filepath.Join(outer, "vault")
	for name, to := range map[string]string{
		"out.md": "../secret.md", "absolute.md": filepath.Join(outer, "secret.md"), "in.md": "real.md",
		"settings": ".obsidian", "up": "..", "dangling.md": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(vault, name)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	folder := openFolder(t, vault)
	for path, reason := range map[string]string{
		"out.md": "is a symbolic link", "absolute.md": "is a symbolic link", "in.md": "is a symbolic link", "dangling.md": "is a symbolic link",
		"settings/app.json": "is not a folder", "up/secret.md": "is not a folder", "folder": "is a folder", "real.md/x": "is not a folder",
	} {
		_, err := folder.Open(mustPath(t, path))
		var refusal *Refusal
		require.That(t, errors.As(err, &refusal), "%s: %v, want %q", path, err, reason)
		assert.Equal(t, refusal.Reason, reason, "%s: %v", path, err)
		assert.That(t, IsMissing(err), "%s: %v, want %q", path, err, reason)
	}
	_, err := folder.Open(mustPath(t, "nothing.md"))
	assert.ErrorIs(t, err, fs.ErrNotExist, "a file that is not there")
	assert.EqualSlices(t, walked(t, folder, Path{}), []string{"folder/", "folder/a.md", "real.md"}, "the walk met")
}

// walked returns what a walk meets, folders with a slash, sorted by bytes.
func walked(t *testing.T, folder *Folder, under Path) []string {
	t.Helper()
	require.NoError(t, folder.Walk(under, func(Entry) {}))
	return entries(t, folder.Walk, under)
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"a.md": "12345", "b/c/d.md": "1", "b/.hidden/x.md": "", ".git/config": "", "b/.x": "", "LICENSE": "",
	}
	if runtime.GOOS != "windows" {
		files["back\\slash.md"], files["line\nbreak.md"] = "", ""
	}
	plant(t, dir, files)
	folder := openFolder(t, dir)
	assert.EqualSlices(t, walked(t, folder, Path{}), []string{"LICENSE", "a.md", "b/", "b/c/", "b/c/d.md"}, "the whole vault")
	assert.EqualSlices(t, walked(t, folder, mustPath(t, "b/c")), []string{"b/c/d.md"}, "a folder")
	for _, path := range []string{"nothing", "a.md"} {
		err := folder.Walk(mustPath(t, path), func(Entry) {})
		assert.That(t, IsMissing(err), "walking %s: %v", path, err)
	}
	var size int64
	err := folder.Walk(Path{}, func(e Entry) {
		if !e.IsDir {
			size += require.Value(e.Stamp())(t).Size
		}
	})
	require.Equal(t, err, nil, "sizes add up to %d", size)
	assert.Equal(t, size, 6, "sizes add up to %d", size)
}

func TestASwapKeepsTheMode(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "old"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "n.md"), 0o640))
	require.NoError(t, swap(openFolder(t, dir), mustPath(t, "n.md"), []byte("old"), []byte("old+")))
	info := require.Value(os.Stat(filepath.Join(dir, "n.md")))(t)
	assert.That(t, runtime.GOOS == "windows" || info.Mode().Perm() == 0o640, "mode %v", info.Mode())
}

func TestASwapRefusesWhatAnotherProgramChanged(t *testing.T) {
	for name, meddle := range map[string]func(path string) error{
		"longer":       func(path string) error { return os.WriteFile(path, []byte("theirs, longer"), 0o644) },
		"as long":      func(path string) error { return os.WriteFile(path, []byte("odl"), 0o644) },
		"removed":      os.Remove,
		"now a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, map[string]string{"n.md": "old"})
			folder, asked := openFolder(t, dir), 0
			folder.Interpose(func(string) error { // the first call is after the first look at the note
				if asked++; asked > 1 {
					return nil
				}
				return meddle(filepath.Join(dir, "n.md"))
			})
			assert.ErrorIs(t, swap(folder, mustPath(t, "n.md"), []byte("old"), []byte("ours")), ErrChanged, "error")
			text, err := os.ReadFile(filepath.Join(dir, "n.md"))
			assert.That(t, err != nil || string(text) != "ours", "their text was overwritten")
			left := temporaries(t, dir)
			assert.That(t, len(left) == 0, "left %q", left)
		})
	}
}

func TestALinkIsNotReplaced(t *testing.T) {
	dir := planted(t, map[string]string{"real.md": "old"})
	if err := os.Symlink("real.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	folder := openFolder(t, dir)
	err := swap(folder, mustPath(t, "link.md"), []byte("old"), []byte("new"))
	assert.That(t, !wrong(err, "link.md", "is a symbolic link"), "swap: %v", err)
	assert.ErrorIs(t, makeNote(folder, mustPath(t, "link.md"), []byte("new")), fs.ErrExist, "making a note in the place of a link")
	text, _ := os.ReadFile(filepath.Join(dir, "real.md"))
	assert.Equal(t, string(text), "old", "the link's target")
}

func TestMakeNeverReplaces(t *testing.T) {
	for _, can := range []faulty{{}, {noMove: true}, {noMove: true, noLink: true}} {
		dir := t.TempDir()
		folder := openFolder(t, dir)
		folder.sys = can.calls(system.Patient)
		without := folder.sys.Around
		folder.sys.Around = func(call func() error, method string, names ...string) error { // right before it would be published
			if method == "Move" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "n.md"), []byte("theirs"), 0o644))
			}
			return without(call, method, names...)
		}
		assert.ErrorIs(t, makeNote(folder, mustPath(t, "n.md"), []byte("ours")), fs.ErrExist, "%+v", can)
		text, _ := os.ReadFile(filepath.Join(dir, "n.md"))
		assert.Equal(t, string(text), "theirs", "%+v: their note became %q", can, text)
		left := temporaries(t, dir)
		assert.That(t, len(left) == 0, "left %q", left)
	}
}

func TestMakeRefusesNewNamesThatDoNotTravel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of devices are refused earlier there, as paths")
	}
	dir := t.TempDir()
	folder := openFolder(t, dir)
	for _, path := range []string{"sub/a#b.md", "sub#/a.md", "nul/a.md"} {
		var refusal *Refusal
		err := makeNote(folder, mustPath(t, path), nil)
		assert.That(t, errors.As(err, &refusal), "%s: %v", path, err)
	}
	left, _ := os.ReadDir(dir)
	assert.That(t, len(left) == 0, "made %v", left)
	plant(t, dir, map[string]string{"Notes #1/old.md": ""})
	assert.NoError(t, makeNote(folder, mustPath(t, "Notes #1/new.md"), nil), "a folder that has such a name already")
}

func TestAWriteWaitsForThatOfAnotherProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock on folders here")
	}
	dir, note := planted(t, map[string]string{"n.md": "old"}), mustPath(t, "n.md")
	_, leave, err := openFolder(t, dir).lockedParent(note)
	require.NoError(t, err)
	written, other := make(chan error, 1), openFolder(t, dir)
	go func() { written <- swap(other, note, []byte("old"), []byte("new")) }()
	select {
	case <-written:
		t.Fatal("it does not wait")
	case <-time.After(20 * time.Millisecond):
	}
	leave()
	assert.NoError(t, <-written)
}

func TestConfig(t *testing.T) {
	folder := openFolder(t, planted(t, map[string]string{".obsidian/app.json": "{}"}))
	text, err := folder.Config("app.json")
	require.Equal(t, err, nil, "%q", text)
	assert.Equal(t, string(text.ForProgram()), "{}", "%q", text)
	_, err = folder.Config("none.json")
	assert.ErrorIs(t, err, fs.ErrNotExist, "a missing file")
	_, err = openFolder(t, t.TempDir()).Config("app.json")
	assert.ErrorIs(t, err, fs.ErrNotExist, "a missing settings folder")
}

// Files that become durable together share the lock of their folder: they are changed at once, and others wait for the last
// of them.
func TestChangesThatBelongTogetherShareTheLockOfAFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock on folders here")
	}
	dir, note := planted(t, map[string]string{"n.md": "old", "o.md": "old"}), mustPath(t, "n.md")
	together, _ := openFolder(t, dir).Gathering()
	_, leaveFirst, err := together.lockedParent(note)
	require.NoError(t, err)
	_, leaveSecond, err := together.lockedParent(mustPath(t, "o.md"))
	require.NoError(t, err)
	written, other := make(chan error, 1), openFolder(t, dir)
	go func() { written <- swap(other, note, []byte("old"), []byte("new")) }()
	leaveFirst()
	select {
	case <-written:
		t.Fatal("it does not wait for the second")
	case <-time.After(20 * time.Millisecond):
	}
	leaveSecond()
	assert.NoError(t, <-written)
}
