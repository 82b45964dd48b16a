package disk

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// seenThrough returns all that a folder shows, by path: texts of files, and "/" for folders. Each way to a file has to
// show the same.
func seenThrough(t *testing.T, f *Folder) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, f.Walk(Path{}, func(e Entry) {
		p := e.Path
		if e.IsDir {
			all[p.String()] = "/"
			_, err := f.FolderInfo(p)
			assert.NoError(t, err, "the folder %s is walked into, and is not there", p)
			return
		}
		text, _, err := e.Read()
		require.NoError(t, err)
		all[p.String()] = string(text)
		read := require.Value(f.Read(p))(t)
		info := require.Value(f.Stat(p))(t)
		file := require.Value(f.Open(p))(t)
		opened := require.Value(io.ReadAll(file))(t)
		require.NoError(t, file.Close())
		stamp := require.Value(f.Stamp(p))(t)
		named := require.Value(f.Named(p))(t)
		assert.Equal(t, string(read), string(text), "%s: stamp %v", p, stamp)
		assert.Equal(t, string(opened), string(text), "%s: stamp %v", p, stamp)
		assert.Equal(t, info.Size(), int64(len(text)), "%s: walked %q, stamp %v", p, text, stamp)
		assert.Equal(t, stamp.Size, info.Size(), "%s: walked %q, stamp %v", p, text, stamp)
		assert.Equal(t, named, p, "walked %q, stamp %v", text, stamp)
		assert.Equal(t, info.Name(), p.Base(), "%s: walked %q, stamp %v", p, text, stamp)
	}))
	return all
}

// A folder over an overlay shows what the disk shows after the same changes, drawn at random; and the disk stays as it is.
func TestAFolderOverAnOverlayIsAsTheDiskWillBe(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		dir := t.TempDir()
		model := t.TempDir()
		for _, root := range []string{dir, model} {
			for _, name := range []string{"a.md", "b.md", "F/c.md", "F/G/d.md", "F/G/e.png", "H/f.md"} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("text of "+name), 0o644))
			}
		}
		folder := require.Value(Open(dir))(t)
		wanted := require.Value(Open(model))(t)
		before := seenThrough(t, folder)
		over := NewOverlay()
		seen := folder.Over(over)
		for step := range 12 {
			now := seenThrough(t, wanted)
			var files, empty []string
			for _, name := range slices.Sorted(maps.Keys(now)) {
				if now[name] != "/" {
					files = append(files, name)
					continue
				}
				if names, err := os.ReadDir(filepath.Join(model, name)); err == nil && len(names) == 0 {
					empty = append(empty, name)
				}
			}
			fresh := []string{"new.md", "N/new.md", "F/G/N/new.md", "H/new.md"}[random.IntN(4)]
			switch kind := random.IntN(5); {
			case kind == 0 || len(files) == 0:
				over.Write(Path{fresh}, []byte("new"), 0o644, time.Now())
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(model, fresh)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(model, fresh), []byte("new"), 0o644))
			case kind == 1:
				name := files[random.IntN(len(files))]
				over.Write(Path{name}, []byte("changed"), 0o644, time.Now())
				require.NoError(t, os.WriteFile(filepath.Join(model, name), []byte("changed"), 0o644))
			case kind == 2:
				name := files[random.IntN(len(files))]
				over.Remove(Path{name})
				require.NoError(t, os.Remove(filepath.Join(model, name)))
			case kind == 3 && len(empty) > 0:
				name := empty[random.IntN(len(empty))]
				over.RemoveFolder(Path{name})
				require.NoError(t, os.Remove(filepath.Join(model, name)))
			default:
				name := files[random.IntN(len(files))]
				if name == fresh {
					continue
				}
				from, text := over.Source(Path{name})
				over.Remove(Path{name})
				if text != nil {
					over.Write(Path{fresh}, text, 0o644, time.Now())
				} else {
					over.Place(Path{fresh}, from)
				}
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(model, fresh)), 0o755))
				require.NoError(t, os.Rename(filepath.Join(model, name), filepath.Join(model, fresh)))
			}
			got := seenThrough(t, seen)
			want := seenThrough(t, wanted)
			require.That(t, maps.Equal(got, want), "%d, step %d: %q, want %q", n, step, got, want)
			for name := range before {
				_, err := seen.Stat(Path{name})
				_, isThere := want[name]
				isFile := isThere && want[name] != "/"
				require.Equal(t, err == nil, isFile, "%d, step %d: %s: %v", n, step, name, err)
				require.That(t, isFile || IsMissing(err), "%d, step %d: %s: %v", n, step, name, err)
				_, err = seen.FolderInfo(Path{name})
				require.Equal(t, err == nil, want[name] == "/", "%d, step %d: %s is a folder", n, step, name)
			}
			contents := require.Value(seen.Contents(Path{}))(t)
			theirs := require.Value(wanted.Contents(Path{}))(t)
			require.EqualSlices(t, contents.Files, theirs.Files, "%d: %v, want %v", n, contents, theirs)
			require.EqualSlices(t, contents.Folders, theirs.Folders, "%d: %v, want %v", n, contents, theirs)
			require.Equal(t, len(contents.Stay), 0, "%d: %v, want %v", n, contents, theirs)
		}
		require.That(t, maps.Equal(seenThrough(t, folder), before), "%d: the disk was changed", n)
		require.NoError(t, errors.Join(folder.Close(), wanted.Close()))
	}
}

// A file that returns to its own path is there, even if the folder was removed meanwhile.
func TestAFileReturnsToAFolderThatWasRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "F", "G"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "F", "G", "a.md"), []byte("text"), 0o644))
	folder := require.Value(Open(dir))(t)
	defer folder.Close()
	over := NewOverlay()
	seen := folder.Over(over)
	original := Path{"F/G/a.md"}
	over.Remove(original)
	over.Place(Path{"a.md"}, original)
	over.RemoveFolder(Path{"F/G"})
	over.RemoveFolder(Path{"F"})
	got := seenThrough(t, seen)
	require.That(t, maps.Equal(got, map[string]string{"a.md": "text"}), "moved: %q", got)
	from, _ := over.Source(Path{"a.md"})
	over.Remove(Path{"a.md"})
	over.Place(original, from)
	got = seenThrough(t, seen)
	assert.That(t, maps.Equal(got, seenThrough(t, folder)), "moved back: %q", got)
}

// A file whose text is only planned is closed by that text, and hidden by its path, as one on the disk is.
func TestAnOverlayIsSeenAsTheCallerMaySee(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "open.md"), []byte("text"), 0o644))
	folder := require.Value(Open(dir))(t)
	defer folder.Close()
	judge := NewJudge(func(Path) bool { return true }, func(text []byte) bool { return string(text) == "private" }, func(io.Reader) bool { return true })
	over := NewOverlay()
	seen := folder.Judging(judge).Over(over)
	over.Write(Path{"closed.md"}, []byte("private"), 0o644, time.Now())
	over.Write(Path{"open.md"}, []byte("private"), 0o644, time.Now())
	over.Write(Path{"shown.md"}, []byte("shown"), 0o644, time.Now())
	for _, name := range []string{"closed.md", "open.md"} {
		_, err := seen.Read(Path{name})
		assert.That(t, errors.Is(err, fs.ErrNotExist), "%s is read: %v", name, err)
		_, err = seen.Stat(Path{name})
		assert.That(t, errors.Is(err, fs.ErrNotExist), "%s is looked at: %v", name, err)
	}
	assert.That(t, maps.Equal(seenThrough(t, seen), map[string]string{"shown.md": "shown"}), "%q", seenThrough(t, seen))
}

// A folder in which something is planned, and which cannot be read, is not one without files: what is in it on the disk is
// unread, and not missing.
func TestAFolderOfTheOverlayThatCannotBeReadIsNotMissing(t *testing.T) {
	t.Parallel()
	note := require.Value(ParsePath("F/b.md"))(t)
	folder := require.Value(ParseFolder("F"))(t)
	uses := map[string]func(f *Folder) error{
		"read":  func(f *Folder) error { _, err := f.Read(note); return err },
		"here":  func(f *Folder) error { _, _, err := f.ReadHere(note); return err },
		"stat":  func(f *Folder) error { _, err := f.Stat(note); return err },
		"stamp": func(f *Folder) error { _, err := f.Stamp(note); return err },
		"info":  func(f *Folder) error { _, err := f.FolderInfo(folder); return err },
		"above": func(f *Folder) error { _, err := f.MissingFolders(note); return err },
		"walk": func(f *Folder) (err error) {
			walkErr := f.Telling(func(p Path) { err = fs.ErrInvalid }).Walk(Path{}, func(Entry) {})
			return errors.Join(err, walkErr)
		},
	}
	for name, use := range uses {
		dir := t.TempDir()
		at := filepath.Join(dir, "F")
		require.NoError(t, os.Mkdir(at, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(at, "b.md"), []byte("text"), 0o644))
		disk := openFolder(t, dir)
		over := NewOverlay()
		over.Write(require.Value(ParsePath("F/a.md"))(t), []byte("planned"), 0o644, time.Now())
		seen := disk.Over(over)
		require.Equal(t, use(seen), nil, name)
		disk.InterposeReads(func(_, called string) error {
			if called == "F" {
				return syscall.EIO
			}
			return nil
		})
		err := use(seen)
		assert.That(t, IsUnread(err), "%s: %v", name, err)
	}
}
