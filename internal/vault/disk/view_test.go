package disk

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// levels is a view by the longest path that covers another: what it sees, and
// what it hides.
type levels map[string]bool

func (l levels) SeesFile(path string) bool   { return l.sees(path) }
func (l levels) SeesFolder(path string) bool { return l.sees(path) }

func (l levels) sees(path string) bool {
	for {
		if seen, ok := l[path]; ok || path == "" {
			return seen || !ok
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

func (l levels) Enters(folder string) bool {
	for path, seen := range l {
		if seen && strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

// byPath are the exported methods that take a path, each called on one path
// that is hidden, next to one that is seen.
var byPath = []struct {
	name string
	call func(f *Folder, hidden, seen Path) error
}{
	{"Open", func(f *Folder, hidden, _ Path) error { _, err := f.Open(hidden); return err }},
	{"Stat", func(f *Folder, hidden, _ Path) error { _, err := f.Stat(hidden); return err }},
	{"Read", func(f *Folder, hidden, _ Path) error { _, err := f.Read(hidden); return err }},
	{"ReadStamped", func(f *Folder, hidden, _ Path) error { _, _, err := f.ReadStamped(hidden); return err }},
	{"ReadHere", func(f *Folder, hidden, _ Path) error { _, _, err := f.ReadHere(hidden); return err }},
	{"Stamp", func(f *Folder, hidden, seen Path) error {
		_, err := f.Stamp(hidden)
		looks := f.Stamper()
		defer looks.Close()
		for _, path := range []Path{hidden, seen, hidden} {
			if _, again := looks.Stamp(path); path == hidden && fmt.Sprint(again) != fmt.Sprint(err) {
				return fmt.Errorf("a stamper says %v, and Stamp %v", again, err)
			}
		}
		return err
	}},
	{"Walk", func(f *Folder, hidden, _ Path) error { return f.Walk(hidden, func(Entry) {}) }},
	{"WalkParallel", func(f *Folder, hidden, _ Path) error { return f.WalkParallel(hidden, func(Entry) {}) }},
	{"WalkUnread", func(f *Folder, hidden, _ Path) error { return f.WalkUnread(hidden, func(Entry) {}) }},
	{"WalkFolders", func(f *Folder, hidden, _ Path) error { return f.WalkFolders(hidden, func(Path) {}) }},
	{"Publish", func(f *Folder, hidden, _ Path) error { return makeNote(f, hidden, []byte("made")) }},
	{"Replace", func(f *Folder, hidden, _ Path) error {
		draft := Draft{name: temporary()}
		err := f.Stage(Staging{Draft: draft, Text: textIs([]byte("new"))})
		if err == nil {
			err = f.Replace(hidden, Text([]byte("text")), draft, Text([]byte("new")))
		}
		return errors.Join(err, f.Discard(draft))
	}},
	{"Unchanged", func(f *Folder, hidden, _ Path) error { return f.Unchanged(hidden, Text([]byte("text"))) }},
	{"SyncFile", func(f *Folder, hidden, _ Path) error { return f.SyncFile(hidden) }},
	{"RemoveName", func(f *Folder, hidden, _ Path) error { return f.RemoveName(hidden, Text([]byte("text"))) }},
	{"FolderInfo", func(f *Folder, hidden, _ Path) error { _, err := f.FolderInfo(hidden); return err }},
	{"IsFree", func(f *Folder, hidden, _ Path) error {
		isFree, err := f.IsFree(hidden)
		if err == nil && !isFree {
			return fs.ErrExist
		}
		return cmp.Or(err, missing(hidden))
	}},
	{"MakeFolder", func(f *Folder, hidden, _ Path) error { return f.MakeFolder(hidden) }},
	{"RemoveFolder", func(f *Folder, hidden, _ Path) error { return f.RemoveFolder(hidden) }},
	{"SetModified", func(f *Folder, hidden, _ Path) error { return f.SetModified(hidden, time.Unix(1, 0)) }},
	{"Contents", func(f *Folder, hidden, _ Path) error { _, err := f.Contents(hidden); return err }},
	{"SetAside", func(f *Folder, hidden, _ Path) error { return remove(f, hidden, Text([]byte("text"))) }},
	{"Move", func(f *Folder, hidden, seen Path) error {
		return f.Move(hidden, Path{"moved.md"}, Text([]byte("text")))
	}},
	{"Move", func(f *Folder, hidden, seen Path) error { return f.Move(seen, hidden, Text([]byte("text"))) }},
	{"Trash", func(f *Folder, hidden, _ Path) error { _, err := trash(f, hidden, Text([]byte("text"))); return err }},
	{"Untrash", func(f *Folder, hidden, _ Path) error { return f.Untrash("old.md", hidden, Text([]byte("text"))) }},
}

// pathless are the exported methods that take no path or do nothing with the file,
// and why a view has nothing to say to them.
var pathless = map[string]string{
	"Over":  "keeps the view",
	"Close": "closes", "Info": "is about the vault itself", "WithView": "makes the view", "Counting": "keeps the view",
	"Redacting": "keeps the view", "Judging": "keeps the view", "Judges": "is about the folder itself",
	"IsClosed": "is for the view", "Raw": "keeps the view", "IsRedacted": "is about the folder itself",
	"Interpose": "is for tests", "InterposeReads": "is for tests", "Telling": "keeps the view",
	"Told":     "returns its error",
	"NewDraft": "makes a name for a temporary file", "NearestFolder": "says where a temporary file may be",
	"Holds": "is about a temporary file", "Discard": "removes a temporary file",
	"ReplacedInfo": "is about a temporary file", "KeepBeside": "gives a file a free name next to its own path",
	"ReadDraft": "is about a temporary file", "PutBack": "gives a file its own path again",
	"Stage": "is tried with Replace", "StageAll": "is Stage for several", "IsOneFile": "is asked of the whole vault",
	"Gathering": "keeps the view", "CloseGathered": "is about folders that are open",
	"HasExchanged": "is about the disk itself", "Whole": "is for what completes a change",
	"MissingFolders": "says which folders a change makes, for the journal",
	"FreeTrashName":  "makes a name in the trash", "HoldsTrashed": "is about a file in the trash", "RemoveEmptyTrash": "is about the trash",
	"SeesFile":   "is the view",
	"SeesFolder": "is the view",
	"HasStub":    "is about another file, and judged by the test of what was not found",
	"MayMake":    "looks at names alone",
	"Named":      "says how a path is written", "NamedInAnyForm": "says how a path is written", "Renamed": "says how a path is written",
	"Config": "reads the app's settings, by the name of one", "Ignored": "reads the file of patterns",
	"Stamper": "has a method by path, which is tried with Stamp",
}

// A method that is new is put into one of the two lists.
func TestEveryMethodByPathIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, method := range byPath {
		listed[method.name] = true
	}
	files := require.Value(filepath.Glob("*.go"))(t)
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, decl := range require.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t).Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() || receiver(f) != "Folder" {
				continue
			}
			found++
			takes := slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool { return mentions(p.Type, "Path") })
			_, without := pathless[f.Name.Name]
			if takes && !listed[f.Name.Name] && !without || !takes && !without || listed[f.Name.Name] && without {
				t.Errorf("%s takes a path: %v; in the list of those that do: %v, in the other one: %v", f.Name.Name, takes, listed[f.Name.Name], without)
			}
		}
	}
	assert.That(t, found == len(listed)+len(pathless), "%d methods were found, and %d are listed", found, len(listed)+len(pathless))
}

func receiver(f *ast.FuncDecl) string {
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	name, _ := kind.(*ast.Ident)
	return name.Name
}

func mentions(kind ast.Expr, name string) (found bool) {
	if _, isFunc := kind.(*ast.FuncType); isFunc {
		return false
	}
	ast.Inspect(kind, func(n ast.Node) bool {
		ident, ok := n.(*ast.Ident)
		found = found || ok && ident.Name == name
		return true
	})
	return found
}

// Whatever is at a hidden path, every method answers as if nothing was there, in
// the same words, and leaves it as it is.
func TestNoMethodReachesWhatIsHidden(t *testing.T) {
	dir := planted(t, map[string]string{
		"seen.md": "text", "Hidden/there.md": "text", "Hidden/Open/in.md": "text", "one.md": "text", "file/x.md": "text", ".trash/old.md": "text",
	})
	require.NoError(t, os.Symlink("seen.md", filepath.Join(dir, "Hidden", "link.md")))
	view := levels{"Hidden": false, "Hidden/Open": true, "Hidden/Open/Shut": false, "one.md": false, "none": false, "file": false}
	folder := openFolder(t, dir).WithView(view)
	before := treeText(t, dir)
	for _, method := range byPath {
		if method.name == "SyncFile" && !system.CanSyncLater { // it does nothing
			continue
		}
		said := map[string][]string{}
		for _, hidden := range []string{
			"Hidden/there.md", "Hidden/missing.md", "Hidden/link.md", "Hidden/Other", "Hidden/there.md/x.md", "Hidden/Open/Shut", "Hidden/Open/Shut/x.md",
			"one.md", "one.md/x.md", "none", "none/x.md", "file", "file/x.md",
		} {
			err := method.call(folder, mustPath(t, hidden), mustPath(t, "seen.md"))
			var refusal *Refusal
			if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &refusal) {
				t.Errorf("%s %s: %v", method.name, hidden, err)
				continue
			}
			said[kindOf(err)] = append(said[kindOf(err)], hidden)
		}
		assert.That(t, len(said) <= 1, "%s says different things: %v", method.name, said)
		after := treeText(t, dir)
		require.That(t, after == before, "%s changed the folder:\n%s\nbefore:\n%s", method.name, after, before)
	}
}

// TestNoMethodReachesWhatItsTextCloses: a closed note, and what would be below it, is answered as if
// nothing was there, but for the methods that would make a file in its place.
func TestNoMethodReachesWhatItsTextCloses(t *testing.T) {
	dir := planted(t, map[string]string{"seen.md": "text", "one.md": "text", "In/two.MD": "text", ".trash/old.md": "text", "spared.md": "text"})
	judge := NewJudge(func(p Path) bool { return p.String() != "spared.md" },
		func(text []byte) bool { return string(text) == "text" }, func(io.Reader) bool { return true })
	of := func(err error) string {
		switch {
		case err == nil:
			return "no error"
		case errors.Is(err, fs.ErrNotExist):
			return "missing"
		}
		return kindOf(err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "seen.md"), []byte("open"), 0o600))
	before := treeText(t, dir)
	for _, method := range byPath {
		for _, at := range [][2]string{{"one.md", "gone.md"}, {"one.md/x.md", "gone.md/x.md"}, {"In/two.MD", "In/gone.MD"}} {
			folder := openFolder(t, dir).Judging(judge)
			got := method.call(folder, mustPath(t, at[0]), mustPath(t, "seen.md"))
			if after := treeText(t, dir); after != before {
				t.Fatalf("%s %s changed the folder:\n%s\nbefore:\n%s", method.name, at[0], after, before)
			}
			want := "refused: cannot be created"
			if !slices.Contains([]string{"Publish", "MakeFolder", "Untrash"}, method.name) {
				want = of(method.call(folder, mustPath(t, at[1]), mustPath(t, "seen.md")))
			}
			if of(got) != want && (method.name != "Move" || of(got) != "refused: cannot be created") { // of the move to the note
				t.Errorf("%s %s: %q, want %q", method.name, at[0], of(got), want)
			}
		}
	}
	folder := openFolder(t, dir).Judging(judge)
	assert.Equal(t, of(folder.Move(mustPath(t, "seen.md"), mustPath(t, "one.md"), Text([]byte("open")))),
		"refused: cannot be created", "a move to a closed note")
	var seen []string
	require.NoError(t, folder.Walk(Path{}, func(e Entry) { seen = append(seen, e.Path.String()) }))
	slices.Sort(seen)
	assert.That(t, slices.Equal(seen, []string{"In", "seen.md", "spared.md"}), "%q are listed", seen)
	// The note is judged as it is at that moment.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.md"), []byte("open now"), 0o600))
	text, err := folder.Read(mustPath(t, "one.md"))
	assert.Equal(t, string(text), "open now")
	require.NoError(t, err)
	assert.That(t, !folder.IsClosed(mustPath(t, "one.md")), "%q, %v", text, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.md"), []byte("text"), 0o600))
	_, err = folder.Stat(mustPath(t, "one.md"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.That(t, folder.IsClosed(mustPath(t, "one.md")), "%v", err)
}

// kindOf is what an error says besides the path.
func kindOf(err error) string {
	var refusal *Refusal
	var missing *fs.PathError
	switch {
	case errors.As(err, &refusal):
		return "refused: " + refusal.Reason
	case errors.As(err, &missing):
		return missing.Op + ": " + missing.Err.Error()
	}
	return err.Error()
}

// treeText lists a folder with the texts of its files, hidden ones too.
func treeText(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&out, "%s %s\n", path, text)
		} else {
			fmt.Fprintln(&out, path)
		}
		return err
	})
	require.NoError(t, err)
	return out.String()
}

// The settings that are written are not the affair of a view, whatever it hides.
func TestAViewDoesNotHideTheBookmarks(t *testing.T) {
	dir := planted(t, map[string]string{".obsidian/bookmarks.json": "{}"})
	text, err := openFolder(t, dir).WithView(levels{"": false}).Read(Bookmarks())
	assert.Equal(t, string(text), "{}", "%q, %v", text, err)
}

func TestWalksMeetExactlyWhatTheViewSees(t *testing.T) {
	segments := rapid.SampledFrom([]string{"a", "b", "c", "x.md"})
	paths := rapid.Map(rapid.SliceOfN(segments, 1, 3), func(s []string) string { return strings.Join(s, "/") })
	rapid.Check(t, func(rt *rapid.T) {
		dir := require.Value(os.MkdirTemp("", "view-"))(rt)
		defer os.RemoveAll(dir)
		for _, path := range rapid.SliceOfN(paths, 0, 8).Draw(rt, "files") {
			full := filepath.Join(dir, path)
			if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
				_ = os.WriteFile(full, nil, 0o644) // there may be a folder already
			}
		}
		view := levels(rapid.MapOfN(rapid.OneOf(paths, rapid.Just("")), rapid.Bool(), 0, 4).Draw(rt, "view"))
		whole := require.Value(Open(dir))(rt)
		defer whole.Close()
		folder := whole.WithView(view)
		for _, under := range append(entries(rt, whole.Walk, Path{}), "", "missing", "a/missing") {
			at, _ := ParseFolder(strings.TrimSuffix(under, "/"))
			var want []string
			for _, name := range entries(rt, whole.Walk, at) {
				if view.sees(strings.TrimSuffix(name, "/")) {
					want = append(want, name)
				}
			}
			assert.EqualSlices(rt, entries(rt, folder.Walk, at), want, "below %q", under)
			assert.EqualSlices(rt, entries(rt, folder.WalkParallel, at), want, "below %q at once", under)
			folders := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !strings.HasSuffix(name, "/") })
			var met []string
			var mu sync.Mutex
			alone := folder.WalkFolders(at, func(p Path) {
				mu.Lock()
				defer mu.Unlock()
				met = append(met, p.String()+"/")
			})
			slices.Sort(met)
			assert.EqualSlices(rt, met, folders, "folders below %q", under)
			// A folder that is not seen, with nothing in it that is, is missing.
			err, both := folder.Walk(at, func(Entry) {}), folder.WalkParallel(at, func(Entry) {})
			if at != (Path{}) && !view.SeesFolder(at.text) && len(want) == 0 && !errors.Is(err, fs.ErrNotExist) {
				rt.Errorf("below %q, which is hidden: %v", under, err)
			}
			assert.Equal(rt, IsMissing(err), IsMissing(both),
				"below %q: %v, at once %v, and of folders %v", under, err, both, alone)
			assert.Equal(rt, IsMissing(err), IsMissing(alone),
				"below %q: %v, at once %v, and of folders %v", under, err, both, alone)
		}
	})
}

// entries are what a walk meets, sorted, folders with a slash.
func entries(t require.T, walk func(Path, func(Entry)) error, under Path) (names []string) {
	var mu sync.Mutex
	err := walk(under, func(e Entry) {
		mu.Lock()
		defer mu.Unlock()
		name := e.Path.String()
		if e.IsDir {
			name += "/"
		}
		names = append(names, name)
	})
	require.That(t, err == nil || IsMissing(err), "%v", err)
	slices.Sort(names)
	return names
}

// A walk counts the files that it is going to visit, and none that the view hides.
func TestAWalkCountsWhatIsSeen(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.md", "pic.png", "Open/b.md", "Open/Deep/c.md", "Private/d.md", "Private/e.md", "Private/Deep/f.md"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)))
	}
	for _, tt := range []struct {
		view View
		want int64
	}{{nil, 7}, {levels{"Private": false}, 4}, {levels{"Private": false, "Private/Deep": true}, 5}, {levels{"": false}, 0}} {
		folder := openFolder(t, dir)
		if tt.view != nil {
			folder = folder.WithView(tt.view)
		}
		var found, visited atomic.Int64
		counting := folder.Counting(func(files int) { found.Add(int64(files)) })
		err := counting.WalkParallel(Path{}, func(e Entry) {
			if !e.IsDir {
				visited.Add(1)
			}
		})
		require.NoError(t, err)
		if found.Load() != visited.Load() || found.Load() != tt.want {
			t.Errorf("%v: found %d and visited %d, want %d", tt.view, found.Load(), visited.Load(), tt.want)
		}
	}
}
