package disk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// contents returns the texts of all files in dir, hidden ones included, by path.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	require.NoError(t, err)
	return files
}

func TestChanges(t *testing.T) {
	a, b, deep := mustPath(t, "a.md"), mustPath(t, "b.md"), mustPath(t, "new/deep/a.md")
	hidden := func(name string) Path { return Path{text: name} }
	text := []byte("text")
	start := map[string]string{"a.md": "text", "b.md": "other", "f/c.md": "", ".trash/x.md": "gone"}
	tests := []struct {
		name string
		act  func(f *Folder) error
		want error             // one of errors.Is, nil if it is done
		tree map[string]string // what differs afterwards; "-" is gone
	}{
		{"a swap replaces what is expected", func(f *Folder) error { return swap(f, a, text, []byte("new")) }, nil, map[string]string{"a.md": "new"}},
		{"a swap of something else is refused", func(f *Folder) error { return swap(f, b, text, nil) }, ErrChanged, nil},
		{"a swap of nothing is refused", func(f *Folder) error { return swap(f, deep, nil, text) }, fs.ErrNotExist, nil},
		{"a removal removes what is expected", func(f *Folder) error { return remove(f, a, Text(text)) }, nil, map[string]string{"a.md": "-"}},
		{"a removal of something else is refused", func(f *Folder) error { return remove(f, b, Text(text)) }, ErrChanged, nil},
		{"a folder is not removed", func(f *Folder) error { return remove(f, mustPath(t, "f"), Text(nil)) }, ErrChanged, nil},
		{"a removal of nothing is refused", func(f *Folder) error { return remove(f, mustPath(t, "f/no.md"), Text(nil)) }, ErrChanged, nil},
		{"a move makes folders", func(f *Folder) error { return f.Move(a, deep, Text(text)) }, nil, map[string]string{"a.md": "-", "new/deep/a.md": "text"}},
		{"a move of something else is refused", func(f *Folder) error { return f.Move(b, deep, Text(text)) }, ErrChanged, nil},
		{"a move of nothing is refused", func(f *Folder) error { return f.Move(mustPath(t, "no.md"), deep, Text(text)) }, ErrChanged, nil},
		{"a move never replaces", func(f *Folder) error { return f.Move(a, b, Text(text)) }, fs.ErrExist, nil},
		{"a move never goes into a folder of that name", func(f *Folder) error { return f.Move(a, mustPath(t, "f"), Text(text)) }, fs.ErrExist, nil},
		{"the case of letters alone can change",
			func(f *Folder) error { return f.Move(a, mustPath(t, "A.md"), Text(text)) }, nil,
			map[string]string{"a.md": "-", "A.md": "text"}},
		{"the trash is flat, a taken name gets a number", func(f *Folder) error {
			name, err := trash(f, a, Text(text))
			return errors.Join(err, expectName(name, "a.md"))
		}, nil, map[string]string{"a.md": "-", ".trash/a.md": "text"}},
		{"twice the same name", func(f *Folder) error {
			for i, want := range []string{"a.md", "a 1.md", "a 2.md"} {
				if i > 0 {
					if err := makeNote(f, a, text); err != nil {
						return err
					}
				}
				name, err := trash(f, a, Text(text))
				if err := errors.Join(err, expectName(name, want)); err != nil {
					return err
				}
			}
			return nil
		}, nil, map[string]string{"a.md": "-", ".trash/a.md": "text", ".trash/a 1.md": "text", ".trash/a 2.md": "text"}},
		{"something else does not go into the trash", func(f *Folder) error { _, err := trash(f, b, Text(text)); return err }, ErrChanged, nil},
		{"out of the trash", func(f *Folder) error { return f.Untrash("x.md", deep, Text([]byte("gone"))) }, nil,
			map[string]string{".trash/x.md": "-", "new/deep/a.md": "gone"}},
		{"what was changed in the trash stays there", func(f *Folder) error { return f.Untrash("x.md", deep, Text(text)) }, ErrChanged, nil},
		{"nothing comes out of the trash over a file", func(f *Folder) error { return f.Untrash("x.md", b, Text([]byte("gone"))) }, fs.ErrExist, nil},
		{"what is not in the trash", func(f *Folder) error { return f.Untrash("y.md", deep, Text(nil)) }, ErrChanged, nil},
		{"the bookmarks are made with their folder", func(f *Folder) error { return makeNote(f, Bookmarks(), text) },
			nil, map[string]string{".obsidian/bookmarks.json": "text"}},
		{"an intermediate folder that is hidden",
			func(f *Folder) error { return swap(f, hidden(".trash/x.md"), []byte("gone"), text) }, nil,
			map[string]string{".trash/x.md": "text"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := planted(t, start)
			err := test.act(openFolder(t, dir))
			assert.ErrorIs(t, err, test.want)
			assert.That(t, test.want != nil || err == nil, "error %v, want %v", err, test.want)
			want := map[string]string{}
			for _, files := range []map[string]string{start, test.tree} {
				for path, text := range files {
					want[path] = text
					if text == "-" {
						delete(want, path)
					}
				}
			}
			got := contents(t, dir)
			assert.That(t, maps.Equal(got, want), "the tree is %q, want %q", got, want)
		})
	}
}

func expectName(got, want string) error {
	if got != want {
		return errors.New("it is called " + got)
	}
	return nil
}

func TestChangesThatAreRefused(t *testing.T) {
	dir := planted(t, map[string]string{"a.md": "text", "ro.md": "text", "f/x.md": ""})
	require.NoError(t, os.Chmod(filepath.Join(dir, "ro.md"), 0o444))
	f := openFolder(t, dir)
	for _, test := range []struct {
		name, want string
		err        error
	}{
		{"a read-only note", `"ro.md" is read-only`, swap(f, mustPath(t, "ro.md"), []byte("text"), nil)},
		{"a name that does not travel", `contains '?'`, f.Move(mustPath(t, "a.md"), mustPath(t, "a?.md"), Text([]byte("text")))},
		{"a path in the trash", `is not the name of a file`, f.Untrash("../a.md", mustPath(t, "b.md"), Text([]byte("text")))},
		{"a folder of the trash", `is not the name of a file`, f.Untrash("..", mustPath(t, "b.md"), Text(nil))},
	} {
		var refusal *Refusal
		require.That(t, errors.As(test.err, &refusal), "%s: %v", test.name, test.err)
		assert.Contains(t, test.err.Error(), test.want, "%s: %v", test.name, test.err)
	}
	got := contents(t, dir)
	assert.Equal(t, len(got), 3, "the tree is %q", got)
	assert.Equal(t, got["a.md"], "text", "the tree is %q", got)
}

func TestAFileComesBackFromTheTrashAsItWas(t *testing.T) {
	dir := planted(t, map[string]string{"a.md": "text"})
	full := filepath.Join(dir, "a.md")
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, errors.Join(os.Chmod(full, 0o600), os.Chtimes(full, then, then)))
	f := openFolder(t, dir)
	name, err := trash(f, mustPath(t, "a.md"), Text([]byte("text")))
	if err == nil {
		err = f.Untrash(name, mustPath(t, "a.md"), Text([]byte("text")))
	}
	info, also := os.Stat(full)
	require.NoError(t, errors.Join(err, also))
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || !info.ModTime().Equal(then) {
		t.Errorf("mode %v, time %v", info.Mode(), info.ModTime())
	}
}

// A trash that leads elsewhere would take notes out of the vault.
func TestATrashThatIsALinkIsRefused(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"a.md": "text"})
	if err := os.Symlink(elsewhere, filepath.Join(dir, trashFolder)); err != nil {
		t.Skip(err)
	}
	_, err := trash(openFolder(t, dir), mustPath(t, "a.md"), Text([]byte("text")))
	var refusal *Refusal
	assert.That(t, errors.As(err, &refusal), "error %v", err)
	assert.Equal(t, len(contents(t, elsewhere)), 0, "error %v", err)
}

func TestEveryFaultOfAChangeLeavesTheOldOrTheNew(t *testing.T) {
	a, deep := mustPath(t, "a.md"), mustPath(t, "new/deep/b.md")
	start := map[string]string{"a.md": oldText, ".trash/x.md": oldText}
	tests := []struct {
		name   string
		act    func(*Folder) error
		after  map[string]string
		both   map[string]string // only when the process ends in between
		target string
	}{
		{"swap", func(f *Folder) error { return swap(f, a, []byte(oldText), []byte(newText)) },
			map[string]string{"a.md": newText, ".trash/x.md": oldText}, nil, ""},
		{"remove", func(f *Folder) error { return remove(f, a, Text([]byte(oldText))) }, map[string]string{".trash/x.md": oldText}, nil, ""},
		{
			"move", func(f *Folder) error { return f.Move(a, deep, Text([]byte(oldText))) },
			map[string]string{"new/deep/b.md": oldText, ".trash/x.md": oldText},
			map[string]string{"a.md": oldText, "new/deep/b.md": oldText, ".trash/x.md": oldText}, "new/deep/b.md",
		},
		{
			"trash", func(f *Folder) error { _, err := trash(f, a, Text([]byte(oldText))); return err },
			map[string]string{".trash/a.md": oldText, ".trash/x.md": oldText},
			map[string]string{"a.md": oldText, ".trash/a.md": oldText, ".trash/x.md": oldText}, ".trash/a.md",
		},
		{
			"untrash", func(f *Folder) error { return f.Untrash("x.md", deep, Text([]byte(oldText))) },
			map[string]string{"a.md": oldText, "new/deep/b.md": oldText},
			map[string]string{"a.md": oldText, "new/deep/b.md": oldText, ".trash/x.md": oldText}, "new/deep/b.md",
		},
	}
	for _, test := range tests {
		for _, sys := range []faulty{{}, {killed: true}, {noMove: true}, {noMove: true, killed: true},
			{noMove: true, noLink: true}, {noMove: true, noLink: true, killed: true}} {
			eachFault(t, sys, start, test.act, func(n int, err error, got map[string]string) {
				if text, taken := got[test.target]; sys.killed && sys.noLink && taken && text == "" && len(got) > len(start) {
					delete(got, test.target) // the empty file that takes a name
				}
				fine := maps.Equal(got, start) && err != nil || maps.Equal(got, test.after) || sys.killed && maps.Equal(got, test.both)
				assert.That(t, fine, "%s %+v, fault %d: %v, %q", test.name, sys, n, err, got)
			})
		}
	}
}

func TestNumberedNames(t *testing.T) {
	got := []string{numbered("a.md", 0), numbered("a.md", 1), numbered("v1.2 x.md", 12), numbered("LICENSE", 3)}
	assert.That(t, slices.Equal(got, []string{"a.md", "a 1.md", "v1.2 x 12.md", "LICENSE 3"}), "got %q", got)
}
