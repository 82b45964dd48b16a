package app

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// mark is the file by which a folder is known as ours. The app does not see
// names with a dot in front.
const (
	mark     = ".vaultwicket-twin"
	markText = "This vault belongs to the tests of vaultwicket.\n"
)

// fixture is the one vault of all scripts.
func fixture(t testing.TB) []txtar.File {
	t.Helper()
	archive := require.Value(txtar.ParseFile("testdata/twin.txtar"))(t)
	return archive.Files
}

// lay puts the fixture into a folder that is empty or was laid before. Any
// other folder is refused before a byte is written.
func lay(folder string, files []txtar.File) error {
	missing, err := unlaid(folder, files)
	if err != nil {
		return err
	}
	for _, f := range missing {
		if err := create(filepath.Join(folder, filepath.FromSlash(f.Name)), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// unlaid returns what of the fixture is not there yet, or why the folder must
// not be touched. The mark is the first of them.
func unlaid(folder string, files []txtar.File) ([]txtar.File, error) {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() || !filepath.IsAbs(folder) {
		return nil, errors.Join(err, fmt.Errorf("%q is no absolute path of a folder", folder))
	}
	ours, err := os.ReadFile(filepath.Join(folder, mark))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	laid := err == nil
	if laid && string(ours) != markText {
		return nil, fmt.Errorf("%s has another mark than this fixture", folder)
	}
	all := append([]txtar.File{{Name: mark, Data: []byte(markText)}}, files...)
	missing := map[string]txtar.File{}
	for _, f := range all {
		missing[f.Name] = f
	}
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(folder, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || rel == ".":
			return err
		case rel == ".obsidian" && entry.IsDir():
			return fs.SkipDir
		case !laid:
			return fmt.Errorf("%s is not empty: it contains %q", folder, rel)
		case entry.IsDir() && isParent(rel, files):
			return nil
		}
		text, err := os.ReadFile(name)
		if f, known := missing[rel]; !known || !entry.Type().IsRegular() || err != nil || !bytes.Equal(text, f.Data) {
			return fmt.Errorf("%s is not the fixture any more: it contains %q", folder, rel)
		}
		delete(missing, rel)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var rest []txtar.File
	for _, f := range all {
		if _, is := missing[f.Name]; is {
			rest = append(rest, f)
		}
	}
	return rest, nil
}

func isParent(folder string, files []txtar.File) bool {
	for _, f := range files {
		if strings.HasPrefix(f.Name, folder+"/") {
			return true
		}
	}
	return false
}

// create writes a file that is not there.
func create(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

func TestOnlyOurOwnFoldersAreTouched(t *testing.T) {
	files := fixture(t)
	tests := []struct {
		name string
		make func(t *testing.T, folder string)
		ok   bool
	}{
		{"an empty folder", func(*testing.T, string) {}, true},
		{"one with the settings of the app", func(t *testing.T, folder string) { put(t, folder, ".obsidian/app.json", "{}") }, true},
		{"one that was laid before", func(t *testing.T, folder string) { require.NoError(t, lay(folder, files)) }, true},
		{"one that was laid in part", func(t *testing.T, folder string) {
			require.NoError(t, lay(folder, files))
			require.NoError(t, os.Remove(filepath.Join(folder, "Moon.md")))
		}, true},
		{"one with a note", func(t *testing.T, folder string) { put(t, folder, "Diary.md", "mine") }, false},
		{"one with the welcome of the app", func(t *testing.T, folder string) { put(t, folder, "Welcome.md", "hello") }, false},
		{"one with a folder", func(t *testing.T, folder string) { require.NoError(t, os.Mkdir(filepath.Join(folder, "Sea"), 0o755)) }, false},
		{"one that somebody wrote in", func(t *testing.T, folder string) {
			require.NoError(t, lay(folder, files))
			put(t, folder, "Diary.md", "mine")
		}, false},
		{"one in which a note was changed", func(t *testing.T, folder string) {
			require.NoError(t, lay(folder, files))
			put(t, folder, "Moon.md", "mine")
		}, false},
		{"one with the mark of something else", func(t *testing.T, folder string) { put(t, folder, mark, "") }, false},
		{"one with notes and our mark", func(t *testing.T, folder string) {
			put(t, folder, mark, markText)
			put(t, folder, "Diary.md", "mine")
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			test.make(t, folder)
			before := contents(t, folder)
			assert.Equal(t, (lay(folder, files) == nil), test.ok, "lay")
			after := contents(t, folder)
			assert.That(t, test.ok || len(after) == len(before), "a folder that was refused contains %q", after)
			for name, text := range before {
				assert.That(t, after[name] == text, "%s was changed", name)
			}
		})
	}
	assert.That(t, lay("relative", files) != nil, "laid into what is no folder")
	assert.That(t, lay(filepath.Join(t.TempDir(), "missing"), files) != nil, "laid into what is no folder")
	behind := filepath.Join(t.TempDir(), "link")
	assert.That(t, os.Symlink(t.TempDir(), behind) != nil || lay(behind, files) != nil, "laid through a link")
}

func put(t *testing.T, folder, name, text string) {
	t.Helper()
	full := filepath.Join(folder, name)
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)))
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	}))
	return all
}
