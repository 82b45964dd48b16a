package knowledge

import (
	"vaultwicket/cmd/internal/vault/knowledge/cache"
	"vaultwicket/cmd/internal/vault/knowledge/index"
)

// Rest takes out of memory what the cache file has of each note, until a call asks for
// it. The index stays, with names, links and the filters of searches. Filters that are not in
// the cache file are put there.
func (k *Store) Rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.resting = true
	k.keepFilters()
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
		shelf := &index.Shelf{Get: k.getter(from), GetAll: allGetter(from)}
		for i, f := range k.last.Files {
			if has.files[i].record.HasFacts() {
				f.Shelve(shelf)
			}
		}
		// A call that is still at the shelf before reads the note instead.
		if k.shelf != nil {
			k.shelf.Close()
		}
		k.shelf = from
	})
}

// getter returns what gets the facts of a file from the cache, or where that is damaged,
// from the vault.
func (k *Store) getter(from *cache.Cache) func(*index.File) index.Facts {
	folder := k.folder
	return func(f *index.File) index.Facts {
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
}

// allGetter returns what gets the facts of many files from the cache. Those that are
// damaged are left out.
func allGetter(from *cache.Cache) func([]*index.File, func(int, index.Facts)) {
	return func(files []*index.File, give func(int, index.Facts)) {
		var records []cache.Record
		var places []int
		for i, f := range files {
			if record, ok := from.Find(f.Path.String(), f.Stamp); ok && record.HasFacts() {
				records, places = append(records, record), append(places, i)
			}
		}
		from.EachFacts(records, func(i int, facts []byte, ok bool) {
			if ok {
				give(places[i], index.Facts(facts))
			}
		})
	}
}
