package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// model is a vault of a test, as texts by path. Files whose text stays are the same.
type model struct {
	texts map[string]string
	files map[string]*File
}

func (m *model) put(path, text string) {
	at, err := disk.ParsePath(path)
	if err != nil {
		panic(err)
	}
	m.texts[path] = text
	m.files[path] = newFile(at, system.Stamp{}, Read(at, []byte(text)))
	m.files[path].settled = true
}

func (m *model) remove(path string) {
	delete(m.texts, path)
	delete(m.files, path)
}

func (m *model) list() []*File {
	files := slices.Collect(maps.Values(m.files))
	sortFiles(files)
	return files
}

// Folders, names and targets of which many mean the same file or one another's.
var (
	someFolder = rapid.SampledFrom([]string{"", "", "a/", "A/", "a/b/", "a/b/c/", "b/", "É/", "e\u0301/"})
	someName   = rapid.SampledFrom([]string{"n.md", "N.md", "n.MD", "m.md", "n.md.md", "v1.2.md", "v1.2", "pic.png",
		"pic.png.md", "PIC.png", "LICENSE", "é.md", "a.md", "board.canvas"})
	someTarget = rapid.Custom(func(t *rapid.T) string {
		before := rapid.SampledFrom([]string{"", "", "", "a/", "A/b/", "b/", "/", "./", "../", "/a/", "e\u0301/"}).Draw(t, "before")
		return before + rapid.SampledFrom([]string{"n", "N", "n.md", "n.MD", "m", "n.md.md", "v1.2", "pic", "pic.png",
			"Pic.PNG", "LICENSE", "e\u0301", "É", "board.canvas", "other", "", "..", "#h", ".md"}).Draw(t, "target")
	})
	someLink = rapid.Custom(func(t *rapid.T) string {
		form := rapid.SampledFrom([]string{"[[%s]]", "![[%s]]", "[[%s#h|shown]]", "[x](<%s>)", "`[[%s]]`"}).Draw(t, "form")
		return fmt.Sprintf(form, someTarget.Draw(t, "target"))
	})
)

func someText(t *rapid.T, path string) string {
	links := rapid.SliceOfN(someLink, 0, 4).Draw(t, "links")
	if strings.HasSuffix(path, ".canvas") {
		return fmt.Sprintf(`{"nodes":[{"type":"file","file":%q},{"type":"text","text":%q}]}`,
			someFolder.Draw(t, "folder")+someName.Draw(t, "name"), strings.Join(links, " "))
	}
	text := strings.Join(links, "\n")
	if rapid.Bool().Draw(t, "properties") {
		text = fmt.Sprintf("---\naliases: [n, other]\nup: \"[[%s]]\"\n---\n%s", someTarget.Draw(t, "up"), text)
	}
	return text
}

// step changes a few files: it writes, removes, and moves a file or a folder.
func (m *model) step(t *rapid.T) {
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		path := someFolder.Draw(t, "folder") + someName.Draw(t, "name")
		present := slices.Sorted(maps.Keys(m.texts))
		what := rapid.SampledFrom([]string{"write", "write", "edit", "remove", "move", "move folder"}).Draw(t, "what")
		if what != "write" && len(present) == 0 {
			continue
		}
		switch what {
		case "write":
			m.put(path, someText(t, path))
		case "edit":
			path = rapid.SampledFrom(present).Draw(t, "present")
			m.put(path, someText(t, path))
		case "remove":
			m.remove(rapid.SampledFrom(present).Draw(t, "present"))
		case "move":
			from := rapid.SampledFrom(present).Draw(t, "present")
			text := m.texts[from]
			m.remove(from)
			m.put(path, text)
		case "move folder":
			from, to := rapid.SampledFrom([]string{"a/", "a/b/", "b/"}).Draw(t, "from"), someFolder.Draw(t, "to")
			for _, was := range present {
				if rest, below := strings.CutPrefix(was, from); below {
					text := m.texts[was]
					m.remove(was)
					m.put(to+rest, text)
				}
			}
		}
	}
}

// sameGraph fails unless the graph of an index is the one that is built from nothing.
func sameGraph(t *rapid.T, got *Index) {
	want := newIndex(got.Files, nil, nil)
	g, w := edges(got), edges(want)
	require.Equal(t, g, w, "graph")
	a, b := got.Graph(), want.Graph()
	for i := range got.Files {
		if !slices.Equal(a.Out(i), b.Out(i)) || !slices.Equal(a.In(i), b.In(i)) || !slices.Equal(a.Unresolved(i), b.Unresolved(i)) {
			t.Fatalf("%s: %v %v %v, want %v %v %v", got.Files[i].Path, a.Out(i), a.In(i), a.Unresolved(i), b.Out(i), b.In(i), b.Unresolved(i))
		}
		if place, ok := got.Place(got.Files[i].Path.String()); !ok || place != i {
			t.Fatalf("%s is at %d, %v, want %d", got.Files[i].Path, place, ok, i)
		}
	}
}

// However files come, go, move and change, the graph that followed is the one that is
// built from nothing, whether those between were asked for or not.
func TestAGraphThatFollowsChangesIsTheOneBuiltFromNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{map[string]string{}, map[string]*File{}}
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			path := someFolder.Draw(t, "folder") + someName.Draw(t, "name")
			m.put(path, someText(t, path))
		}
		x := newIndex(m.list(), nil, nil)
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			m.step(t)
			x = newIndex(m.list(), nil, x)
			switch rapid.SampledFrom([]string{"graph", "names", "nothing"}).Draw(t, "asked for") {
			case "graph":
				sameGraph(t, x)
			case "names":
				x.Resolve("n")
			}
		}
		sameGraph(t, x)
	})
}

// An index stays what it is when others are made out of it.
func TestAGraphDoesNotChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{map[string]string{}, map[string]*File{}}
		m.put("n.md", "[[m]] [[a/m]] [[n]]")
		m.put("a/m.md", "[[n]] [[pic.png]]")
		x := newIndex(m.list(), nil, nil)
		before := edges(x)
		for range 2 {
			m.step(t)
			newIndex(m.list(), nil, x).Graph()
			after := edges(x)
			require.That(t, after == before, "the graph is %s, was %s", after, before)
		}
	})
}

// A change resolves the links of few files again.
func TestAChangeResolvesOnlyWhatItConcerns(t *testing.T) {
	m := &model{map[string]string{}, map[string]*File{}}
	for i := range 200 {
		m.put(fmt.Sprintf("f/note %d.md", i), fmt.Sprintf("[[note %d]] [[missing %d]]", (i+1)%200, i))
	}
	m.put("q/late.md", "[[late note.md]]")
	x := newIndex(m.list(), nil, nil)
	x.Graph()
	tests := []struct {
		name   string
		change func()
		want   []string
	}{
		{"a new name", func() { m.put("other.md", "[[note 5]]") }, []string{"other.md"}},
		{"a name that was missing", func() { m.put("g/Missing 7.md", "") }, []string{"f/note 7.md", "g/Missing 7.md"}},
		{"a name that there is", func() { m.put("g/note 9.md", "") }, []string{"f/note 8.md", "g/note 9.md"}},
		{"a file that is gone", func() { m.remove("f/note 20.md") }, []string{"f/note 19.md"}},
		{"a text", func() { m.put("f/note 30.md", "[[note 1]]") }, []string{"f/note 30.md"}},
		{"a name that a link has with the extension", func() { m.put("late note.md.md", "") }, []string{"late note.md.md", "q/late.md"}},
		{"nothing", func() {}, nil},
	}
	for _, tt := range tests {
		tt.change()
		next := newIndex(m.list(), nil, x)
		d := compare(x.Files, next.Files)
		var got []string
		for _, place := range x.linked.Load().affected(&d, next.Files) {
			got = append(got, next.Files[place].Path.String())
		}
		assert.That(t, slices.Equal(got, tt.want), "%s: resolved are %q, want %q", tt.name, got, tt.want)
		next.Graph()
		x = next
	}
}

func TestLinksOfOneTargetThatMeanDifferentNames(t *testing.T) {
	m := &model{map[string]string{}, map[string]*File{}}
	m.put("q/w/up.md", "[[../]] [[../.md]]")
	x := newIndex(m.list(), nil, nil)
	x.Graph()
	m.put("q.md", "")
	assert.Equal(t, edges(newIndex(m.list(), nil, x)), "q/w/up.md>../?*1 q/w/up.md>q.md*1", "the graph")
}
