package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
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

func TestParsePath(t *testing.T) {
	tests := []struct {
		name, path string
		ok         bool
	}{
		{"a note", "a.md", true},
		{"a note in folders", "a b/ü/日本.md", true},
		{"two dots inside a name", "a..b.md", true},
		{"an emoji of several characters", "👨‍👩‍👧.md", true},
		{"nothing", "", false},
		{"an absolute path", "/a.md", false},
		{"a parent", "../a.md", false},
		{"a parent inside", "a/../b.md", false},
		{"the folder itself", "./a.md", false},
		{"an empty segment", "a//b.md", false},
		{"a slash at the end", "a/", false},
		{"a hidden file", ".a.md", false},
		{"a hidden folder", "a/.obsidian/b.json", false},
		{"a backslash", `a\b.md`, false},
		{"a line break", "a\nb.md", false},
		{"a NUL", "a\x00.md", false},
		{"a line separator", "a\u2028b.md", false},
		{"a character that turns the writing direction", "a\u202edm.exe", false},
		{"broken UTF-8", "a\xff.md", false},
		{"a segment of 255 bytes", strings.Repeat("a", 255), true},
		{"a segment of 256 bytes", strings.Repeat("a", 256), false},
		{"too many segments", strings.Repeat("a/", 200) + "a", false},
		{"too many bytes", strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", 150) + "a", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParsePath(test.path)
			assert.Equal(t, (err == nil), test.ok, "ParsePath(%q): %v", test.path, err)
		})
	}
}

func TestParseFolder(t *testing.T) {
	for text, want := range map[string]string{"": "", "/": "", "a": "a", "a/": "a", "a/b/": "a/b"} {
		got, err := ParseFolder(text)
		assert.That(t, err == nil && got.String() == want, "ParseFolder(%q) = %q, %v", text, got, err)
	}
	for _, text := range []string{"//", "a//", "/a", "..", ".git"} {
		got, err := ParseFolder(text)
		assert.That(t, err != nil, "ParseFolder(%q) = %q", text, got)
	}
}

func TestPartsOfAPath(t *testing.T) {
	tests := []struct{ path, stem, ext string }{
		{"a/b.md", "b", "md"}, {"v1.2 notes.md", "v1.2 notes", "md"}, {"a.b/LICENSE", "LICENSE", ""}, {"x.tar.gz", "x.tar", "gz"},
	}
	for _, test := range tests {
		p := mustPath(t, test.path)
		assert.That(t, p.Stem() == test.stem && p.Ext() == test.ext, "%s: stem %q, extension %q", test.path, p.Stem(), p.Ext())
	}
}

func TestUnportableNames(t *testing.T) {
	for name, want := range map[string]bool{
		"2026-11-21.md": true, "a (b) [c].md": true, "COM10.md": true, "console.md": true, "com.md": true, "100%.md": true,
		"a: b.md": false, "a?.md": false, "a#b.md": false, "a^b.md": false, "a|b.md": false, "a[[b": false, "a%%b": false, "CON.md": false,
		"com1": false, "nul.txt": false, "a.": false, "a ": false, " a.md": false, "LPT².md": false,
	} {
		assert.Equal(t, (unportable(name) == ""), want, "%q", name)
	}
}

func FuzzCanonicalPath(f *testing.F) {
	for _, seed := range []string{"a.md", "../x", "a/./b", `\\host\x`, "C:x", "a\x00", "/etc/passwd", "a/..", "...", "NUL", ".obsidian/app.json", strings.Repeat("a/", 300)} {
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
		assert.That(t, err == nil && filepath.ToSlash(inside) == text, "%q leads to %q", text, inside)
		for _, segment := range strings.Split(text, "/") {
			assert.That(t, !strings.HasPrefix(segment, ".") && segment != "", "%q has the segment %q", text, segment)
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
		assert.That(t, errors.As(err, &refusal) && refusal.Reason == reason && IsMissing(err), "%s: %v, want %q", path, err, reason)
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
			size += e.Size()
		}
	})
	assert.That(t, err == nil && size == 6, "sizes add up to %d, %v", size, err)
}

func TestEditKeepsTheModeAndAnswersBothTexts(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "old"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "n.md"), 0o640))
	before, after, err := openFolder(t, dir).Edit(mustPath(t, "n.md"), func(text []byte) []byte { return append(text, "+"...) })
	require.That(t, err == nil && string(before) == "old" && string(after) == "old+", "%q, %q, %v", before, after, err)
	info, err := os.Stat(filepath.Join(dir, "n.md"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestEditRefusesWhatSomebodyElseChanged(t *testing.T) {
	for name, meddle := range map[string]func(path string) error{
		"longer":       func(path string) error { return os.WriteFile(path, []byte("theirs, longer"), 0o644) },
		"as long":      func(path string) error { return os.WriteFile(path, []byte("odl"), 0o644) },
		"removed":      os.Remove,
		"now a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, map[string]string{"n.md": "old"})
			_, _, err := openFolder(t, dir).Edit(mustPath(t, "n.md"), func([]byte) []byte {
				require.NoError(t, meddle(filepath.Join(dir, "n.md")))
				return []byte("ours")
			})
			assert.ErrorIs(t, err, ErrChanged, "error")
			text, err := os.ReadFile(filepath.Join(dir, "n.md"))
			assert.That(t, err != nil || string(text) != "ours", "their text was overwritten")
			left := temporaries(t, dir)
			assert.That(t, len(left) == 0, "left %q", left)
		})
	}
}

func TestEditRefusesReadOnlyNotesAndLinks(t *testing.T) {
	dir := planted(t, map[string]string{"locked.md": "old", "real.md": "old"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "locked.md"), 0o444))
	if err := os.Symlink("real.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	folder := openFolder(t, dir)
	for path, reason := range map[string]string{"locked.md": "is read-only", "link.md": "is a symbolic link"} {
		_, _, err := folder.Edit(mustPath(t, path), func([]byte) []byte { return []byte("new") })
		var refusal *Refusal
		assert.That(t, errors.As(err, &refusal) && refusal.Reason == reason, "%s: %v", path, err)
	}
	assert.ErrorIs(t, folder.Make(mustPath(t, "link.md"), []byte("new")), fs.ErrExist, "making a note in the place of a link")
	text, _ := os.ReadFile(filepath.Join(dir, "real.md"))
	assert.Equal(t, string(text), "old", "the link's target became %q", text)
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
		assert.ErrorIs(t, folder.Make(mustPath(t, "n.md"), []byte("ours")), fs.ErrExist, "%+v", can)
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
		err := folder.Make(mustPath(t, path), nil)
		assert.That(t, errors.As(err, &refusal), "%s: %v", path, err)
	}
	left, _ := os.ReadDir(dir)
	assert.That(t, len(left) == 0, "made %v", left)
	plant(t, dir, map[string]string{"Notes #1/old.md": ""})
	assert.NoError(t, folder.Make(mustPath(t, "Notes #1/new.md"), nil), "a folder that has such a name already")
}

func TestWritesAtTheSameTimeAllArrive(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock on folders here")
	}
	const writers = 20
	dir := planted(t, map[string]string{"n.md": ""})
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			folder, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer folder.Close()
			_, _, err = folder.Edit(mustPath(t, "n.md"), func(text []byte) []byte { return append(text, 'x') })
			assert.NoError(t, err)
		})
	}
	group.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "n.md"))
	assert.That(t, err == nil && len(text) == writers, "%d of %d writes arrived, %v", len(text), writers, err)
}

func TestConfig(t *testing.T) {
	folder := openFolder(t, planted(t, map[string]string{".obsidian/app.json": "{}"}))
	text, err := folder.Config("app.json")
	assert.That(t, err == nil && string(text) == "{}", "%q, %v", text, err)
	_, err = folder.Config("none.json")
	assert.ErrorIs(t, err, fs.ErrNotExist, "a missing file")
	_, err = openFolder(t, t.TempDir()).Config("app.json")
	assert.ErrorIs(t, err, fs.ErrNotExist, "a missing settings folder")
}

// Edit replaces the note at p by what change makes of it, and returns its bytes before and
// after. It has the errors of Read, and ErrChanged. change must not modify its argument.
func (f *Folder) Edit(p Path, change func([]byte) []byte) (before, after []byte, err error) {
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	file, err := f.in(dir).open(p.base())
	if err != nil {
		return nil, nil, err
	}
	before, err = readAll(file, MaxNote)
	file.Close()
	if err == nil && f.judge.judges(p) && f.judge.closes(before) {
		err = missing(p)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := mayReplace(p, file.Info); err != nil {
		return nil, nil, err
	}
	after = change(before)
	if err := checkSize(p, after); err != nil {
		return nil, nil, err
	}
	return before, after, f.replace(dir, p, before, after, file.Info.Mode().Perm())
}

// Size returns the size of a file in bytes; 0 if it is gone by now.
func (e Entry) Size() int64 {
	stamp, err := e.Stamp()
	if err != nil {
		return 0
	}
	return stamp.Size
}
