package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// updated returns the index after changes at paths.
func (v *vault) updated(x *Index, paths ...string) *Index {
	v.t.Helper()
	return x.Update(v.folder, paths, Memory{}, later)
}

// same fails unless two indexes say the same.
func same(t require.T, got, want *Index) {
	list := func(x *Index) (all []string) {
		for _, f := range x.Files {
			all = append(all, fmt.Sprintf("%s %+v", f.Path, f.Facts()))
		}
		return all
	}
	if g, w := list(got), list(want); !slices.Equal(g, w) {
		t.Fatalf("files\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
	if edges(got) != edges(want) {
		t.Fatalf("graph\n%s\nwant\n%s", edges(got), edges(want))
	}
}

func TestPathsThatNoFileHasChangeNothing(t *testing.T) {
	v := newVault(t, map[string]string{"A.md": "[[B]]", "f/B.md": "#b", "pic.png": "x"})
	x := v.build(nil)
	same(t, v.updated(x, "nothing", "../out", ".hidden/x.md", "a\x00b", "f/none/x.md"), x)
	same(t, v.updated(x), x)
}

// After any sequence of changes the index that followed them is the one that is
// built from nothing.
func TestUpdatesAddUpToABuild(t *testing.T) {
	names := []string{"A.md", "B.md", "C.canvas", "d.png", "f/A.md", "f/g/B.md", "f/g/E.md", "h/A.md", "f", "f/g", "h"}
	texts := []string{"", "[[A]] [[B#x]]", "#tag [[f/A]] [[none]]", "---\nup: \"[[E]]\"\ntags: [x]\n---\n- [ ] do", `{"nodes":[{"type":"file","file":"A.md"}]}`}
	rapid.Check(t, func(rt *rapid.T) {
		v := newVault(t, map[string]string{"A.md": "[[B]]", "f/g/B.md": ""})
		x := v.build(nil)
		for range rapid.IntRange(1, 12).Draw(rt, "rounds") {
			var paths []string
			for range rapid.IntRange(1, 4).Draw(rt, "changes") {
				name, other := rapid.SampledFrom(names).Draw(rt, "name"), rapid.SampledFrom(names).Draw(rt, "other")
				full := filepath.Join(v.dir, name)
				switch rapid.SampledFrom([]string{"write", "remove", "move"}).Draw(rt, "what") {
				case "write":
					_ = os.MkdirAll(filepath.Dir(full), 0o755)
					_ = os.WriteFile(full, []byte(rapid.SampledFrom(texts).Draw(rt, "text")), 0o644)
					paths = append(paths, name)
				case "remove":
					_ = os.RemoveAll(full)
					paths = append(paths, name)
				case "move":
					_ = os.Rename(full, filepath.Join(v.dir, other))
					paths = append(paths, name, other)
				}
				for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
					paths = append(paths, at) // folders that came with the file
				}
			}
			x = v.updated(x, paths...)
			same(rt, x, v.build(nil))
		}
		v.folder.Close()
		os.RemoveAll(v.dir)
	})
}

// memory is for a Memory that writes down what it is asked.
type memory struct {
	facts   map[string]Facts
	learned []string
}

func (m *memory) Recall(p disk.Path, s system.Stamp) (Facts, *Shelf, bool) {
	f, ok := m.facts[fmt.Sprint(p, s)]
	return f, nil, ok
}

func (m *memory) Learn(f *File, text []byte) {
	m.facts[fmt.Sprint(f.Path, f.Stamp)] = f.Facts()
	m.learned = append(m.learned, f.Path.String()+"="+string(text))
}

func TestWhatIsRememberedIsNotReadAgain(t *testing.T) {
	v := newVault(t, map[string]string{"A.md": "#a"})
	m := &memory{facts: map[string]Facts{}}
	build := func() *Index {
		return require.Value(Build(v.folder, nil, Memory{Recall: m.Recall, Learn: m.Learn}, later, nil))(t)
	}
	first, second := build(), build()
	assert.Equal(t, first.Files[0].Facts(), second.Files[0].Facts(), "learned %q", m.learned)
	assert.EqualSlices(t, m.learned, []string{"A.md=#a"}, "learned %q", m.learned)
	// What was written a moment ago may be written again unseen.
	m.learned = nil
	v.put("A.md", "#b")
	x, err := Build(v.folder, nil, Memory{Recall: m.Recall, Learn: m.Learn}, time.Now(), nil)
	require.Equal(t, err, nil, "learned %q", m.learned)
	require.Equal(t, len(m.learned), 0, "learned %q", m.learned)
	assert.That(t, !x.Files[0].settled, "learned %q, %v", m.learned, err)
}

func TestASparseIndex(t *testing.T) {
	v := newVault(t, map[string]string{"Alpha.md": "", "a/Alpha.md": "", "b/plan.png": "", "cafe\u0301.md": ""})
	whole := v.build(nil)
	sparse := require.Value(Build(v.folder, nil, Memory{Sparse: true}, later, nil))(t)
	require.That(t, len(sparse.Files) == len(whole.Files), "%d files, want %d", len(sparse.Files), len(whole.Files))
	for _, f := range whole.Files {
		source := f.Path.String()
		place, ok := sparse.Place(source)
		require.That(t, ok, "%s is at %d, %v", source, place, ok)
		assert.Equal(t, sparse.Files[place].Path, f.Path, "%s is at %d", source, place)
	}
	_, ok := sparse.Place("alpha.md")
	assert.That(t, !ok, "a path in another case is that of a file")
}
