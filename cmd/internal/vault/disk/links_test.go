package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// linkedVault returns a vault in which one note has a second name in the hidden
// folder Private, one outside the vault, and one in a folder that is seen.
func linkedVault(t *testing.T) (dir string, linked []string) {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"Private/secret.md": "text", ".trash/old.md": "text", "A/plain.md": "text", "A/one.md": "text", "A/seen.md": "text"})
	plant(t, outside, map[string]string{"key.md": "text"})
	for from, to := range map[string]string{
		filepath.Join(dir, "Private", "secret.md"): "A/inside.md", filepath.Join(outside, "key.md"): "A/outside.md",
		filepath.Join(dir, "A", "one.md"): "A/two.md",
	} {
		if err := os.Link(from, filepath.Join(dir, filepath.FromSlash(to))); err != nil {
			t.Skip("no hard links here: ", err)
		}
	}
	return dir, []string{"A/inside.md", "A/outside.md", "A/one.md", "A/two.md"}
}

// Where something is hidden, a file with further names is neither read nor listed
// nor changed, and what is said of it is why.
func TestAHardLinkedFileIsRefusedWhereSomethingIsHidden(t *testing.T) {
	dir, linked := linkedVault(t)
	folder := openFolder(t, dir).WithView(levels{"Private": false})
	before := treeText(t, dir)
	for _, method := range byPath {
		for _, path := range linked {
			err := method.call(folder, Path{path}, Path{"A/seen.md"})
			isTaken := errors.Is(err, fs.ErrExist) && slices.Contains([]string{"Make", "Move", "Untrash"}, method.name)
			isWalk := (strings.HasPrefix(method.name, "Walk") || method.name == "Contents" || strings.HasSuffix(method.name, "Folder")) && err != nil // it is no folder
			if !isTaken && !isWalk && !(IsHardLinked(err) && IsMissing(err)) {
				t.Errorf("%s %s: %v", method.name, path, err)
			}
		}
		after := treeText(t, dir)
		require.That(t, after == before, "%s changed the folder:\n%s\nbefore:\n%s", method.name, after, before)
	}
	want := []string{"A/", "A/plain.md", "A/seen.md"}
	for name, walk := range map[string]func(Path, func(Entry)) error{"Walk": folder.Walk, "WalkParallel": folder.WalkParallel} {
		assert.EqualSlices(t, entries(t, walk, Path{}), want, "%s meets", name)
	}
}

// Both kinds of places refuse it, at every step.
func TestAPlaceRefusesAHardLinkedFile(t *testing.T) {
	dir, _ := linkedVault(t)
	for kind, at := range places(t, openFolder(t, filepath.Join(dir, "A")).WithView(levels{"x": false})) {
		_, informed := at.info("inside.md")
		_, stamped := at.stamp("inside.md")
		text, _, read := at.read("inside.md", nil)
		for call, err := range map[string]error{"info": informed, "stamp": stamped, "read": read} {
			assert.That(t, IsHardLinked(err), "%s, %s: %v", kind, call, err)
		}
		assert.That(t, len(text) == 0, "%s: read %q", kind, text)
		if text, _, err := at.read("plain.md", nil); string(text) != "text" || err != nil {
			t.Errorf("%s: %q, %v", kind, text, err)
		}
	}
}

// Where nothing is hidden it is a file like any other, and a change stays with the
// name that was asked for.
func TestAHardLinkedFileIsAFileWhereNothingIsHidden(t *testing.T) {
	dir, linked := linkedVault(t)
	folder := openFolder(t, dir)
	for _, path := range linked {
		if text, err := folder.Read(Path{path}); string(text) != "text" || err != nil {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	assert.Equal(t, len(entries(t, folder.Walk, Path{"A"})), 6, "met")
	assert.NoError(t, folder.Swap(Path{"A/inside.md"}, []byte("text"), []byte("new")))
	if text, err := os.ReadFile(filepath.Join(dir, "Private", "secret.md")); string(text) != "text" || err != nil {
		t.Errorf("the other name contains %q, %v", text, err)
	}
}

// Two names that differ in the case of letters can be two names of one file: then
// a rename from the one to the other would do nothing and say that it did.
func TestARenameToASecondNameOfTheFile(t *testing.T) {
	dir := planted(t, map[string]string{"a.md": "text"})
	if err := os.Link(filepath.Join(dir, "a.md"), filepath.Join(dir, "A.md")); err != nil {
		t.Skip("one name in two spellings, or no hard links: ", err)
	}
	err := openFolder(t, dir).Move(Path{"a.md"}, Path{"A.md"}, Text([]byte("text")))
	got := contents(t, dir)
	assert.That(t, errors.Is(err, fs.ErrExist) && len(got) == 2, "%v, %q", err, got)
}
