// Package search caches what calls find in the files of a vault: the index, the cache file, and
// values computed from the facts of files.
//
// It never uses cached data of a file without being sure that the file is unchanged.
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
	OnDisk *disk.Folder    // Folder without planned changes, see [Store.Plan]; nil if it is the same
	Own    *disk.Folder    // Folder with reads charged to the call; nil for Folder itself
	Path   string          // of the folder, absolute
	Env    func(string) string
	Now    func() time.Time // the clock of the machine, to tell which files have just been written
	// Settled is set once the call has waited for the reports of all earlier changes; if it is nil,
	// every update of the index waits.
	Settled *atomic.Bool
	// Unread, if it is not nil, receives the paths of files that cannot be read, for an answer that is computed from
	// many files. It must be safe for concurrent use.
	Unread func(paths ...string)
	Judge  string          // identifies the rules by which the text of a note hides it; "" if there are none
	Tally  *protocol.Tally // of the call; may be nil
	// until is when a scan ends with the files that it has reached. The zero time is never. It is used only in a
	// process for one call.
	until time.Time
}

// reportUnread reports paths that cannot be read.
func (v View) reportUnread(paths ...string) {
	if v.Unread != nil {
		v.Unread(paths...)
	}
}

// source identifies the vault and the rules under which it is read. A vault that is read without its
// secrets, or without the notes that their texts hide, has a cache of its own for each set of rules,
// with only the notes that were not hidden.
func (v View) source() string {
	redacting := v.Env(guard.Variable)
	if redacting == "" && v.Judge == "" {
		return v.Path
	}
	sum := sha256.Sum256([]byte(redacting + "\n" + v.Env("VAULTWICKET_EXCEPTIONS") + "\x00" + v.Judge))
	return v.Path + " redacted " + hex.EncodeToString(sum[:8])
}

// Store has the cached data of the files of a vault: the index that earlier calls of a worker made,
// and the cache file of earlier processes.
//
// If the folder can be watched, an index is valid until a change is reported. Otherwise, and after too
// many changes, all files are scanned again; only those with another stamp are read.
type Store struct {
	Resident bool // the process serves many calls, as a worker does
	// Sparse reports that the only call needs the facts of few files, which are then read one by one.
	Sparse bool

	mu            sync.Mutex // held while the index is updated
	folder        *disk.Folder
	cacheFolder   string // outside the vault; "" if there is none
	last          *index.Index
	changes       uint64                        // how often last was replaced
	watcher       *watch.Watcher                // nil if there is none
	sharedWatcher atomic.Pointer[watch.Watcher] // the same, for use without the lock
	scanned       time.Time                     // when the last scan of all files began
	scanning      atomic.Pointer[scan]          // the scan in progress, or nil
	wasUsed       bool                          // a call needed the index since it was verified
	uncached      int                           // changes that are not in the cache file
	closing       bool
	resting       bool         // no call has come since Rest
	shelf         *cache.Cache // has the facts that Rest removed from memory; may be nil

	saving  sync.RWMutex // locked while the first scan is written to the cache file, in the background
	cacheMu sync.RWMutex // guards cache and records
	cache   *cache.Cache // nil before the first use
	records recordTable

	folders atomic.Pointer[folderList] // the last list; may be nil
	words   words
	planned planned
}

const (
	// maxTrust is how long an index that only follows reported changes is trusted. A write through a
	// mapped file, or through another name of a file, is not reported.
	maxTrust = 30 * time.Second
	// maxUncached is how many changed notes a worker reads from the vault at each search before it
	// writes them to the cache file.
	maxUncached = 256
)

// Index returns the index of the folder as it is now. A call that arrives during an update waits for it
// and updates once more, so that no call gets a state from before it arrived. A cancelled call does not
// wait; the update that it began serves the next call.
func (k *Store) Index(from View) (*index.Index, error) {
	if !k.Resident {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.update(from)
	}
	if err := from.Ctx.Err(); err != nil {
		return nil, err // select would choose at random if both cases are ready
	}
	return untilDone(from.Ctx, func() (*index.Index, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.resting = false
		return k.update(from)
	})
}

// scan is a scan of all files of a folder that is in progress.
type scan struct {
	folder *disk.Folder
	look   *index.Look
}

// IndexInTime is [Store.Index] for a call that has to be answered in time: at until, it returns an index of the files
// that the scan has reached, see [index.Index.IsPart]. A process for one call then caches what it has read for the
// next process; a worker continues to scan. The error is that of the context if the scan has not reached any file.
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
	scan := k.scanning.Load()
	if scan == nil || scan.folder != from.Folder {
		return nil, err
	}
	x = scan.look.SoFar()
	if len(x.Files) == 0 {
		return nil, err
	}
	return x, nil
}

// untilDone returns the results of do, or the error of ctx if that ends first. In that case do continues to run.
func untilDone[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	type result struct {
		value    T
		err      error
		panicked *panics.Recovered
	}
	results := make(chan result, 1)
	go func() {
		var r result
		r.panicked = panics.Try(func() { r.value, r.err = do() })
		results <- r
	}()
	select {
	case r := <-results:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.value, r.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// IndexIfCurrent returns the index if it can follow reported changes, so that updating it costs almost
// nothing. Otherwise it begins to make an index for later calls.
func (k *Store) IndexIfCurrent(from View) (*index.Index, bool) {
	if k.planned.onDisk != nil {
		x, err := k.Index(from)
		return x, err == nil
	}
	if !k.Resident {
		return nil, false
	}
	if !k.mu.TryLock() {
		return nil, false // an update is in progress
	}
	k.resting = false
	if !k.canFollow(from) {
		k.openFolder(from)
		go func() {
			defer k.mu.Unlock()
			from.Tally = nil      // the call does not wait for this
			_, _ = k.update(from) // a call that needs the index gets the error
		}()
		return nil, false
	}
	defer k.mu.Unlock()
	x, err := k.update(from)
	return x, err == nil
}

// IndexIfMade is like [Store.IndexIfCurrent], but does not begin to make an index. It is for calls that
// take less time than that, and may be the only ones.
func (k *Store) IndexIfMade(from View) (*index.Index, bool) {
	if k.planned.onDisk != nil {
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
	x, err := k.update(from)
	return x, err == nil
}

// canFollow reports whether there is an index of the folder that can follow reported changes.
func (k *Store) canFollow(from View) bool {
	return k.last != nil && k.watcher != nil && k.folder == from.Folder
}

// State updates the index and returns a number that changes with each change of a file. ok is false if
// changes are not reported.
func (k *Store) State(from View) (number uint64, ok bool) {
	if _, err := k.Index(from); err != nil {
		return 0, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes, k.watcher != nil
}

// StateIfCurrent is like [Store.State], but ok is false if the index is not current, see
// [Store.IndexIfCurrent].
func (k *Store) StateIfCurrent(from View) (number uint64, ok bool) {
	if _, ok := k.IndexIfCurrent(from); !ok {
		return 0, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes, k.watcher != nil && k.folder == from.Folder
}

// update brings the index up to date. The caller holds k.mu.
func (k *Store) update(from View) (*index.Index, error) {
	if k.planned.onDisk != nil {
		return k.updatePlanned(from)
	}
	before := k.last
	defer func() {
		if k.last != before {
			k.changes++
		}
	}()
	k.openFolder(from)
	k.wasUsed = true
	changes := watch.Changes{All: true}
	if k.watcher != nil {
		// All changes before the call must have been reported. If the watcher cannot be asked, the reports so far have
		// to do, unless the text of a note can hide it.
		settled := from.Settled != nil && from.Settled.Load()
		if !settled {
			settled = k.watcher.Settle(k.cacheFolder)
			if from.Settled != nil {
				from.Settled.Store(settled)
			}
		}
		if settled || from.Judge == "" {
			changes = k.watcher.Take()
		}
	}
	switch {
	case k.last == nil || changes.All:
		return k.scanAll(from)
	case len(changes.Paths) > 0:
		// Unreadable files are tried again, because nothing reports that they have become readable.
		k.last = k.last.Update(k.folder, slices.Concat(changes.Paths, k.last.Unread), index.Memory{}, from.Now())
		k.uncached += len(changes.Paths)
	case len(k.last.Unread) > 0:
		x := k.last.Update(k.folder, k.last.Unread, index.Memory{}, from.Now())
		if !slices.Equal(x.Unread, k.last.Unread) {
			k.last = x
		}
	}
	return k.last, nil
}

// scanAll scans all files and saves the results to the cache file. The caller holds k.mu.
func (k *Store) scanAll(from View) (*index.Index, error) {
	if from.Tally == nil {
		from.Tally = protocol.NewTally(func(protocol.Progress) {})
	}
	k.scanned = time.Now()
	k.awaitSaving()
	w := k.newCacheWriter()
	var look *index.Look
	if k.last == nil {
		w.learned = func() { // saves in the background, while the index is sorted and used
			w.isPartial = look.IsPart()
			k.saving.Lock()
			go func() {
				defer k.saving.Unlock()
				k.adopt(w.commit())
			}()
		}
	}
	// A process for one call computes no filters. A later search computes them from the texts in the cache.
	memory := index.Memory{
		Learn:     w.Learn,
		Learned:   w.learned,
		NoFilters: !w.filters,
		Sparse:    w.shelf != nil,
		Until:     from.until,
	}
	if w.cache != nil && w.cache.Len() > 0 {
		memory.Recall = w.Recall
	}
	look = index.Begin(k.folder, k.last, memory, from.Now(), from.Tally)
	k.scanning.Store(&scan{k.folder, look})
	defer k.scanning.Store(nil)
	x, err := look.Finish()
	k.last = x
	if err != nil {
		w.update.Discard()
		return nil, err
	}
	if x.IsPart {
		k.last = nil // a partial index is only for this call
	}
	if w.learned == nil && w.begun {
		for _, f := range x.Files { // files of the last index were not looked up in the cache
			if f.HasFacts() {
				w.find(f.Path, f.Stamp)
			}
		}
		k.adopt(w.commit())
	}
	return x, nil
}

// awaitSaving waits until the results of the first scan are in the cache. Readers of the cache call it
// before they lock cacheMu.
func (k *Store) awaitSaving() {
	k.saving.RLock()
	defer k.saving.RUnlock()
}

// openFolder opens the cache of a folder and begins to watch it, unless it is open already. The watch has to
// begin before the first scan. The caller holds k.mu.
func (k *Store) openFolder(from View) {
	if k.folder == from.Folder {
		return
	}
	k.release()
	k.folder = from.Folder
	k.cacheFolder = ownerfiles.CacheFolder(from.Env, from.Path)
	k.cacheMu.Lock()
	k.cache = cache.Open(k.cacheFolder, from.source(), BuildID())
	k.cacheMu.Unlock()
	if !k.Resident || k.closing {
		return
	}
	if w, err := watch.New(from.Path); err == nil {
		k.watcher = w
		k.sharedWatcher.Store(w)
		go k.follow(w, from)
	}
}

// BuildID identifies this build. Another build may find other facts in a note, so it does not use the cache of this
// one.
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

// quiet is how long nothing must have changed before the index is updated without a call. It is short
// enough to be in time for the next call, and long enough to update once while a program writes many files.
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
			isDue := k.wasUsed && time.Since(k.scanned) >= maxTrust
			if k.watcher == w && k.last != nil && isDue {
				k.wasUsed = false
				k.changes++
				_, _ = k.scanAll(from) // the next call gets the error
			}
			k.mu.Unlock()
		}
	}
}

// refresh updates the index and computes its graph and records in advance. Calls that arrive meanwhile
// wait only for the update of the index.
func (k *Store) refresh(w *watch.Watcher, from View) {
	isCurrent := func() bool { return k.watcher == w && k.last != nil }
	k.mu.Lock()
	var x *index.Index
	if isCurrent() {
		x, _ = k.update(from) // the next call gets the error
	}
	k.mu.Unlock()
	if x != nil {
		x.Graph()
		k.lookUpRecords(x)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !isCurrent() {
		return
	}
	if k.uncached > maxUncached {
		k.saveChanges()
	}
	if k.resting {
		k.shelve()
	}
}

// Touch reports a change by a call of this process, so that the next call sees it.
func (k *Store) Touch(path disk.Path) {
	if w := k.sharedWatcher.Load(); w != nil {
		w.Touch(path.String())
	}
}

// Close saves unsaved changes, ends the watch and closes the cache.
func (k *Store) Close() {
	k.words.stop.Store(true)
	k.words.mu.Lock()
	k.words.save()
	k.words.forget()
	k.words.folder = nil
	k.words.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closing = true
	if k.uncached > 0 && k.last != nil {
		k.saveChanges()
	}
	k.release()
}

// release ends the watch and drops everything about the folder. The caller holds k.mu.
func (k *Store) release() {
	k.awaitSaving()
	if w := k.sharedWatcher.Swap(nil); w != nil {
		w.Close()
	}
	k.folder = nil
	k.last = nil
	k.watcher = nil
	k.uncached = 0
	if k.shelf != nil {
		k.shelf.Close()
	}
	k.shelf = nil
	k.cacheMu.Lock()
	defer k.cacheMu.Unlock()
	if k.cache != nil {
		k.cache.Close()
	}
	k.cache = nil
	k.records = recordTable{}
}

// Rest removes the facts that are in the cache file from memory, until a call needs them. The index stays
// in memory, with names, links, words and search filters. Filters that are not in the cache file are
// written to it.
func (k *Store) Rest() {
	k.words.mu.Lock()
	k.words.save() // the index stays in memory, because loading it takes longer than answering a question
	k.words.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.resting = true
	k.awaitSaving()
	var update *cache.Update
	k.cacheMu.RLock()
	if slices.ContainsFunc(k.records.files, func(f recordRow) bool { return f.isMade }) {
		update = k.cache.Update()
		for i := range k.records.files {
			switch f := &k.records.files[i]; {
			case f.isMade:
				update.Add(f.path.String(), f.record, cache.FilterPart, string(f.filter))
			case f.record.Has(cache.FactsPart) || f.record.Has(cache.TextPart):
				update.Keep(f.path.String(), f.record)
			}
		}
	}
	k.cacheMu.RUnlock()
	if update != nil {
		if next, err := update.Commit(); err == nil {
			k.adopt(next)
		}
	}
	k.shelve()
}

// shelve removes the facts that are in the cache file from memory. The caller holds k.mu.
func (k *Store) shelve() {
	if k.last == nil {
		return
	}
	k.withRecords(k.last, func(c *cache.Cache, table recordTable) {
		if c == nil {
			return
		}
		from := c.Share()
		shelf := shelfOf(from, k.folder)
		for i, f := range k.last.Files {
			if table.files[i].record.Has(cache.FactsPart) {
				f.Shelve(shelf)
			}
		}
		// A call that still uses the old shelf reads the notes instead.
		if k.shelf != nil {
			k.shelf.Close()
		}
		k.shelf = from
	})
}

// shelfOf returns a shelf that reads facts from a cache. If they are missing or damaged there, it computes
// them from the note.
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

// folderList has the folders of a vault in one state, see [Store.State].
type folderList struct {
	state uint64
	paths []string
}

// Folders returns the paths of all visible folders of the vault, in the order of listings.
// The list must not be changed. The error is that of the disk.
func (k *Store) Folders(from View) ([]string, error) {
	state, isCurrent := k.StateIfCurrent(from)
	last := k.folders.Load()
	isUnchanged := isCurrent && last != nil && last.state == state
	if isUnchanged {
		return last.paths, nil
	}
	var isUnread atomic.Bool
	folder := from.Folder.Telling(func(p disk.Path) {
		isUnread.Store(true)
		from.reportUnread(p.String())
	})
	paths, err := FoldersBelow(folder, disk.Path{})
	if err == nil && isCurrent && !isUnread.Load() { // a change since then has another state number
		k.folders.Store(&folderList{state, paths})
	}
	return paths, err
}

// FoldersBelow returns the paths of the folders below another folder, in the order of listings. The
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
