package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// vault is a folder of notes that a test can change.
type vault struct {
	t      testing.TB
	dir    string
	folder *disk.Folder
}

func newVault(t testing.TB, files map[string]string) *vault {
	t.Helper()
	v := &vault{t: t, dir: t.TempDir()}
	for name, text := range files {
		v.put(name, text)
	}
	folder := require.Value(disk.Open(v.dir))(t)
	t.Cleanup(func() { folder.Close() })
	v.folder = folder
	return v
}

func (v *vault) put(name, text string) {
	v.t.Helper()
	full := filepath.Join(v.dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	if err == nil {
		err = os.WriteFile(full, []byte(text), 0o644)
	}
	require.NoError(v.t, err)
}

func (v *vault) build(old *Index) *Index {
	v.t.Helper()
	return require.Value(Build(v.folder, old, Memory{}, later, nil))(v.t)
}

// later is a time at which all that tests write has settled.
var later = time.Now().Add(24 * time.Hour)

// edges writes the graph as "from>to*count", those that lead nowhere with "?".
func edges(x *Index) string {
	var all []string
	g := x.Graph()
	for i, f := range x.Files {
		for _, e := range g.Out(i) {
			all = append(all, fmt.Sprintf("%s>%s*%d", f.Path, x.Files[e.Place].Path, e.Count))
			if !slices.Contains(g.In(int(e.Place)), Edge{int32(i), e.Count}) {
				all = append(all, "the way back is missing")
			}
		}
		for _, m := range g.Unresolved(i) {
			all = append(all, fmt.Sprintf("%s>%s?*%d", f.Path, m.Key, m.Count))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestTheGraphCountsWhatTheAppCounts(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"body, embed and property", map[string]string{"A.md": "---\nup: \"[[B]]\"\n---\n[[B]] ![[B#h]]", "B.md": ""}, "A.md>B.md*3"},
		{"a Markdown link", map[string]string{"A.md": "[t](f/B%20b.md)", "f/B b.md": ""}, "A.md>f/B b.md*1"},
		{"to itself", map[string]string{"A.md": "[[#H]] [[A]]"}, "A.md>A.md*2"},
		{"to what is not there", map[string]string{"A.md": "[[X#h]] [[X.md]] [[f/Y]]"}, "A.md>X?*2 A.md>f/Y?*1"},
		{"a slash in front stays", map[string]string{"A.md": "[[/X]] [[X]]"}, "A.md>/X?*1 A.md>X?*1"},
		{"not in code, but in comments", map[string]string{"A.md": "`[[B]]` %% [[B]] %%", "B.md": ""}, "A.md>B.md*1"},
		{"an unquoted property is no link", map[string]string{"A.md": "---\nup: [[B]]\n---\n", "B.md": ""}, ""},
		{"a block that is no YAML has no links", map[string]string{"A.md": "---\nup: \"[[B]]\"\nup: x\n---\n[[B]]", "B.md": ""}, "A.md>B.md*1"},
		{"a canvas",
			map[string]string{"C.canvas": `{"nodes":[{"type":"file","file":"f/B.md"},{"type":"text","text":"[[B]] [[X]]"},{"type":"file","file":"B.md"},{"type":"link","url":"https://x"}]}`,
				"f/B.md": ""},
			"C.canvas>B?*1 C.canvas>X?*1 C.canvas>f/B.md*2"},
		{"a canvas that is broken", map[string]string{"C.canvas": `{"nodes":[{"type":"file","file":"B.md"}`, "B.md": ""}, ""},
		{"the nearest of one name", map[string]string{"f/A.md": "[[B]]", "f/B.md": "", "g/B.md": ""}, "f/A.md>f/B.md*1"},
	}
	for _, tt := range tests {
		assert.Equal(t, edges(newVault(t, tt.files).build(nil)), tt.want, "%s", tt.name)
	}
}

func TestFilesAreInTheOrderOfListings(t *testing.T) {
	x := newVault(t, map[string]string{"b.md": "", "A10.md": "", "a9.md": "", "_x.png": "", ".hidden.md": "", "f/c.md": ""}).build(nil)
	var got []string
	for _, f := range x.Files {
		got = append(got, f.Path.String())
	}
	want := []string{"_x.png", "a9.md", "A10.md", "b.md", "f/c.md"}
	assert.That(t, slices.Equal(got, want), "got %q, want %q", got, want)
	for i, f := range x.Files {
		place, ok := x.Place(f.Path.String())
		assert.That(t, ok, "%s is at %d, %v", f.Path, place, ok)
		assert.Equal(t, place, i, "%s is at %d", f.Path, place)
		assert.Equal(t, f.HasFacts(), f.IsNote(), "%s has facts", f.Path)
	}
	_, ok := x.Place("B.md")
	assert.That(t, !ok, "a path in another case is found")
}

// The list of a finished index is its own: it is sorted while another call may still ask the scan for what it has so far.
func TestAFinishedIndexSharesNoListWithItsScan(t *testing.T) {
	v := newVault(t, map[string]string{"a.md": "", "b.md": "", "c.md": ""})
	l := Begin(v.folder, nil, Memory{}, later, nil)
	x := require.Value(l.Finish())(t)
	slices.Reverse(x.Files)
	clear(x.Files[1:])
	files := l.SoFar().Files
	assert.Equal(t, len(files), 3, "files so far")
	assert.That(t, !slices.Contains(files, nil), "the scan has lost files: %v", files)
}

func TestManyFilesAreSortedAsFewAre(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{manyFiles, manyFiles + 1, 3 * manyFiles} {
		files := make([]*File, size)
		for i := range files {
			path := require.Value(disk.ParsePath(fmt.Sprintf("%c/note %d.md", 'a'+rune(random.IntN(3)), random.IntN(size))))(t)
			files[i] = newFile(path, system.Stamp{}, "")
			files[i].settled = true
		}
		want := slices.SortedStableFunc(slices.Values(files), inOrder)
		sortFiles(files)
		assert.That(t, slices.EqualFunc(files, want, func(a, b *File) bool { return a.Path == b.Path }), "%d files are not in the order of listings", size)
	}
}

func TestOnlyWhatChangedIsReadAgain(t *testing.T) {
	v := newVault(t, map[string]string{"same.md": "#a", "longer.md": "#b", "later.md": "#c", "gone.md": "#d"})
	old := v.build(nil)
	v.put("longer.md", "#b #bb")
	v.put("new.md", "#e")
	require.NoError(t, os.Remove(filepath.Join(v.dir, "gone.md")))
	v.put("later.md", "#x")
	require.NoError(t, os.Chtimes(filepath.Join(v.dir, "later.md"), time.Time{}, time.Now().Add(time.Hour)))
	x := v.build(old)
	kept, tags := map[string]bool{}, map[string]string{}
	for _, f := range x.Files {
		place, known := old.Place(f.Path.String())
		kept[f.Path.String()] = known && old.Files[place] == f
		tags[f.Path.String()] = strings.Join(f.Facts().Tags(), " ")
	}
	want := map[string]bool{"same.md": true, "longer.md": false, "later.md": false, "new.md": false}
	assert.That(t, maps.Equal(kept, want), "kept %v, want %v", kept, want)
	if want := map[string]string{"same.md": "#a", "longer.md": "#b #bb", "later.md": "#x", "new.md": "#e"}; !maps.Equal(tags, want) {
		t.Errorf("tags %v, want %v", tags, want)
	}
}

func TestAFileThatCannotBeReadSpoilsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are made up there")
	}
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	v := newVault(t, map[string]string{"shut.md": "[[open]]", "open.md": "[[shut]]"})
	require.NoError(t, os.Chmod(filepath.Join(v.dir, "shut.md"), 0))
	x := v.build(nil)
	place, ok := x.Place("shut.md")
	require.That(t, ok, "shut.md is not there: the graph is %s", edges(x))
	assert.Equal(t, x.Files[place].Facts(), "", "the facts of shut.md")
	assert.Equal(t, edges(x), "open.md>shut.md*1", "the graph")
}

func TestTheVaultThatIsGone(t *testing.T) {
	v := newVault(t, nil)
	v.folder.Close()
	_, err := Build(v.folder, nil, Memory{}, later, nil)
	assert.That(t, err != nil, "a closed folder was indexed")
}

var samples = []string{
	"", "plain",
	"---\ntags: [a, \"#b\"]\nup: \"[[X]]\"\nn: 1.5\nyes: true\nnone:\ndeep: {a: [1, {b: c}]}\n---\n# H\n\n[[A#x|y]] ![b](c.png) #t/u ^id\n- [ ] do\n- [x] done\n",
	"---\nbroken: [\n---\n#x", "\xff\x00 #a [[\xfe]]", "Setext\n===\n\ntext ^block\n",
	"---\nTAGS: a\n---\n", "---\ntAg\u017f: [a, b]\n---\n#c", "---\nage: 1\nmore: {tags: x}\n---\n#d", "---\nstatus: draft\n---\n#e #f",
}

func TestFactsSayWhatWasFound(t *testing.T) {
	note, _ := disk.ParsePath("a.md")
	for _, text := range samples {
		want := ReadNote([]byte(text))
		got := Read(note, []byte(text))
		assert.That(t, got != "", "%q: %+v, want %+v", text, got.Found(), want)
		assert.That(t, reflect.DeepEqual(got.Found(), want), "%q: %+v, want %+v", text, got.Found(), want)
		if !reflect.DeepEqual(got.Tasks(), want.Tasks) || !reflect.DeepEqual(got.Properties(), want.Properties) {
			t.Errorf("%q: tasks %+v, properties %+v", text, got.Tasks(), got.Properties())
		}
		tags := frontmatter.Tags(want.Properties)
		for _, tag := range want.Tags {
			tags = append(tags, tag.Text)
		}
		assert.That(t, len(got.Links()) >= len(want.Links), "%q: links %+v, tags %+v", text, got.Links(), got.Tags())
		assert.EqualSlices(t, got.Tags(), tags, "%q: links %+v", text, got.Links())
	}
	picture, _ := disk.ParsePath("a.png")
	assert.Equal(t, Read(picture, []byte("[[x]]")), "", "a picture has facts")
	assert.That(t, !IsRead(picture), "a picture has facts")
	assert.That(t, IsRead(note), "a picture has facts")
	none := Facts("")
	require.Equal(t, none, "", "nothing says something")
	require.That(t, none.Tasks() == nil, "nothing says something")
	require.That(t, none.Tags() == nil, "nothing says something")
	require.That(t, none.Links() == nil, "nothing says something")
	assert.That(t, none.Properties() == nil, "nothing says something")
}

// FuzzFacts takes arbitrary bytes for facts, as a cache file could hold them.
// What can be read of them is read from what it is written as.
func FuzzFacts(f *testing.F) {
	for _, text := range samples {
		f.Add(string(ReadNote([]byte(text)).Pack()))
	}
	f.Add("\xff\xff\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, text string) {
		facts := Facts(text)
		found := facts.Found()
		facts.Tags()
		facts.Tasks()
		facts.Links()
		packed := found.Pack()
		// A number that is none is not equal to itself, but written alike.
		again := packed.Found()
		require.Equal(t, again.Pack(), packed, "%#v came back as %#v", found, again)
		require.Equal(t, fmt.Sprintf("%#v", again), fmt.Sprintf("%#v", found), "%#v came back as %#v", found, again)
	})
}

// A change that is told of a file in another spelling is one of that file.
func TestUpdateKnowsOneNameOfAFile(t *testing.T) {
	dir := testenv.FoldingDir(t, testenv.APFS)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "Pub"), 0o755))
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(text), 0o644))
	}
	write("Pub/Note.md", "# One")
	folder := require.Value(disk.Open(dir))(t)
	defer folder.Close()
	x := require.Value(Build(folder, nil, Memory{}, time.Now(), nil))(t)
	for i, told := range []string{"PUB/note.MD", "pub", "Pub/Note.md"} {
		want := "# " + string(rune('a'+i))
		write("Pub/Note.md", want)
		x = x.Update(folder, []string{told}, Memory{}, time.Now())
		if len(x.Files) != 1 || x.Files[0].Path.String() != "Pub/Note.md" || x.Files[0].Facts().Found().Note.Headings[0].Text != want[2:] {
			t.Errorf("told of %q: %d files, the first is %v", told, len(x.Files), x.Files[0].Path)
		}
	}
}
