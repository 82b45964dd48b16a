package search

import (
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
)

// saver sits between a full scan of the notes and the cache file: a note that is cached is not read from the vault
// again, and a note that is read is cached. After a complete scan it is saved; otherwise it is discarded, unless
// isPart is set. A cache that cannot be written is ignored.
type saver struct {
	cache   *cache.Cache
	filters bool         // of notes that an index reads
	learned func()       // see [index.Memory]; may be nil
	isPart  bool         // the look did not come to all notes: what it did not see is kept, too
	shelf   *index.Shelf // leaves cached facts in the cache file; nil: facts are loaded into memory

	mu     sync.Mutex
	seen   []keptNote    // in the cache, unchanged
	update *cache.Update // begun with the first note that is new
	begun  bool
}

// keptNote is a note that is in the cache.
type keptNote struct {
	path   disk.Path
	record cache.Record
}

// saver must not be called while a save is in progress.
func (k *Store) saver() *saver {
	s := &saver{cache: k.cache, filters: k.Resident}
	if k.cache != nil {
		s.seen = make([]keptNote, 0, k.cache.Len()) // usually all are seen
	}
	if k.Sparse && k.cache != nil {
		if k.shelf == nil {
			k.shelf = k.cache.Share()
		}
		s.shelf = shelfOf(k.shelf, k.folder)
	}
	return s
}

// find returns the record of a note in the cache file.
func (s *saver) find(path disk.Path, stamp system.Stamp) (cache.Record, bool) {
	if s.cache == nil {
		return cache.Record{}, false
	}
	record, ok := s.cache.Find(path.String(), stamp)
	if !ok {
		return record, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, keptNote{path, record})
	return record, true
}

// writing returns the update, which is nil where nothing can be written.
func (s *saver) writing() *cache.Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.begun, s.update = true, s.cache.Update()
	}
	return s.update
}

// Recall returns facts from the cache file. Where that has only the text, left by a search,
// they are computed from it.
func (s *saver) Recall(path disk.Path, stamp system.Stamp) (index.Facts, *index.Shelf, bool) {
	record, ok := s.find(path, stamp)
	if !ok {
		return "", nil, false
	}
	if s.shelf != nil && record.Has(cache.FactsPart) {
		return "", s.shelf, true
	}
	if facts, ok := s.cache.Facts(record); ok {
		return index.Facts(facts), nil, true
	}
	text, ok := s.cache.Read(record, cache.TextPart, nil)
	if !ok {
		return "", nil, false
	}
	facts := index.Read(path, text)
	s.writing().Add(path.String(), record, cache.FactsPart, string(facts))
	return facts, nil, true
}

// Learn keeps a note that was read.
func (s *saver) Learn(f *index.File, text []byte) {
	s.writing().Put(f.Path.String(), f.Stamp, text, cache.Found{Facts: string(f.Facts()), Filter: string(f.Filter)})
}

// save keeps what was seen and learned, and nothing else. It returns the new cache, nil if
// it is unchanged or cannot be written.
func (s *saver) save() *cache.Cache {
	if !s.begun && len(s.seen) == s.cache.Len() {
		return nil
	}
	update := s.writing()
	for _, note := range s.seen {
		update.Keep(note.path.String(), note.record)
	}
	if s.isPart {
		update.KeepOthers()
	}
	next, err := update.Commit()
	if err != nil {
		return nil // the next call tries again
	}
	return next
}

// save writes the changes since the last write to the cache file. The caller holds k.mu.
func (k *Store) save() {
	k.awaitSaving()
	s := k.saver()
	for _, f := range k.last.Files {
		if !f.HasFacts() {
			continue
		}
		if _, ok := s.find(f.Path, f.Stamp); ok {
			continue
		}
		text, stamp, err := k.folder.ReadHere(f.Path)
		if err == nil && f.Settled() && stamp == f.Stamp {
			s.Learn(f, text)
		}
	}
	k.adopt(s.save())
	k.behind = 0
}

// adopt replaces the cache, unless next is nil.
func (k *Store) adopt(next *cache.Cache) {
	if next == nil {
		return
	}
	k.keep.Lock()
	defer k.keep.Unlock()
	if k.cache != nil {
		k.cache.Close()
	}
	k.cache = next
	k.aimed = aimed{}
}
