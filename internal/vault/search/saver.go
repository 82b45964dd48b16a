package search

import (
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
)

// cacheWriter sits between a full scan of the notes and the cache file: a note that is cached is not read from the
// vault again, and a note that is read is cached. After a complete scan it is committed; otherwise it is discarded,
// unless isPartial is set. A cache that cannot be written is ignored.
type cacheWriter struct {
	cache     *cache.Cache
	filters   bool         // the index computes the search filters of the notes that it reads
	learned   func()       // see [index.Memory]; may be nil
	isPartial bool         // the scan skipped notes: cached notes that it did not see are kept
	shelf     *index.Shelf // leaves cached facts in the cache file; nil: facts are loaded into memory

	mu     sync.Mutex
	seen   []cachedNote  // unchanged since they were cached
	update *cache.Update // begun with the first note that is not cached; nil if the cache cannot be written
	begun  bool
}

// cachedNote is a note that is in the cache.
type cachedNote struct {
	path   disk.Path
	record cache.Record
}

// newCacheWriter must not be called while a save is in progress.
func (k *Store) newCacheWriter() *cacheWriter {
	w := &cacheWriter{cache: k.cache, filters: k.Resident}
	if k.cache != nil {
		w.seen = make([]cachedNote, 0, k.cache.Len()) // usually all are seen
	}
	if k.Sparse && k.cache != nil {
		if k.shelf == nil {
			k.shelf = k.cache.Share()
		}
		w.shelf = shelfOf(k.shelf, k.folder)
	}
	return w
}

// find returns the record of an unchanged note in the cache file, and notes that the note was seen.
func (w *cacheWriter) find(path disk.Path, stamp system.Stamp) (cache.Record, bool) {
	if w.cache == nil {
		return cache.Record{}, false
	}
	record, ok := w.cache.Find(path.String(), stamp)
	if !ok {
		return record, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, cachedNote{path, record})
	return record, true
}

// pendingUpdate returns the update, begun on first use. It is nil if the cache cannot be written; its methods
// accept that.
func (w *cacheWriter) pendingUpdate() *cache.Update {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		w.begun = true
		w.update = w.cache.Update()
	}
	return w.update
}

// Recall returns facts from the cache file, or a shelf from which they can be read later. If a search has cached
// only the text of the note, it computes the facts from the text.
func (w *cacheWriter) Recall(path disk.Path, stamp system.Stamp) (index.Facts, *index.Shelf, bool) {
	record, ok := w.find(path, stamp)
	if !ok {
		return "", nil, false
	}
	if w.shelf != nil && record.Has(cache.FactsPart) {
		return "", w.shelf, true
	}
	if facts, ok := w.cache.Facts(record); ok {
		return index.Facts(facts), nil, true
	}
	text, ok := w.cache.Read(record, cache.TextPart, nil)
	if !ok {
		return "", nil, false
	}
	facts := index.Read(path, text)
	w.pendingUpdate().Add(path.String(), record, cache.FactsPart, string(facts))
	return facts, nil, true
}

// Learn caches a note that was read.
func (w *cacheWriter) Learn(f *index.File, text []byte) {
	w.pendingUpdate().Put(f.Path.String(), f.Stamp, text, cache.Found{Facts: string(f.Facts()), Filter: string(f.Filter)})
}

// commit writes a cache of the notes that were seen and learned, without any others unless isPartial is set. It
// returns the new cache, or nil if the cache is unchanged or cannot be written.
func (w *cacheWriter) commit() *cache.Cache {
	sawAll := len(w.seen) == w.cache.Len()
	if !w.begun && sawAll {
		return nil
	}
	update := w.pendingUpdate()
	for _, note := range w.seen {
		update.Keep(note.path.String(), note.record)
	}
	if w.isPartial {
		update.KeepOthers()
	}
	next, err := update.Commit()
	if err != nil {
		return nil // the next call tries again
	}
	return next
}

// saveChanges writes the changes since the last write to the cache file. The caller holds k.mu.
func (k *Store) saveChanges() {
	k.awaitSaving()
	w := k.newCacheWriter()
	for _, f := range k.last.Files {
		if !f.HasFacts() {
			continue
		}
		if _, ok := w.find(f.Path, f.Stamp); ok {
			continue
		}
		if !f.Settled() {
			continue
		}
		text, stamp, err := k.folder.ReadHere(f.Path)
		if err != nil || stamp != f.Stamp {
			continue // it changed meanwhile
		}
		w.Learn(f, text)
	}
	k.adopt(w.commit())
	k.uncached = 0
}

// adopt replaces the cache, unless next is nil.
func (k *Store) adopt(next *cache.Cache) {
	if next == nil {
		return
	}
	k.cacheMu.Lock()
	defer k.cacheMu.Unlock()
	if k.cache != nil {
		k.cache.Close()
	}
	k.cache = next
	k.records = recordTable{} // computed from the old cache
}
