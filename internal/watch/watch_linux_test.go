package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// watched is a folder, its Watcher, and what is known of it to a reader who looks only
// at what the Watcher names.
type watched struct {
	t     *testing.T
	root  string
	w     *Watcher
	known map[string]string
	named []string // all that was
	marks int
}

func watching(t *testing.T, files ...string) *watched {
	t.Helper()
	h := &watched{t: t, root: t.TempDir(), known: map[string]string{}}
	for _, name := range files {
		h.write(name, name)
	}
	w, err := New(h.root)
	if errors.Is(err, ErrUnwatchable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	h.w = w
	t.Cleanup(w.Close)
	h.learn(w.Take())
	return h
}

func (h *watched) path(name string) string { return filepath.Join(h.root, filepath.FromSlash(name)) }

func (h *watched) write(name, text string) {
	h.t.Helper()
	require.NoError(h.t, errors.Join(os.MkdirAll(filepath.Dir(h.path(name)), 0o755), os.WriteFile(h.path(name), []byte(text), 0o644)))
}

// files returns what is below a path, which may be a file.
func (h *watched) files(below string) map[string]string {
	found := map[string]string{}
	_ = filepath.WalkDir(h.path(below), func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(h.root, path)
		if name = filepath.ToSlash(name); isHidden(name) && d != nil && d.IsDir() {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() && !isHidden(name) {
			text, _ := os.ReadFile(path)
			found[name] = string(text)
		}
		return nil
	})
	return found
}

// learn looks at what is named.
func (h *watched) learn(c Changes) {
	if c.All {
		h.known = h.files("")
		return
	}
	h.named = append(h.named, c.Paths...)
	for _, path := range c.Paths {
		maps.DeleteFunc(h.known, func(name, _ string) bool { return name == path || strings.HasPrefix(name, path+"/") })
		maps.Copy(h.known, h.files(path))
	}
}

// settle makes a mark and waits until it is named: everything before it was
// told then.
func (h *watched) settle() {
	h.t.Helper()
	h.marks++
	mark := fmt.Sprintf("mark %d", h.marks)
	h.write(mark, mark)
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		if h.learn(h.w.Take()); h.known[mark] == mark {
			return
		}
		select {
		case <-h.w.more:
		case <-time.After(10 * time.Millisecond):
		}
	}
	h.t.Fatalf("%s was never named", mark)
}

func (h *watched) compare(what string) {
	h.t.Helper()
	h.settle()
	if want := h.files(""); !maps.Equal(h.known, want) {
		h.t.Fatalf("%s: known\n%v\nthere\n%v", what, slices.Sorted(maps.Keys(h.known)), slices.Sorted(maps.Keys(want)))
	}
}

func TestWithoutAFolderNoProbeIsMade(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	h := watching(t, "a.md")
	settled := h.w.Settle("")
	made, err := os.ReadDir(os.TempDir())
	require.That(t, !settled, "settled %v; %v, %v", settled, made, err)
	require.Equal(t, err, nil, "settled %v", settled)
	assert.Equal(t, len(made), 0, "settled %v", settled)
}

func TestWhatChangesIsNamed(t *testing.T) {
	h := watching(t, "a.md", "deep/er/b.md", ".obsidian/app.json")
	h.write("a.md", "changed")
	h.compare("a change")
	h.write("deep/er/new/c.md", "c")
	h.compare("a file in a new folder")
	h.write("deep/er/new/c.md", "again")
	h.compare("a change in that folder")
	require.NoError(t, os.Rename(h.path("deep/er/new/c.md"), h.path("c.md")))
	h.compare("a move")
	require.NoError(t, os.Rename(h.path("deep"), h.path("other")))
	h.compare("a moved folder")
	h.write("other/er/b.md", "changed")
	h.compare("a change below the moved folder")
	h.write("deep/er/b.md", "another")
	h.compare("a new folder with the old name")
	require.NoError(t, os.RemoveAll(h.path("other")))
	h.compare("a removed folder")
	require.NoError(t, os.Remove(h.path("a.md")))
	h.compare("a removed file")
	require.NoError(t, os.WriteFile(h.path("c.md.tmp"), []byte("swapped"), 0o644))
	require.NoError(t, os.Rename(h.path("c.md.tmp"), h.path("c.md")))
	h.compare("a file saved by a swap")
}

func TestWhatIsHiddenIsNotNamed(t *testing.T) {
	h := watching(t, "a.md", ".obsidian/app.json", "deep/.trash/x.md")
	h.write(".obsidian/app.json", "changed")
	h.write("deep/.trash/y.md", "new")
	h.write(".hidden.md", "new")
	h.w.Touch("mine.md")
	h.settle()
	assert.That(t, slices.Contains(h.named, "mine.md"), "%q were named, and not what was touched", h.named)
	for _, name := range h.named {
		assert.That(t, name == "mine.md" || name == "mark 1", "%q was named", name)
	}
}

func TestATouchIsNamedAtOnce(t *testing.T) {
	h := watching(t)
	h.settle()
	h.w.Touch("mine.md")
	c := h.w.Take()
	assert.That(t, slices.Contains(c.Paths, "mine.md"), "took %+v", c)
	c = h.w.Take()
	assert.That(t, !c.All, "took %+v", c)
	for i := range maxNamed + 1 {
		h.w.Touch(fmt.Sprint(i))
	}
	c = h.w.Take()
	assert.That(t, c.All, "of too many changes %d were named, all %v", len(c.Paths), c.All)
	assert.Equal(t, len(c.Paths), 0, "of too many changes %d were named, all %v", len(c.Paths), c.All)
}

// Whatever happens in a folder, and in whatever order, who looks at what is
// named knows the folder.
func TestAnyRunOfChangesIsNamed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	h := watching(t, "a/1.md", "a/b/2.md", "c/3.md")
	folders := []string{"a", "a/b", "c", "d", "d/e", "d/e/f", ""}
	pick := func() string { return folders[random.IntN(len(folders))] }
	file := func() string { return filepath.Join(pick(), fmt.Sprintf("%d.md", random.IntN(5))) }
	for round := range 40 {
		for range 1 + random.IntN(12) {
			switch random.IntN(8) {
			case 0:
				_ = os.RemoveAll(h.path(pick() + "/b"))
			case 1:
				_ = os.Rename(h.path(pick()+"/x"), h.path(pick()+"/x")) // often nothing is there
			case 2:
				_ = os.Rename(h.path(pick()), h.path(filepath.Join(pick(), "x")))
			case 3:
				_ = os.Remove(h.path(file()))
			case 4:
				_ = os.Rename(h.path(file()), h.path(file()))
			default:
				name := file()
				_ = os.MkdirAll(filepath.Dir(h.path(name)), 0o755)
				_ = os.WriteFile(h.path(name), []byte(fmt.Sprint(random.Uint64())), 0o644)
			}
		}
		h.compare(fmt.Sprintf("round %d", round))
	}
}

func TestWhatWasNotToldMeansEverything(t *testing.T) {
	h := watching(t, "a.md")
	h.settle()
	h.w.sys.Errors <- fsnotify.ErrEventOverflow
	h.settle()
	h.w.lose()
	c := h.w.Take()
	assert.That(t, c.All, "took %+v", c)
	h.w.mu.Lock()
	h.w.blind = true
	h.w.mu.Unlock()
	for range 2 {
		c := h.w.Take()
		assert.That(t, c.All, "took %+v from a Watcher that does not see everything", c)
	}
}

func TestWhatCannotBeWatched(t *testing.T) {
	for _, root := range []string{"/proc/self", filepath.Join(t.TempDir(), "gone")} {
		w, err := New(root)
		assert.ErrorIs(t, err, ErrUnwatchable, "%s: %v", root, w)
	}
}

// TestEveryChangeBeforeSettleIsNamed changes files and folders, and asks at once what has changed.
func TestEveryChangeBeforeSettleIsNamed(t *testing.T) {
	h := watching(t, "a.md", "In/b.md")
	probes := t.TempDir()
	for i := range 200 {
		name := []string{"a.md", "In/b.md", fmt.Sprintf("new %d.md", i), fmt.Sprintf("In/new %d/c.md", i)}[i%4]
		h.write(name, fmt.Sprint(i))
		if i%4 == 3 { // a folder that is made is watched before its files are known
			require.NoError(t, os.WriteFile(h.path(name), []byte("again"), 0o644))
		}
		require.That(t, h.w.Settle(probes), "not settled")
		c := h.w.Take()
		named := slices.ContainsFunc(c.Paths, func(p string) bool { return p == name || strings.HasPrefix(name, p+"/") })
		require.That(t, c.All || named, "%d: of %s only %q is told", i, name, c.Paths)
	}
	left, err := os.ReadDir(probes)
	require.Equal(t, err, nil, "%d files are left, %v", len(left), err)
	assert.Equal(t, len(left), 0, "%d files are left, %v", len(left), err)
}
