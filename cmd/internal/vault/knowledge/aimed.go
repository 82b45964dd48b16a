package knowledge

import (
	"slices"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge/cache"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// aimed are the records of the cache for each file of an index, by its place there.
type aimed struct {
	index *index.Index // nil before the first use
	files []aimedFile
}

// aimedFile is all that a search looks at of each file, contiguous in memory: large vaults
// do not fit into the caches of a processor.
type aimedFile struct {
	path   disk.Path
	filter trigram.Filter // of the text of the record, or of the one read for the index
	record cache.Record
	isNote bool
	isNFC  bool // the path is in Unicode normal form C, as queries compare it
	isMade bool // the filter was made of the text in the cache, which has none
}

// withAimed calls use with the cache, and with its records of the files of an index. Both
// are use's own, and no lock is held meanwhile.
func (k *Store) withAimed(x *index.Index, use func(*cache.Cache, aimed)) {
	k.awaitSaving()
	k.keep.RLock()
	for k.aimed.index != x {
		k.keep.RUnlock()
		k.aim(x)
		k.keep.RLock()
	}
	c, has := k.cache, k.aimed
	if c != nil {
		c = c.Share()
		defer c.Close()
	}
	k.keep.RUnlock()
	use(c, has)
}

// aim looks up the record of each file of an index.
func (k *Store) aim(x *index.Index) {
	k.keep.Lock()
	defer k.keep.Unlock()
	if k.aimed.index == x {
		return
	}
	next := aimed{x, make([]aimedFile, len(x.Files))}
	var unread []int // files whose filter or text is in the cache
	before := beforeIn(k.aimed.index)
	for i, f := range x.Files {
		if old, ok := before(f); ok {
			next.files[i] = k.aimed.files[old]
			continue
		}
		to := &next.files[i]
		*to = aimedFile{path: f.Path, isNote: f.IsNote(), isNFC: norm.NFC.IsNormalString(f.Path.String())}
		if !f.HasFacts() || !f.Settled() {
			continue // its text is read each time
		}
		if k.cache != nil {
			to.record, _ = k.cache.Find(f.Path.String(), f.Stamp)
		}
		to.filter = f.Filter
		if f.Filter == "" && to.record.HasText() && to.isNote {
			unread = append(unread, i)
		}
	}
	k.readFilters(next, unread)
	k.aimed = next
}

// beforeIn returns a function that finds the place of the same file in an index, which may
// be nil, for files in the order of listings.
func beforeIn(old *index.Index) func(*index.File) (place int, ok bool) {
	if old == nil {
		return func(*index.File) (int, bool) { return 0, false }
	}
	next := 0
	return func(f *index.File) (int, bool) {
		if next == len(old.Files) || old.Files[next] != f {
			place, ok := old.Place(f.Path.String())
			if !ok {
				return 0, false
			}
			next = place
		}
		next++
		return next - 1, old.Files[next-1] == f
	}
}

// readFilters reads the filters of some files from the cache, or makes them of the texts
// there. Damaged ones count as missing.
func (k *Store) readFilters(to aimed, places []int) {
	kept, made := make([]cache.Record, 0, len(places)), make([]cache.Record, 0, len(places))
	var keptOf, madeOf []int
	for _, place := range places {
		if record := to.files[place].record; record.HasFilter() {
			kept, keptOf = append(kept, record), append(keptOf, place)
		} else {
			made, madeOf = append(made, record), append(madeOf, place)
		}
	}
	k.cache.Filters(kept, func(i int, filter []byte, ok bool) {
		if ok {
			to.files[keptOf[i]].filter = trigram.Read(filter)
		}
	})
	k.cache.Texts(made, func(i int, text []byte, ok bool) {
		if ok {
			f := &to.files[madeOf[i]]
			f.filter = trigram.Of(text)
			f.isMade = f.filter != "" // a very large text has none
		}
	})
}

// keepFilters puts into the cache file the filters that were made for searches. It is
// called under the lock.
func (k *Store) keepFilters() {
	k.awaitSaving()
	if update := k.updateWithFilters(); update != nil {
		if next, err := update.Commit(); err == nil {
			k.adopt(next)
		}
	}
}

// updateWithFilters returns an update of the cache that adds the filters that were made;
// nil if there are none.
func (k *Store) updateWithFilters() *cache.Update {
	k.keep.RLock()
	defer k.keep.RUnlock()
	if !slices.ContainsFunc(k.aimed.files, func(f aimedFile) bool { return f.isMade }) {
		return nil
	}
	update := k.cache.Update()
	for i := range k.aimed.files {
		switch f := &k.aimed.files[i]; {
		case f.isMade:
			update.AddFilter(f.path.String(), f.record, string(f.filter))
		case f.record.HasFacts() || f.record.HasText():
			update.Keep(f.path.String(), f.record)
		}
	}
	return update
}
