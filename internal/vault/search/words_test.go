package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// asked returns the paths of the files that have a word, as a call finds them.
func asked(t *testing.T, k *Store, from View, word string) string {
	t.Helper()
	x := require.Value(k.Index(from))(t)
	var a ranking.Answer
	require.NoError(t, k.Words(from, x,
		Question{Excluded: func(path string) bool { return strings.HasPrefix(path, "Excluded/") },
			Use: func(view *ranking.View, _ int) (err error) {
				a, err = view.Ask(t.Context(), word, ranking.Vault{
					Now:      from.Now(),
					Modified: func(string) time.Time { return time.Time{} },
					Read: func(_ string, use func(ranking.Content)) error {
						use(ranking.Content{})
						return nil
					},
				}, 10)
				return err
			}}))
	var paths []string
	for _, r := range a.Results {
		paths = append(paths, r.Path)
	}
	return strings.Join(paths, " ")
}

// The words of a vault are those of its files as they are, for a worker and for processes of one
// call, whatever was changed, and whether the file in the folder of caches is there, is old or is
// damaged.
func TestWordsFollowTheVault(t *testing.T) {
	k, from := residentOn(t, fewFiles+8)
	require.NoError(t, os.MkdirAll(filepath.Join(from.Path, "Excluded"), 0o700))
	expect := func(word, want string) {
		t.Helper()
		got := asked(t, k, from, word)
		for end := time.Now().Add(10 * time.Second); got != want && time.Now().Before(end); got = asked(t, k, from, word) {
			time.Sleep(time.Millisecond) // the system reports changes a moment later
		}
		assert.Equal(t, got, want, "a worker finds %s in", word)
		var one Store
		defer one.Close()
		assert.Equal(t, asked(t, &one, from, word), want, "a call finds %s in", word)
	}
	change := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(from.Path, name), []byte(text), 0o600))
	}
	expect("word7", "007.md")
	expect("photovoltaics", "")
	change("007.md", "photovoltaics")
	expect("photovoltaics", "007.md")
	expect("word7", "")
	change("008.md", "words8")
	expect("words8", "008.md")
	require.NoError(t, os.Remove(filepath.Join(from.Path, "007.md")))
	expect("photovoltaics", "")
	change("Roof.canvas", `{"nodes":[{"id":"1","type":"text","text":"insulation","x":0,"y":0,"width":1,"height":1}],"edges":[]}`)
	expect("insulation", "Roof.canvas")
	change("scan of the contract.pdf", "%PDF")
	expect("contract", "scan of the contract.pdf")
	change("Excluded/a.md", "greenhouse")
	expect("greenhouse", "")
	k.Rest()
	expect("insulation", "Roof.canvas")
	saved, err := filepath.Glob(filepath.Join(ownerfiles.CacheFolder(from.Env, from.Path), "*"+wordsSuffix))
	require.Equal(t, err, nil, "saved")
	require.Equal(t, len(saved), 1, "saved")
	k.Rest()
	require.NoError(t, os.WriteFile(saved[0], []byte("no index"), 0o600))
	expect("insulation", "Roof.canvas")
	k.Rest()
	whole := require.Value(os.ReadFile(saved[0]))(t)
	whole[len(whole)-1] ^= 1 // of the postings, which are read when a word is asked for
	require.NoError(t, os.WriteFile(saved[0], whole, 0o600))
	expect("insulation", "Roof.canvas")
	k.Rest()
	require.NoError(t, os.Remove(saved[0]))
	expect("word9", "009.md")
}

// A file that was written a moment ago may change without a change of its stamp.
func TestWordsOfYoungFilesAreReadAgain(t *testing.T) {
	k, from := residentOn(t, 3)
	k.Close()
	from.Now = time.Now
	name := filepath.Join(from.Path, "000.md")
	at := time.Now().Add(time.Minute) // no call can be sure of it
	put := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(name, at, at))
	}
	for _, text := range []string{"first", "third", "tenth"} {
		put(text)
		var one Store
		assert.Equal(t, asked(t, &one, from, text), "000.md", "%s is found in", text)
		one.Close()
	}
}

// A call that has ended, or ends while the files are read, gets its error, and the next one an answer.
func TestWordsForACallThatEnds(t *testing.T) {
	k, from := residentOn(t, 2000)
	x := require.Value(k.Index(from))(t)
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		ending := from
		ctx, end := context.WithTimeout(t.Context(), after)
		ending.Ctx = ctx
		asked := false
		err := k.Words(ending, x, Question{Excluded: func(string) bool { return false }, Use: func(*ranking.View, int) error {
			asked = true
			return nil
		}})
		end()
		assert.That(t, asked != errors.Is(err, context.DeadlineExceeded), "after %v: %v, %v", after, asked, err)
		assert.That(t, asked || err != nil, "after %v: %v, %v", after, asked, err)
	}
	assert.Equal(t, asked(t, k, from, "word1999"), "1999.md", "the next call finds")
}

// A question whose time is over is answered from the files that are known by then, the latest ones first, and each further
// one from more of them.
func TestWordsOfSomeFiles(t *testing.T) {
	const notes = firstBatchSize + batchSize
	k, from := residentOn(t, notes)
	latest := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(from.Path, "005.md"), latest.Add(time.Minute), latest.Add(time.Minute)))
	for n := range notes {
		if n != 5 {
			at := latest.Add(-time.Duration(n) * time.Second)
			require.NoError(t, os.Chtimes(filepath.Join(from.Path, fmt.Sprintf("%03d.md", n)), at, at))
		}
	}
	ask := func(k *Store, until time.Time, word string) (first string, missing int) {
		t.Helper()
		x := require.Value(k.Index(from))(t)
		require.NoError(t, k.Words(from, x, Question{
			Excluded: func(string) bool { return false },
			Until:    until,
			Use: func(view *ranking.View, left int) error {
				a, err := view.Ask(t.Context(), word, ranking.Vault{
					Now:      from.Now(),
					Modified: func(string) time.Time { return time.Time{} },
					Read: func(_ string, use func(ranking.Content)) error {
						use(ranking.Content{})
						return nil
					},
				}, 10)
				first = a.Results[0].Path
				missing = left
				return err
			},
		}))
		return first, missing
	}
	past := time.Now().Add(-time.Minute)
	for _, missingFiles := range []int{notes - firstBatchSize, notes - 2*firstBatchSize} {
		var one Store // a process of one call
		first, missing := ask(&one, past, "word5")
		one.Close()
		assert.Equal(t, missing, missingFiles, "files that a call does not know")
		assert.Equal(t, first, "005.md", "%d files are missing: the first result is the latest note", missing)
		var other Store
		other.words.isReadOnly = true
		x := require.Value(other.Index(from))(t)
		other.words.open(from)
		changed, _ := other.words.outdated(x)
		assert.Equal(t, len(changed), missingFiles, "files that the saved index does not have")
		other.Close()
	}
	first, missing := ask(k, time.Time{}, fmt.Sprintf("word%d", notes-1))
	assert.Equal(t, missing, 0, "files that a call without a limit does not know")
	assert.Equal(t, first, fmt.Sprintf("%d.md", notes-1), "the note that was changed first is found")
}

// A worker reads on after a call whose time is over, and the next call has all.
func TestAWorkerReadsOn(t *testing.T) {
	k, from := residentOn(t, firstBatchSize+batchSize+10)
	x := require.Value(k.Index(from))(t)
	missing := -1
	q := Question{
		Excluded: func(string) bool { return false },
		Until:    time.Now().Add(-time.Minute),
		Use: func(_ *ranking.View, left int) error {
			missing = left
			return nil
		},
	}
	require.NoError(t, k.Words(from, x, q))
	assert.That(t, missing <= batchSize+10, "%d files are missing, which is more than all but the first", missing)
	ended, end := context.WithCancel(t.Context())
	end()
	other := from
	other.Ctx = ended
	assert.Equal(t, k.Words(other, x, q), context.Canceled, "a call that was cancelled")
	k.words.mu.Lock() // what is read in the background is read now
	read := k.words.source
	k.words.mu.Unlock()
	assert.That(t, read == x, "the index of words is not complete after the call")
	require.NoError(t, k.Words(from, x, q))
	assert.Equal(t, missing, 0, "files that are missing for the next call")
}

// An update that waits until another one, or the end of the store, is done, reads nothing once the store is closed.
func TestWordsAreNotReadOnceTheStoreIsClosed(t *testing.T) {
	k, from := residentOn(t, 3)
	x := require.Value(k.Index(from))(t)
	k.Close()
	err := k.Words(from, x, Question{
		Excluded: func(string) bool { return false },
		Use:      func(*ranking.View, int) error { return nil },
	})
	assert.ErrorIs(t, err, context.Canceled)
	k.OpenWords(from)
	assert.That(t, k.words.index == nil, "the index of words is open again")
}

// slowAfter has the disk of a vault answer for so many notes, and after that for no others before it is released. It returns
// a channel that ends when the first note has to wait.
func slowAfter(folder *disk.Folder, notes int) (waits <-chan struct{}, release func()) {
	var mu sync.Mutex
	read := map[string]bool{}
	first, gate := make(chan struct{}), make(chan struct{})
	begins := sync.OnceFunc(func() { close(first) })
	folder.InterposeReads(func(_, name string) error {
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		mu.Lock()
		isRead := read[name] || len(read) < notes
		read[name] = isRead
		mu.Unlock()
		if !isRead {
			begins()
			<-gate
		}
		return nil
	})
	return first, sync.OnceFunc(func() { close(gate) })
}

// foundIn returns the paths that a word has in an index of files, and how many files are missing there.
func foundIn(t *testing.T, k *Store, from View, x *index.Index, word string) (paths []string, missing int) {
	t.Helper()
	require.NoError(t, k.Words(from, x, Question{
		Excluded: func(string) bool { return false },
		Until:    time.Now().Add(time.Minute),
		Use: func(view *ranking.View, left int) error {
			a, err := view.Ask(t.Context(), word, ranking.Vault{
				Now:      from.Now(),
				Modified: func(string) time.Time { return time.Time{} },
				Read: func(_ string, use func(ranking.Content)) error {
					use(ranking.Content{})
					return nil
				},
			}, 100)
			for _, r := range a.Results {
				paths = append(paths, r.Path)
			}
			missing = left + x.Missing
			return err
		},
	}))
	return paths, missing
}

// While a worker looks at the files of a vault for the first time, a question is answered from those that it has looked at.
func TestAQuestionDuringTheFirstLook(t *testing.T) {
	const notes, fast = 60, 20
	_, from := residentOn(t, notes)
	k := &Store{Resident: true}
	defer k.Close()
	from.Env = func(string) string { return "" } // no cache: all files are read
	waits, release := slowAfter(from.Folder, fast)
	defer release()
	all := make(chan error, 1)
	go func() {
		_, err := k.Index(from)
		all <- err
	}()
	<-waits
	x := require.Value(k.IndexInTime(from, time.Now()))(t)
	for len(x.Files) < fast {
		x = require.Value(k.IndexInTime(from, time.Now()))(t)
	}
	assert.Equal(t, len(x.Files), fast, "files that the look has come to")
	assert.Equal(t, len(x.Files)+x.Missing, notes, "files in all")
	for _, f := range x.Files {
		var n int
		_, err := fmt.Sscanf(f.Path.String(), "%d.md", &n)
		require.NoError(t, err)
		paths, missing := foundIn(t, k, from, x, fmt.Sprintf("word%d", n))
		assert.Equal(t, strings.Join(paths, " "), f.Path.String(), "found during the look")
		assert.Equal(t, missing, notes-fast, "files that are missing")
	}
	release()
	require.NoError(t, <-all)
	x = require.Value(k.IndexInTime(from, time.Now().Add(time.Minute)))(t)
	assert.Equal(t, x.Missing, 0, "files that are missing after the look")
	for n := range notes {
		paths, missing := foundIn(t, k, from, x, fmt.Sprintf("word%d", n))
		assert.Equal(t, strings.Join(paths, " "), fmt.Sprintf("%03d.md", n), "found after the look")
		assert.Equal(t, missing, 0, "files that are missing after the look")
	}
}

// A process for one call keeps what it has looked at when its time is over, and the next one begins with that.
func TestALookThatIsOverIsKept(t *testing.T) {
	const notes, fast = 60, 20
	_, from := residentOn(t, notes)
	caches := t.TempDir()
	from.Env = func(name string) string {
		return map[string]string{"XDG_CACHE_HOME": caches, "LOCALAPPDATA": caches, "HOME": caches}[name]
	}
	var before Store
	x, err := before.IndexInTime(from, time.Now().Add(-time.Minute))
	before.Close()
	assert.That(t, errors.Is(err, context.DeadlineExceeded), "without any file: %v, %v", x, err)

	var one Store
	known := 0
	for patience := time.Second; known < fast; patience *= 2 { // a busy machine may take longer for the first files
		require.NoError(t, os.RemoveAll(caches))
		one = Store{}
		waits, release := slowAfter(from.Folder, fast)
		until := time.Now().Add(patience)
		go func() {
			<-waits
			time.Sleep(time.Until(until)) // the rest of the files is read too late
			release()
		}()
		x, err = one.IndexInTime(from, until)
		if err == nil {
			known = len(x.Files)
		}
		if known < fast {
			release()
			one.Close()
		}
	}
	assert.Equal(t, known+x.Missing, notes, "files in all")
	assert.That(t, known >= fast, "%d files are known, %d are missing", known, x.Missing)
	assert.That(t, x.Missing > 0, "%d files are known, %d are missing", known, x.Missing)
	paths, missing := foundIn(t, &one, from, x, strings.TrimSuffix("word"+strings.TrimLeft(x.Files[0].Path.String(), "0"), ".md"))
	assert.Equal(t, strings.Join(paths, " "), x.Files[0].Path.String(), "found with some files")
	assert.Equal(t, missing, x.Missing, "files that are missing")
	one.Close()

	reads := 0
	var mu sync.Mutex
	from.Folder.InterposeReads(func(method, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(method, "read") && strings.HasSuffix(name, ".md") {
			reads++
		}
		return nil
	})
	var next Store
	defer next.Close()
	x = require.Value(next.IndexInTime(from, time.Now().Add(time.Minute)))(t)
	assert.Equal(t, x.Missing, 0, "files that are missing for the next call")
	assert.Equal(t, reads, notes-known, "files that the next call reads")
}
