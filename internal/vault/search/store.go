// Package search keeps what earlier calls found in the files of a vault: the index, the
// cache file, and values computed from the facts of files.
//
// It never answers for a file without being sure that the file is unchanged.
package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/internal/watch"
)

// View is a vault as one call sees it.
type View struct {
	Ctx    context.Context // of the call
	Folder *disk.Folder    // the same for all calls
	OnDisk *disk.Folder    // Folder without what is planned, see [Store.Plan]; nil for the same
	Own    *disk.Folder    // whose reads are charged to the call; nil for Folder
	Path   string          // of the folder, absolute
	Env    func(string) string
	Now    func() time.Time // of the machine, to see which files are young
	// Settled is set once a look of the call has waited for the reports of all changes before it; nil
	// makes every look wait.
	Settled *atomic.Bool
	// Unread gets the paths of what cannot be read, for an answer that is made of many files; nil gets none. It is
	// called from several goroutines.
	Unread func(paths ...string)
	Judge  string          // by what the texts of notes close them, "" for nothing
	Tally  *protocol.Tally // of the call; may be nil
	// until is when a look of a process for one call ends with the files that it has come to. The zero time is never.
	until time.Time
}

// tell tells of what cannot be read.
func (v View) tell(paths ...string) {
	if v.Unread != nil {
		v.Unread(paths...)
	}
}

// source names what the facts come from: a vault that is read without its secrets, or without the
// notes that their texts close, has a cache of its own. What is in it was not closed in that state.
func (v View) source() string {
	if redacting := v.Env(guard.Variable); redacting+v.Judge != "" {
		sum := sha256.Sum256([]byte(redacting + "\n" + v.Env("VAULTWICKET_EXCEPTIONS") + "\x00" + v.Judge))
		return v.Path + " redacted " + hex.EncodeToString(sum[:8])
	}
	return v.Path
}

// Store is what is known of the files of a vault: the index of a worker from the calls
// before, and the cache file of earlier processes.
//
// Where the folder can be watched, an index is valid until a change is reported. Elsewhere,
// and after too many changes, every file is looked at again, which reads only those that
// changed.
type Store struct {
	Resident bool // for many calls, as in a worker
	// Sparse says that the one call asks for the facts of few files: they are read one by one.
	Sparse bool

	mu      sync.Mutex // held during a look
	folder  *disk.Folder
	place   string // for files about it that can be made again, outside of it, or ""
	last    *index.Index
	changes uint64                        // how often last was replaced by another index
	watcher *watch.Watcher                // nil if there is none
	told    atomic.Pointer[watch.Watcher] // the same, without the lock
	looked  time.Time                     // at every file
	looking atomic.Pointer[looking]       // the look at all files that is going on; nil at other times
	asked   bool                          // for the index, since it was verified
	behind  int                           // changes that are not in the cache file
	closing bool
	resting bool         // no call has come since Rest
	shelf   *cache.Cache // has the facts that Rest took out of memory; may be nil

	saving sync.RWMutex // locked while the first look is written to the cache file, while its answer is sent
	keep   sync.RWMutex // for reading while the cache is read from
	cache  *cache.Cache // nil before the first use
	aimed  aimed

	folders atomic.Pointer[folderList] // the last ones; may be nil
	words   words
	planned planned
}

const (
	// maxTrust is how long an index is trusted that only follows reported changes: a write
	// through a mapped file, or by another name of the file, is not reported.
	maxTrust = 30 * time.Second
	// maxBehind is how many changed notes a worker reads from the vault at each search
	// before it puts them into the cache file.
	maxBehind = 256
)

// Index returns the index of the folder as it is now. Calls that come during a look wait
// and look once more, so that none answers from a state before it came. A cancelled call
// does not wait; the look it began serves the next.
func (k *Store) Index(from View) (*index.Index, error) {
	if !k.Resident {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.look(from)
	}
	if err := from.Ctx.Err(); err != nil {
		return nil, err // the select below takes either when both are there
	}
	return untilDone(from.Ctx, func() (*index.Index, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.resting = false
		return k.look(from)
	})
}

// looking is a look at all files of a folder that is going on.
type looking struct {
	folder *disk.Folder
	look   *index.Look
}

// IndexInTime is [Store.Index] for a call that has to be answered: when the time for the look is over, it returns an index
// of the files that the look has come to, see [index.Index.IsPart]. A process for one call then keeps what
// it has read for the next one; a worker goes on to read. It is the error of the context where there are no files yet.
func (k *Store) IndexInTime(from View, until time.Time) (*index.Index, error) {
	if !k.Resident {
		from.until = until
		x, err := k.Index(from)
		if err == nil && x.IsPart && len(x.Files) == 0 {
			return nil, context.DeadlineExceeded
		}
		return x, err
	}
	call := from.Ctx
	ctx, end := context.WithDeadline(call, until)
	defer end()
	from.Ctx = ctx
	x, err := k.Index(from)
	isOver := err != nil && ctx.Err() != nil && call.Err() == nil
	if !isOver {
		return x, err
	}
	now := k.looking.Load()
	if now == nil || now.folder != from.Folder {
		return nil, err
	}
	if x = now.look.SoFar(); len(x.Files) == 0 {
		return nil, err
	}
	return x, nil
}

// untilDone returns what do returns, or the error of a context that ends before: then do goes on.
func untilDone[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	type found struct {
		value    T
		err      error
		panicked *panics.Recovered
	}
	answer := make(chan found, 1)
	go func() {
		var f found
		f.panicked = panics.Try(func() { f.value, f.err = do() })
		answer <- f
	}()
	select {
	case f := <-answer:
		if f.panicked != nil {
			panic(f.panicked)
		}
		return f.value, f.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// IndexIfCurrent returns the index if all changes since are known one by one, so that it
// costs almost nothing to update it. Otherwise it starts making one for later calls.
func (k *Store) IndexIfCurrent(from View) (*index.Index, bool) {
	if k.planned.on != nil {
		x, err := k.Index(from)
		return x, err == nil
	}
	if !k.Resident {
		return nil, false
	}
	if !k.mu.TryLock() {
		return nil, false // a look at everything is in progress
	}
	k.resting = false
	if !k.canFollow(from) {
		k.attend(from)
		go func() {
			defer k.mu.Unlock()
			from.Tally = nil    // the call does not wait for this
			_, _ = k.look(from) // the call that needs the index gets the error
		}()
		return nil, false
	}
	defer k.mu.Unlock()
	x, err := k.look(from)
	return x, err == nil
}

// IndexIfMade is [Store.IndexIfCurrent] that makes no index: for a call that takes less time
// than making one, and may be the only one.
func (k *Store) IndexIfMade(from View) (*index.Index, bool) {
	if k.planned.on != nil {
		return k.IndexIfCurrent(from)
	}
	if !k.Resident || !k.mu.TryLock() {
		return nil, false
	}
	defer k.mu.Unlock()
	if !k.canFollow(from) {
		return nil, false
	}
	k.resting = false
	x, err := k.look(from)
	return x, err == nil
}

// canFollow reports whether there is an index that can follow reported changes.
func (k *Store) canFollow(from View) bool {
	return k.last != nil && k.watcher != nil && k.folder == from.Folder
}

// State updates the index and returns a number that differs after each change of a file. ok
// is false where changes are not reported.
func (k *Store) State(from View) (number uint64, ok bool) {
	if _, err := k.Index(from); err != nil {
		return 0, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes, k.watcher != nil
}

// StateIfCurrent is [Store.State] where the index is current, see [Store.IndexIfCurrent].
func (k *Store) StateIfCurrent(from View) (number uint64, ok bool) {
	if _, ok := k.IndexIfCurrent(from); !ok {
		return 0, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes, k.watcher != nil && k.folder == from.Folder
}

// look brings the index up to date. It is called under the lock.
func (k *Store) look(from View) (*index.Index, error) {
	if k.planned.on != nil {
		return k.lookPlanned(from)
	}
	before := k.last
	defer func() {
		if k.last != before {
			k.changes++
		}
	}()
	k.attend(from)
	k.asked = true
	told := watch.Changes{All: true}
	if k.watcher != nil {
		// All changes before the call have to be reported where the text of a note hides it.
		settled := from.Judge == "" || from.Settled != nil && from.Settled.Load()
		if !settled {
			settled = k.watcher.Settle(k.place)
			if from.Settled != nil {
				from.Settled.Store(settled)
			}
		}
		if settled {
			told = k.watcher.Take()
		}
	}
	switch {
	case k.last == nil || told.All:
		return k.lookAtAll(from)
	case len(told.Paths) > 0:
		// What could not be read is tried again, for nothing reports that it can be read now.
		x, err := k.last.Update(k.folder, slices.Concat(told.Paths, k.last.Unread), index.Memory{}, from.Now())
		k.last = x // nil after an error: changes are reported once
		k.behind += len(told.Paths)
		return x, err
	case len(k.last.Unread) > 0:
		x, err := k.last.Update(k.folder, k.last.Unread, index.Memory{}, from.Now())
		if err == nil && !slices.Equal(x.Unread, k.last.Unread) {
			k.last = x
		}
	}
	return k.last, nil
}

func (k *Store) lookAtAll(from View) (*index.Index, error) {
	if from.Tally == nil {
		from.Tally = protocol.NewTally(func(protocol.Progress) {})
	}
	k.looked = time.Now()
	k.awaitSaving()
	s := k.saver()
	var look *index.Look
	if k.last == nil {
		s.learned = func() { // save while the index is sorted and answered from
			s.isPart = look.IsPart()
			k.saving.Lock()
			go func() {
				defer k.saving.Unlock()
				k.adopt(s.save())
			}()
		}
	}
	// A process for one call makes no filters: a later search makes them of the texts in the cache.
	memory := index.Memory{
		Learn:     s.Learn,
		Learned:   s.learned,
		NoFilters: !s.filters,
		Sparse:    s.shelf != nil,
		Until:     from.until,
	}
	if s.cache != nil && s.cache.Len() > 0 {
		memory.Recall = s.Recall
	}
	look = index.Begin(k.folder, k.last, memory, from.Now(), from.Tally)
	k.looking.Store(&looking{k.folder, look})
	defer k.looking.Store(nil)
	x, err := look.Finish()
	k.last = x
	if err != nil {
		s.update.Discard()
		return nil, err
	}
	if x.IsPart {
		k.last = nil // it is of some files, for this call
	}
	if s.learned == nil && s.begun {
		for _, f := range x.Files { // those of the index before were not looked up in the cache
			if f.HasFacts() {
				s.find(f.Path, f.Stamp)
			}
		}
		k.adopt(s.save())
	}
	return x, nil
}

// awaitSaving waits until the cache has the results of the first look. Readers of the cache
// call it before they lock keep.
func (k *Store) awaitSaving() {
	k.saving.RLock()
	defer k.saving.RUnlock()
}

// attend prepares the first look at a folder. The watch begins before the look.
func (k *Store) attend(from View) {
	if k.folder == from.Folder {
		return
	}
	k.release()
	k.folder, k.place = from.Folder, ownerfiles.CacheFolder(from.Env, from.Path)
	k.keep.Lock()
	k.cache = cache.Open(k.place, from.source(), BuildID())
	k.keep.Unlock()
	if !k.Resident || k.closing {
		return
	}
	if w, err := watch.New(from.Path); err == nil {
		k.watcher = w
		k.told.Store(w)
		go k.follow(w, from)
	}
}

// BuildID identifies this build: another one may find other facts in a note.
var BuildID = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return release.Version
	}
	info, err := os.Stat(path)
	if err != nil {
		return release.Version
	}
	return fmt.Sprintf("%s %d %d", release.Version, info.Size(), info.ModTime().UnixNano())
})

// quiet is how long nothing must have changed before the index is updated without a call:
// in time for the next one, and once for a program that writes many files (debounce).
const quiet = 50 * time.Millisecond

// follow keeps the index up to date until the watch ends.
func (k *Store) follow(w *watch.Watcher, from View) {
	rest := time.NewTimer(quiet)
	rest.Stop()
	verify := time.NewTicker(maxTrust)
	defer verify.Stop()
	for {
		select {
		case _, open := <-w.More():
			if !open {
				return
			}
			rest.Reset(quiet)
		case <-rest.C:
			k.refresh(w, from)
		case <-verify.C: // a change may not have been reported
			k.mu.Lock()
			isDue := k.asked && time.Since(k.looked) >= maxTrust
			if k.watcher == w && k.last != nil && isDue {
				k.asked = false
				k.changes++
				_, _ = k.lookAtAll(from) // an error is returned at the next call
			}
			k.mu.Unlock()
		}
	}
}

// refresh updates the index and computes its graph and records in advance. Calls that come
// meanwhile wait only for the look.
func (k *Store) refresh(w *watch.Watcher, from View) {
	current := func() bool { return k.watcher == w && k.last != nil }
	k.mu.Lock()
	var x *index.Index
	if current() {
		x, _ = k.look(from) // an error is returned at the next call
	}
	k.mu.Unlock()
	if x != nil {
		x.Graph()
		k.aim(x)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !current() {
		return
	}
	if k.behind > maxBehind {
		k.save()
	}
	if k.resting {
		k.shelve()
	}
}

// Touch notes a change by a call of this process: the next call has to see it.
func (k *Store) Touch(path disk.Path) {
	if w := k.told.Load(); w != nil {
		w.Touch(path.String())
	}
}

// Close saves what is new, and closes what is open.
func (k *Store) Close() {
	k.words.stop.Store(true)
	k.words.turn.Lock()
	k.words.save()
	k.words.forget()
	k.words.folder = nil
	k.words.turn.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closing = true
	if k.behind > 0 && k.last != nil {
		k.save()
	}
	k.release()
}

// release forgets everything. It is called under the lock.
func (k *Store) release() {
	k.awaitSaving()
	if w := k.told.Swap(nil); w != nil {
		w.Close()
	}
	k.folder = nil
	k.last = nil
	k.watcher = nil
	k.behind = 0
	if k.shelf != nil {
		k.shelf.Close()
	}
	k.shelf = nil
	k.keep.Lock()
	defer k.keep.Unlock()
	if k.cache != nil {
		k.cache.Close()
	}
	k.cache = nil
	k.aimed = aimed{}
}

// Rest takes the facts that the cache file has out of memory, until a call needs them. The
// index stays, with names, links, words and the filters of searches. Filters that are not in the
// cache file are put there.
func (k *Store) Rest() {
	k.words.turn.Lock()
	k.words.save() // the index stays in memory: to load it takes longer than a question
	k.words.turn.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.resting = true
	k.awaitSaving()
	var update *cache.Update
	k.keep.RLock()
	if slices.ContainsFunc(k.aimed.files, func(f aimedFile) bool { return f.isMade }) {
		update = k.cache.Update()
		for i := range k.aimed.files {
			switch f := &k.aimed.files[i]; {
			case f.isMade:
				update.Add(f.path.String(), f.record, cache.FilterPart, string(f.filter))
			case f.record.Has(cache.FactsPart) || f.record.Has(cache.TextPart):
				update.Keep(f.path.String(), f.record)
			}
		}
	}
	k.keep.RUnlock()
	if update != nil {
		if next, err := update.Commit(); err == nil {
			k.adopt(next)
		}
	}
	k.shelve()
}

// shelve is called under the lock.
func (k *Store) shelve() {
	if k.last == nil {
		return
	}
	k.withAimed(k.last, func(c *cache.Cache, has aimed) {
		if c == nil {
			return
		}
		from := c.Share()
		shelf := shelfOf(from, k.folder)
		for i, f := range k.last.Files {
			if has.files[i].record.Has(cache.FactsPart) {
				f.Shelve(shelf)
			}
		}
		// A call that still uses the shelf before reads the note instead.
		if k.shelf != nil {
			k.shelf.Close()
		}
		k.shelf = from
	})
}

// shelfOf returns a shelf that reads facts from a cache, or where they are damaged, from
// the vault.
func shelfOf(from *cache.Cache, folder *disk.Folder) *index.Shelf {
	get := func(f *index.File) index.Facts {
		if record, ok := from.Find(f.Path.String(), f.Stamp); ok {
			if facts, ok := from.Facts(record); ok {
				return index.Facts(facts)
			}
		}
		text, _, err := folder.ReadHere(f.Path)
		if err != nil {
			return ""
		}
		return index.Read(f.Path, text)
	}
	getAll := func(files []*index.File, give func(int, index.Facts)) {
		var records []cache.Record
		var places []int
		for i, f := range files {
			if record, ok := from.Find(f.Path.String(), f.Stamp); ok && record.Has(cache.FactsPart) {
				records = append(records, record)
				places = append(places, i)
			}
		}
		from.Each(records, cache.FactsPart, func(i int, facts []byte, ok bool) {
			if ok {
				give(places[i], index.Facts(facts))
			}
		})
	}
	return &index.Shelf{Get: get, GetAll: getAll}
}

// folderList are the folders of a vault in one state.
type folderList struct {
	state uint64
	paths []string
}

// Folders returns the paths of all visible folders of the vault, in the order of listings.
// The list must not be changed. The error is that of the disk.
func (k *Store) Folders(from View) ([]string, error) {
	state, known := k.StateIfCurrent(from)
	if kept := k.folders.Load(); known && kept != nil && kept.state == state {
		return kept.paths, nil
	}
	var isUnread atomic.Bool
	folder := from.Folder.Telling(func(p disk.Path) {
		isUnread.Store(true)
		from.tell(p.String())
	})
	paths, err := FoldersBelow(folder, disk.Path{})
	if err == nil && known && !isUnread.Load() { // a change since then makes another state
		k.folders.Store(&folderList{state, paths})
	}
	return paths, err
}

// FoldersBelow returns the paths of the folders below one, in the order of listings. The
// error is that of the disk.
func FoldersBelow(folder *disk.Folder, under disk.Path) (found []string, err error) {
	var mu sync.Mutex
	err = folder.WalkFolders(under, func(path disk.Path) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, path.String())
	})
	filenames.Sort(found)
	return found, err
}
