package search_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// library is a vault with a cache, long after its files were written.
func library(t testing.TB) *embedded.Vault {
	t.Helper()
	files := map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Out/"]}`,
		"Board.canvas":       `{"nodes":[{"type":"file","file":"Sub/Note 1.md"},{"type":"text","text":"[[Note 2]] ![[pic.png]] #no"}]}`,
		"Out/Hidden.md":      "#hidden zebra [[Note 3]]", "pic.png": "x", "Sub/R&D.csv": "a,b", "Empty.md": "",
		"Heads.base":     "filters: tags\nformulas: {n: 'tags.length + file.tags.length'}\nviews:\n  - {type: table, name: All, order: [file.path, formula.n, up], summaries: {formula.n: Sum}, sort: [{property: up, direction: DESC}]}\n",
		"Bad\xffname.md": "x", "Odd.md": "\xff zebra \x00",
	}
	for i := range 40 {
		files[fmt.Sprintf("Sub/Note %d.md",
			i)] = fmt.Sprintf("---\ntags: [a, n%d]\nup: \"[[Note %d]]\"\n---\n# Head %d\n\n[[Note %d|x]] [[nowhere %d]] #b/c zebra %d\n\n- [ ] do %d\n- [x] done\n",
			i%7, (i+1)%40, i, (i*3)%40, i%5, i, i)
	}
	h := embedded.New(t, files)
	h.Env["XDG_CACHE_HOME"] = t.TempDir()
	h.Later = time.Hour
	return h
}

// questions are calls whose answers come from an index or from all texts.
var questions = [][]string{
	{"search", "query=zebra"}, {"search", "query=zebra -tag:#n3", "format=json"},
	{"search:context", "query=line:(zebra 1)"}, {"search", "query=[up:Note]", "total"},
	{"search", "query=path:Sub"}, {"search", "query=task-todo:do", "path=Sub", "limit=3"},
	{"search", "query=zebra", "path=Nowhere"}, {"search", "query=zebra", "path=Empty.md"},
	{"tags", "counts"}, {"tag", "name=b/c", "verbose"}, {"tasks", "todo", "verbose"}, {"tasks", "format=json"}, {"properties", "counts"}, {"aliases"},
	{"backlinks", "path=Sub/Note 3.md", "counts"}, {"links", "file=Note 4"}, {"unresolved", "counts", "verbose"},
	{"orphans"}, {"deadends"}, {"outline", "file=Note 5"},
	{"query", "where=file.hasTag(\"b/c\") && up", "select=file.name, up, tags, file.backlinks.length, file.links", "sort=up desc", "format=csv"},
	{"query", "where=file.hasLink(\"Note 3\")", "group=tags", "groups", "all", "explain"},
	{"base:query", "path=Heads.base", "summaries", "values=typed"},
	{"base:eval", "file=Note 8", "expr=file.backlinks"},
	{"read", "file=note 7"}, {"read", "file=nothing"}, {"files", "total"}, {"files"}, {"files", "ext=canvas"},
	{"folders"}, {"recent", "limit=60"}, {"aliases", "verbose"}, {"wordcount", "file=Note 9"},
	{"files", "folder=Sub"}, {"files", "folder=Sub/In", "total"}, {"files", "folder=Nowhere", "ext=md"},
	{"files", "folder=Empty 1"}, {"files", "ext=nothing"}, {"bases"}, {"templates"},
	{"attachments"}, {"attachments", "format=json"}, {"attachments", "unused", "folder=Sub"},
	{"attachments", "total", "type=image"}, {"attachments", "folder=Empty 0", "format=json"},
	{"vault"}, {"folder", "path=Sub"}, {"folder", "path=Empty 1"}, {"folder", "path=/", "info=size"},
	{"tasks", "folder=Sub", "total"}, {"tasks", "folder=Empty 2"}, {"tasks", "folder=/", "todo"},
	{"random:read", "seed=3", "count=3"}, {"random:read", "seed=4", "folder=Sub", "min-age=1"},
	{"random:read", "min-age=9999"}, {"read", "path=Sub/Note 77.md"}, {"read", "path=Subs/Note 1.md"},
	{"folder", "path=Sab"},
}

// answers returns what the program says in a process for each call.
func answers(h *embedded.Vault) string {
	var all strings.Builder
	for _, q := range questions {
		status, out, stderr := h.Run(q...)
		fmt.Fprintf(&all, "%q %d\n%s%s", q, status, out, stderr)
	}
	return all.String()
}

func without(h *embedded.Vault) *embedded.Vault {
	bare := *h
	bare.Env = map[string]string{date.NowVariable: embedded.Saturday}
	return &bare
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		require.Equal(t, a[i], b[i], "%s: line %d", what, i)
	}
	t.Fatalf("%s: %d lines, want %d", what, len(a), len(b))
}

func TestAnswersDoNotDependOnTheCache(t *testing.T) {
	h := library(t)
	want := answers(without(h))
	require.Contains(t, want, "zebra")
	require.That(t, !strings.Contains(want, "Hidden") || strings.Contains(want, "Out/Hidden.md"), "%v", want)
	same(t, "no cache yet", answers(h), want)
	dir := filepath.Join(h.Env["XDG_CACHE_HOME"], "vaultwicket")
	kept := 44 // 40 and four, of which one is excluded and one a canvas
	if runtime.GOOS == "windows" {
		kept++ // there the name that is not UTF-8 becomes one that is
	}
	n := cached(dir, h.Dir)
	assert.That(t, n == kept, "the cache contains %d files", n)
	same(t, "with a cache", answers(h), want)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.That(t, len(files) >= 2, "%v %v", files, err)
	pieces := testenv.Count(3, 9)
	for _, file := range files {
		name := filepath.Join(dir, file.Name())
		text := require.Value(os.ReadFile(name))(t)
		for at := 0; at < len(text); at += 1 + len(text)/pieces {
			torn := bytes.Clone(text)
			torn[at] ^= 0x55
			require.NoError(t, os.WriteFile(name, torn, 0o600))
			same(t, fmt.Sprintf("byte %d of %s changed", at, file.Name()), answers(h), want)
			err := os.WriteFile(name, text[:at], 0o600)
			require.That(t, err == nil || os.IsNotExist(err), "%v", err)
			same(t, fmt.Sprintf("%s cut at %d", file.Name(), at), answers(h), want)
		}
	}
}

// A change is seen by its stamp, also where the time of the file was set back.
func TestTheCacheFollowsTheVault(t *testing.T) {
	h := library(t)
	answers(h)
	note := h.File("Sub/Note 3.md")
	before := require.Value(os.Stat(note))(t)
	h.Put("Sub/Note 3.md", strings.Replace(h.Get("Sub/Note 3.md"), "zebra", "horse", 1))
	require.NoError(t, os.Chtimes(note, time.Time{}, before.ModTime()))
	require.NoError(t, os.Remove(h.File("Sub/Note 5.md")))
	require.NoError(t, os.Rename(h.File("Sub"), h.File("Moved")))
	same(t, "after changes", answers(h), answers(without(h)))
	same(t, "and once more", answers(h), answers(without(h)))
}

// What was written a moment ago may be written again within one tick of the
// clock, with nothing to tell by: it is not kept.
func TestAYoungNoteIsNotKept(t *testing.T) {
	h := library(t)
	h.Later = -time.Hour // however long the answers take
	same(t, "young notes", answers(h), answers(without(h)))
	n := cached(filepath.Join(h.Env["XDG_CACHE_HOME"], "vaultwicket"), h.Dir)
	assert.That(t, n == 0, "the cache contains %d files", n)
}

// cached returns how many files of a vault the cache in a folder contains.
func cached(dir, vault string) int {
	c := cache.Open(dir, vault, search.BuildID())
	defer c.Close()
	return c.Len()
}

func TestManyProcessesShareACache(t *testing.T) {
	h := library(t)
	want := answers(without(h))
	var all sync.WaitGroup
	processes, times := 6, 3
	if testing.Short() {
		processes, times = 4, 1
	}
	for range processes {
		all.Go(func() {
			for range times {
				assert.Equal(t, answers(h), want, "a process answers differently")
			}
		})
	}
	all.Wait()
}

// everything is answers by a worker.
func everything(w *embedded.Worker) string {
	var all strings.Builder
	for _, q := range questions {
		got := w.Ask(nil, q...)
		fmt.Fprintf(&all, "%q %d\n%s%s", q, got.End.Status, got.Stdout, got.Stderr)
	}
	return all.String()
}

// Whatever is changed while a worker runs, what is hidden among it, it answers soon as a
// process would.
func TestAWorkerFollowsTheVault(t *testing.T) {
	h := library(t)
	w := h.Worker()
	same(t, "at first", everything(w), answers(without(h)))
	random := rand.New(rand.NewPCG(3, 4))
	for round := range testenv.Count(6, 12) {
		for range 1 + random.IntN(6) {
			name := fmt.Sprintf("Sub/Note %d.md", random.IntN(45))
			switch random.IntN(8) {
			case 0:
				_ = os.Remove(h.File(name))
			case 1:
				_ = os.Rename(h.File(name), h.File(fmt.Sprintf("Note %d.md", random.IntN(45))))
			case 2:
				_ = os.Rename(h.File("Sub"), h.File("Other"))
				_ = os.Rename(h.File("Other"), h.File("Sub"))
			case 3:
				h.Put(".vaultwicketignore", []string{"", "Sub/Note 1*.md\n", "Note 2*.md\n!Sub/Note 20.md\n", "Empty*/In/\n"}[random.IntN(4)])
			case 4:
				_ = os.MkdirAll(h.File(fmt.Sprintf("Empty %d/In", random.IntN(3))), 0o700)
			case 5:
				folder := h.File(fmt.Sprintf("Empty %d", random.IntN(3)))
				_ = os.Remove(filepath.Join(folder, "In"))
				_ = os.Rename(folder, h.File("Sub/Emptied"))
				_ = os.Remove(folder)
			default:
				h.Put(name, fmt.Sprintf("#t%d zebra [[Note %d]]\n- [ ] %d", random.IntN(9), random.IntN(45), random.Uint64()))
			}
		}
		want := answers(without(h))
		var got string
		assert.Await(20*time.Second, func() bool {
			got = everything(w)
			return got == want
		})
		same(t, fmt.Sprintf("round %d", round), got, want)
	}
}

// A change that came through the worker itself is seen at the next call.
func TestAWorkerSeesItsOwnChangesAtOnce(t *testing.T) {
	w := library(t).Worker()
	everything(w)
	for i := range 50 {
		w.Ask(nil, "daily:append", fmt.Sprintf("content=#own%d", i))
		require.Equal(t, w.Ask(nil, "tag", fmt.Sprintf("name=own%d", i)).Stdout, "2026-11-21.md\n", "change %d", i)
	}
}

// A note that was removed a moment ago is not picked, however soon the worker is told.
func TestARemovedNoteIsNotPicked(t *testing.T) {
	h := library(t)
	w := h.Worker()
	w.Ask(nil, "tags") // has the index made
	for i := range 30 {
		name := fmt.Sprintf("Sub/Note %d.md", i)
		require.NoError(t, os.Remove(h.File(name)))
		got := w.Ask(nil, "random:read", "count=20", fmt.Sprintf("seed=%d", i))
		if got.End.Status != answer.ExitDone || strings.Contains(got.Stdout, name+" ") {
			t.Fatalf("without %s: %d, %.300q %q", name, got.End.Status, got.Stdout, got.Stderr)
		}
	}
}

// A folder all notes of which were removed a moment ago has none, however soon the worker is told.
func TestAFolderWhoseNotesAreRemoved(t *testing.T) {
	h := library(t)
	for i := range 20 {
		h.Put(fmt.Sprintf("Gone %d/Note.md", i), "x")
	}
	w := h.Worker()
	w.Ask(nil, "tags")
	for i := range 20 {
		folder := fmt.Sprintf("Gone %d", i)
		require.NoError(t, os.Remove(h.File(folder+"/Note.md")))
		for _, words := range [][]string{{"random:read", "folder=" + folder}, {"random", "folder=" + folder},
			{"random:read", "folder=" + folder, "min-age=0"}} {
			got := w.Ask(nil, words...)
			if got.End.Status != answer.ExitDone || !strings.HasPrefix(got.Stdout, "No markdown files found.") {
				t.Errorf("%q: %d, %q %q", words, got.End.Status, got.Stdout, got.Stderr)
			}
		}
	}
}

func TestACancelledSearchEnds(t *testing.T) {
	h := library(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, q := range [][]string{{"search", "query=zebra"}, {"tags"}} {
		at := h.Host()
		at.Knowledge.Resident = true
		status, out, _ := embedded.Asked(ctx, at, "", append([]string{h.Dir}, q...))
		assert.That(t, status != answer.ExitDone, "%q: %d, %q", q, status, out)
		assert.Contains(t, out, context.Canceled.Error(), "%q", q)
		at.Close()
	}
}
