package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// places returns the root of a vault as this system opens it, and as others do.
func places(t *testing.T, folder *Folder) map[string]place {
	t.Helper()
	native := require.Value(folder.place(nil))(t)
	root := require.Value(folder.enter(nil))(t)
	t.Cleanup(func() { native.close(); root.Close() })
	return map[string]place{"native": native, "rooted": rooted{root, folder.view != nil}}
}

// wrong reports whether an error is not that of a file that is refused for reason, or missing if there
// is no reason.
func wrong(err error, name, reason string) bool {
	if reason == "" {
		return !errors.Is(err, fs.ErrNotExist)
	}
	var refusal *Refusal
	return !errors.As(err, &refusal) || *refusal != Refusal{name, reason}
}

func TestEveryPlaceHasTheSameErrors(t *testing.T) {
	dir := planted(t, map[string]string{"real.md": "real", "folder.md/a.md": "a", "big.md": ""})
	want := map[string]string{"nothing.md": "", "folder.md": "is a folder"}
	for name, to := range map[string]string{"link.md": "real.md", "dangling.md": "nowhere", "round.md": "round.md", "door.md": "folder.md"} {
		if os.Symlink(to, filepath.Join(dir, name)) == nil {
			want[name] = "is a symbolic link"
		}
	}
	for _, name := range special(t, dir) {
		want[name] = "is not a regular file"
	}
	sparse := os.Truncate(filepath.Join(dir, "big.md"), MaxNote+1) == nil
	for kind, at := range places(t, openFolder(t, dir)) {
		for name, reason := range want {
			_, err := at.stamp(name)
			assert.That(t, !wrong(err, name, reason), "%s: stamp of %s: %v", kind, name, err)
			_, err = at.info(name)
			assert.That(t, !wrong(err, name, reason), "%s: info of %s: %v", kind, name, err)
			text, state, err := at.read(name, nil)
			assert.That(t, !wrong(err, name, reason), "%s: read of %s: %q, %v", kind, name, text, err)
			assert.That(t, text == nil, "%s: read of %s: %q, %v", kind, name, text, err)
			assert.Equal(t, state, system.Stamp{}, "%s: read of %s: %q, %v", kind, name, text, err)
			if name == "folder.md" {
				continue
			}
			if reason != "" {
				reason = "is not a folder"
			}
			_, err = at.step(name)
			assert.That(t, !wrong(err, name, reason), "%s: step to %s: %v", kind, name, err)
		}
		_, err := at.step("real.md")
		assert.That(t, !wrong(err, "real.md", "is not a folder"), "%s: step to a file: %v", kind, err)
		text, _, err := at.read("real.md", nil)
		require.Equal(t, err, nil, "%s", kind)
		assert.Equal(t, string(text), "real", "%s", kind)
		var size *SizeError
		if _, _, err := at.read("big.md", nil); sparse && (!errors.As(err, &size) || *size != SizeError{"big.md", MaxNote + 1, MaxNote}) {
			t.Errorf("%s: a file that is too large: %v", kind, err)
		}
		stamp, err := at.stamp("big.md")
		if sparse {
			assert.NoError(t, err, "%s: the stamp of a file that is too large", kind)
			assert.Equal(t, stamp.Size, MaxNote+1, "%s: the size of a file that is too large", kind)
		}
	}
}

func TestAFileThatMayNotBeReadHasAStamp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are made up there")
	}
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	dir := planted(t, map[string]string{"shut.md": "text", "folder/a.md": ""})
	for _, name := range []string{"shut.md", "folder"} {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0))
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "folder"), 0o755) })
	for kind, at := range places(t, openFolder(t, dir)) {
		stamp, err := at.stamp("shut.md")
		require.Equal(t, err, nil, "%s: %+v", kind, stamp)
		assert.Equal(t, stamp.Size, 4, "%s: %+v", kind, stamp)
		_, _, err = at.read("shut.md", nil)
		assert.ErrorIs(t, err, fs.ErrPermission, "%s: reading", kind)
		_, err = at.step("folder")
		assert.ErrorIs(t, err, fs.ErrPermission, "%s: entering", kind)
	}
}

func TestEveryPlaceListsTheSame(t *testing.T) {
	dir := planted(t, map[string]string{"a.md": "", ".hidden": "", ".folder/x": "", "b/c.md": "", "a name of several words, which is longer.md": ""})
	_ = os.Symlink("a.md", filepath.Join(dir, "link.md"))
	special(t, dir)
	for kind, at := range places(t, openFolder(t, dir)) {
		found, err := at.list()
		found = slices.DeleteFunc(found, func(l listed) bool { return l.name[0] == '.' })
		slices.SortFunc(found, func(a, b listed) int { return len(a.name) - len(b.name) })
		want := []listed{{"b", true}, {"a.md", false}, {"a name of several words, which is longer.md", false}}
		require.Equal(t, err, nil, "%s: %v", kind, found)
		assert.EqualSlices(t, found, want, "%s", kind)
	}
}

// A place leads to the places in it, and is of no use once it is closed.
func TestAStepLeadsToAPlace(t *testing.T) {
	dir := planted(t, map[string]string{"a/b/n.md": "text"})
	for kind, at := range places(t, openFolder(t, dir)) {
		a, err := at.step("a")
		require.That(t, err == nil, "%s: %v", kind, err)
		b, err := a.step("b")
		require.That(t, err == nil, "%s: %v", kind, err)
		a.close() // b is open for itself
		text, stamp, err := b.read("n.md", nil)
		assert.Equal(t, string(text), "text", "%s: %+v", kind, stamp)
		assert.Equal(t, stamp.Size, 4, "%s: %+v", kind, stamp)
		assert.NoError(t, err, "%s: %+v", kind, stamp)
		found, err := b.list()
		require.Equal(t, err, nil, "%s: %v", kind, found)
		assert.Equal(t, len(slices.DeleteFunc(found, func(l listed) bool { return l.name[0] == '.' })), 1,
			"%s: %v", kind, found)
		b.close()
		_, err = a.step("b")
		assert.That(t, err != nil, "%s: a step from a place that is closed", kind)
		found, err = b.list()
		assert.That(t, err != nil, "%s: a place that is closed lists %v", kind, found)
		assert.Equal(t, len(found), 0, "%s: a place that is closed lists %v", kind, found)
		_, err = b.info("n.md")
		assert.That(t, err != nil, "%s: a place that is closed knows a file", kind)
		_, _, err = b.read("n.md", nil)
		assert.That(t, err != nil, "%s: a place that is closed reads a file", kind)
	}
}

// replaced are what can come in the place of n.md between its listing and its
// reading, with the reason for which it is refused.
var replaced = map[string]struct {
	by     func(full string) error
	reason string
}{
	"nothing":              {os.Remove, ""},
	"a folder":             {func(full string) error { return errors.Join(os.Remove(full), os.Mkdir(full, 0o755)) }, "is a folder"},
	"a link to the inside": {func(full string) error { return errors.Join(os.Remove(full), os.Symlink("kept/other.md", full)) }, "is a symbolic link"},
	"a link to the outside": {
		func(full string) error { return errors.Join(os.Remove(full), os.Symlink("/etc/passwd", full)) }, "is a symbolic link",
	},
}

func TestAFileThatIsReplacedAfterItsListingIsRefused(t *testing.T) {
	for name, test := range replaced {
		for how, walk := range map[string]func(*Folder, Path, func(Entry)) error{"Walk": (*Folder).Walk, "WalkParallel": (*Folder).WalkParallel} {
			dir := planted(t, map[string]string{"sub/n.md": "text"})
			visited := 0
			err := walk(openFolder(t, dir), Path{}, func(e Entry) {
				if e.IsDir {
					return
				}
				visited++
				if err := test.by(filepath.Join(dir, "sub", "n.md")); err != nil {
					t.Skip("cannot be made here:", err)
				}
				_, err := e.Stamp()
				assert.That(t, !wrong(err, "n.md", test.reason), "%s, %s: stamp: %v", how, name, err)
				_, _, err = e.Read()
				assert.That(t, !wrong(err, "n.md", test.reason), "%s, %s: read: %v", how, name, err)
			})
			require.Equal(t, err, nil, "%s, %s: %d visits", how, name, visited)
			assert.Equal(t, visited, 1, "%s, %s: %d visits", how, name, visited)
		}
	}
}

func TestAFolderThatIsReplacedAfterItsListingCountsAsEmpty(t *testing.T) {
	for how, walk := range map[string]func(*Folder, Path, func(Entry)) error{"Walk": (*Folder).Walk, "WalkParallel": (*Folder).WalkParallel} {
		for name, by := range map[string]func(full string) error{
			"removed": os.Remove,
			"a file":  func(full string) error { return errors.Join(os.Remove(full), os.WriteFile(full, nil, 0o644)) },
			"a link":  func(full string) error { return errors.Join(os.Remove(full), os.Symlink("..", full)) },
		} {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
			visited := 0
			err := walk(openFolder(t, dir), Path{}, func(e Entry) {
				visited++
				if err := by(filepath.Join(dir, "sub")); err != nil {
					t.Skip("cannot be made here:", err)
				}
			})
			require.Equal(t, err, nil, "%s, %s: %d visits", how, name, visited)
			assert.Equal(t, visited, 1, "%s, %s: %d visits", how, name, visited)
		}
	}
}

func TestAnEntryIsReadWhereItsFolderHasGone(t *testing.T) {
	outer := t.TempDir()
	plant(t, outer, map[string]string{"vault/sub/n.md": "mine", "other/n.md": "secret"})
	sub := filepath.Join(outer, "vault", "sub")
	err := openFolder(t, filepath.Join(outer, "vault")).Walk(Path{}, func(e Entry) {
		if e.IsDir {
			return
		}
		if os.Rename(sub, filepath.Join(outer, "moved")) != nil || os.Symlink(filepath.Join(outer, "other"), sub) != nil {
			t.Skip("an open folder cannot be moved here")
		}
		text, _, err := e.Read()
		require.NoError(t, err)
		assert.Equal(t, string(text), "mine")
	})
	assert.That(t, err == nil, "%v", err)
}

// entry is what a folder of another system lists.
type entry struct {
	fs.DirEntry
	name string
	mode fs.FileMode
}

func (e entry) Name() string      { return e.name }
func (e entry) IsDir() bool       { return e.mode.IsDir() }
func (e entry) Type() fs.FileMode { return e.mode.Type() }

// What a program for synchronisation keeps in step is listed like everything else, and what may lead elsewhere is not.
func TestFilesOfACloudAreListed(t *testing.T) {
	entries := []fs.DirEntry{
		entry{name: "plain.md"},
		entry{name: "kept in step.md", mode: fs.ModeIrregular},
		entry{name: "other reparse point.md", mode: fs.ModeIrregular},
		entry{name: "folder", mode: fs.ModeDir},
		entry{name: "folder in step", mode: fs.ModeDir | fs.ModeIrregular},
		entry{name: "link.md", mode: fs.ModeSymlink},
		entry{name: "socket", mode: fs.ModeSocket},
	}
	found := pick(entries, func(name string, mode fs.FileMode) bool {
		return mode.IsRegular() || mode == fs.ModeIrregular && name == "kept in step.md"
	})
	want := []listed{{"plain.md", false}, {"kept in step.md", false}, {"folder", true}, {"folder in step", true}}
	assert.That(t, slices.Equal(found, want), "%v", found)
}
