package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// residentOn returns the store of a worker on a vault of so many notes, and the vault as a
// call an hour later sees it: all stamps can be trusted.
func residentOn(t *testing.T, notes int) (*Store, View) {
	t.Helper()
	dir, caches := t.TempDir(), t.TempDir()
	for n := range notes {
		write(t, dir, n, fmt.Sprintf("# Note %d\nword%d\n", n, n))
	}
	folder := require.Value(disk.Open(dir))(t)
	k := &Store{Resident: true}
	t.Cleanup(func() { k.Close(); folder.Close() })
	env := func(name string) string {
		return map[string]string{"XDG_CACHE_HOME": caches, "LOCALAPPDATA": caches, "HOME": caches}[name]
	}
	from := View{Ctx: t.Context(), Folder: folder, Path: dir, Env: env, Now: func() time.Time { return time.Now().Add(time.Hour) }}
	require.Value(k.Index(from))(t)
	k.awaitSaving()
	return k, from
}

func write(t *testing.T, dir string, n int, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.md", n)), []byte(text), 0o600))
}

// filtersIn returns how many files of the cache have a text, and how many a filter.
func filtersIn(k *Store, from View, x *index.Index) (texts, filters int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.openFolder(from)
	k.awaitSaving()
	for _, f := range x.Files {
		if record, ok := k.cache.Find(f.Path.String(), f.Stamp); ok && record.Has(cache.TextPart) {
			texts++
			if record.Has(cache.FilterPart) {
				filters++
			}
		}
	}
	return texts, filters
}

// TestFiltersAreMadeByWhoSearches has an index made by a process for one call, and searches
// after it: by a worker, which keeps the filters when it rests, and by processes for one
// call, which keep them at once.
func TestFiltersAreMadeByWhoSearches(t *testing.T) {
	t.Run("one call", func(t *testing.T) { searchWithoutFilters(t, false) })
	t.Run("worker", func(t *testing.T) { searchWithoutFilters(t, true) })
}

func searchWithoutFilters(t *testing.T, kept bool) {
	const notes = 100
	resident, from := residentOn(t, notes)
	resident.Close()
	caches := t.TempDir()
	from.Env = func(string) string { return caches }
	var x *index.Index
	oneCall := func(do func(k *Store)) {
		var k Store
		do(&k)
		k.Close()
	}
	count := func(k *Store, want int) {
		t.Helper()
		texts, filters := filtersIn(k, from, x)
		require.Equal(t, texts, notes, "%d texts and %d filters are kept, want %d and %d", texts, filters, notes, want)
		require.Equal(t, filters, want, "%d texts and %d filters are kept, want %d and %d", texts, filters, notes, want)
	}
	oneCall(func(k *Store) {
		var err error
		x, err = k.Index(from)
		require.NoError(t, err)
		count(k, 0)
	})
	worker := &Store{Resident: true}
	t.Cleanup(worker.Close)
	y := require.Value(worker.Index(from))(t)
	worker.withRecords(y, func(_ *cache.Cache, has recordTable) {
		for _, f := range has.files {
			assert.That(t, f.filter != "", "%s has no filter in a worker", f.path)
			assert.That(t, f.isMade, "%s has no filter in a worker", f.path)
		}
	})
	if kept {
		worker.Rest()
		oneCall(func(k *Store) { count(k, notes) })
		texts, filters := filtersIn(worker, from, y)
		assert.Equal(t, texts, notes, "the worker has %d texts and %d filters", texts, filters)
		assert.Equal(t, filters, notes, "the worker has %d texts and %d filters", texts, filters)
	}
	for range 2 {
		oneCall(func(k *Store) {
			var found atomic.Int64
			s := Scope{Texts: true, Excluded: func(string) bool { return false }}
			err := k.EachNote(from, s, func(n *Note) {
				if strings.Contains(string(n.Text()), "word") {
					found.Add(1)
				}
			})
			require.Equal(t, err, nil, "a search finds %d notes", found.Load())
			assert.Equal(t, found.Load(), notes, "a search finds %d notes", found.Load())
			count(k, notes)
		})
	}
}

// lookAgain has every file looked at, as happens after some time.
func lookAgain(t *testing.T, k *Store, from View) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	require.Value(k.scanAll(from))(t)
}

// readFromVault searches for a text and returns the notes that have it, and how many had to
// be read in the vault.
func readFromVault(t *testing.T, k *Store, from View, text string) (found, read int) {
	t.Helper()
	var hits, reads atomic.Int64
	scope := Scope{Excluded: func(string) bool { return false }, Texts: true}
	err := k.EachNote(from, scope, func(n *Note) {
		if !n.hasText {
			reads.Add(1)
		}
		if strings.Contains(string(n.Text()), text) {
			hits.Add(1)
		}
	})
	require.NoError(t, err)
	return int(hits.Load()), int(reads.Load())
}

func TestALookAtAllFilesKeepsTheCache(t *testing.T) {
	const notes = 20
	k, from := residentOn(t, notes)
	require.That(t, k.cache.Len() == notes, "the cache has %d notes at first", k.cache.Len())
	for range 2 {
		lookAgain(t, k, from)
		if found, read := readFromVault(t, k, from, "word7"); k.cache.Len() != notes || found != 1 || read != 0 {
			t.Fatalf("the cache has %d notes; a search finds %d and reads %d in the vault", k.cache.Len(), found, read)
		}
	}
	write(t, from.Path, 3, "changed to word7\n")
	require.NoError(t, os.Remove(filepath.Join(from.Path, "005.md")))
	lookAgain(t, k, from)
	if found, read := readFromVault(t, k, from, "word7"); k.cache.Len() != notes-1 || found != 2 || read != 0 {
		t.Errorf("after a change the cache has %d notes; a search finds %d and reads %d in the vault", k.cache.Len(), found, read)
	}
	found, _ := readFromVault(t, k, from, "word3")
	assert.Equal(t, found, 0, "a search is answered from the text before the change")
	var again Store
	again.openFolder(View{Ctx: context.Background(), Folder: from.Folder, Path: from.Path, Env: from.Env})
	defer again.Close()
	got := again.cache.Len()
	assert.That(t, got == notes-1, "the next process finds %d notes in the cache", got)
}

// TestPathsAreComparedInNormalFormC has names of two normal forms, in an index that is
// made anew and in one that is brought up to date.
func TestPathsAreComparedInNormalFormC(t *testing.T) {
	k, from := residentOn(t, 1)
	for _, name := range []string{"Cafe\u0301.md", "Caf\u00e9 2.md", "Tea \U0001f375.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(from.Path, name), []byte("text"), 0o600))
		for range 2 {
			lookAgain(t, k, from)
			var mu sync.Mutex
			paths := map[string]string{}
			scope := Scope{Excluded: func(string) bool { return false }}
			err := k.EachNote(from, scope, func(n *Note) {
				mu.Lock()
				defer mu.Unlock()
				paths[n.File] = n.Path()
			})
			require.NoError(t, err)
			got, want := paths[name], norm.NFC.String(name)
			assert.Equal(t, got, want, "%+q is searched as", name)
		}
	}
}

// A search that takes long holds up nothing: while its visits wait, notes change, and the
// searches of others find what is new, with an index and without.
func TestALongSearchHoldsUpNothing(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		k, from := residentOn(t, 3)
		s := Scope{Texts: true, Excluded: func(string) bool { return false }}
		each := func(visit func(*Note)) {
			x, _ := k.Index(from)
			if indexed {
				k.eachIndexed(x, from, s, visit)
			} else if err := k.eachWalked(from, s, visit); err != nil {
				t.Error(err)
			}
		}
		begun, end, ended := make(chan struct{}, 3), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			each(func(n *Note) { begun <- struct{}{}; <-end })
		}()
		<-begun
		other := make(chan int64)
		go func() {
			write(t, from.Path, 1, "changed")
			changed, _ := disk.ParsePath("001.md")
			k.Touch(changed)
			x, _ := k.Index(from)
			k.lookUpRecords(x)
			k.Rest()
			var found atomic.Int64
			each(func(n *Note) {
				if string(n.Text()) == "changed" {
					found.Add(1)
				}
			})
			other <- found.Load()
		}()
		select {
		case found := <-other:
			assert.That(t, found == 1, "indexed %v: %d notes are found", indexed, found)
		case <-time.After(20 * time.Second):
			t.Errorf("indexed %v: the others wait", indexed)
		}
		close(end)
		<-ended
	}
}

// The folders are looked for once, and again after each change.
func TestFoldersAreKeptUntilAChange(t *testing.T) {
	k, from := residentOn(t, 3)
	if k.watcher == nil {
		t.Skip("this folder cannot be watched")
	}
	list := func() []string {
		t.Helper()
		return require.Value(k.Folders(from))(t)
	}
	wait := func(want ...string) {
		t.Helper()
		var got []string
		assert.Await(20*time.Second, func() bool {
			got = list()
			return slices.Equal(got, want)
		})
		require.EqualSlices(t, got, want, "the folders")
	}
	full := func(name string) string { return filepath.Join(from.Path, name) }
	steps := []struct {
		do   func() error
		want []string
	}{
		{func() error { return nil }, nil},
		{func() error { return os.MkdirAll(full("B/In"), 0o700) }, []string{"B", "B/In"}},
		{func() error { return os.Mkdir(full("a"), 0o700) }, []string{"a", "B", "B/In"}},
		{func() error { return os.Rename(full("B"), full("C")) }, []string{"a", "C", "C/In"}},
		{func() error { return os.Mkdir(full(".hidden"), 0o700) }, []string{"a", "C", "C/In"}},
		{func() error { return os.Remove(full("C/In")) }, []string{"a", "C"}},
	}
	for _, s := range steps {
		require.NoError(t, s.do())
		wait(s.want...)
	}
	kept := func() bool { a, b := list(), list(); return &a[0] == &b[0] }
	require.Within(t, 20*time.Second, "the folders are kept between calls", kept)
	wait("a", "C")
}

// TestAnIndexKnowsAllChangesBefore: what another program has written before a call is in the index of the call, however late
// the system's reports are read. Here they wait for processors that are busy.
func TestAnIndexKnowsAllChangesBefore(t *testing.T) {
	k, from := residentOn(t, 3)
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for ctx.Err() == nil {
			}
		})
	}
	defer busy.Wait()
	defer stop()
	for n := range 40 {
		tag := fmt.Sprintf("tag%d", n)
		write(t, from.Path, 1, "#"+tag+"\n")
		x := require.Value(k.Index(from))(t)
		place, isThere := x.Place("001.md")
		require.That(t, isThere, "the note is not in the index")
		assert.Equal(t, strings.Join(x.Files[place].Facts().Tags(), " "), "#"+tag)
	}
}
