package knowledge

import (
	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/knowledge/cache"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// aimed is what the cache has of each file of an index, by its place there.
type aimed struct {
	index   *index.Index // nil before the first use
	records []cache.Record
	filters []trigram.Filter // of the texts of the records, or of those that were read for the index
	names   []bool           // whether the path is in Unicode normal form C, as queries compare it
}

// withAimed calls use with the cache, and with what it has of each file of an index.
// Neither changes until use returns.
func (k *Store) withAimed(x *index.Index, use func(*cache.Cache, aimed)) {
	k.keep.RLock()
	for k.aimed.index != x {
		k.keep.RUnlock()
		k.aim(x)
		k.keep.RLock()
	}
	defer k.keep.RUnlock()
	use(k.cache, k.aimed)
}

// aim finds out what the cache has of each file of an index.
func (k *Store) aim(x *index.Index) {
	k.keep.Lock()
	defer k.keep.Unlock()
	if k.aimed.index == x {
		return
	}
	count := len(x.Files)
	next := aimed{x, make([]cache.Record, count), make([]trigram.Filter, count), make([]bool, count)}
	var unread []int // files whose filter is in the cache
	before := beforeIn(k.aimed.index)
	for i, f := range x.Files {
		if old, ok := before(f); ok {
			next.records[i], next.filters[i], next.names[i] = k.aimed.records[old], k.aimed.filters[old], k.aimed.names[old]
			continue
		}
		next.names[i] = norm.NFC.IsNormalString(f.Path.String())
		if !f.HasFacts() || !f.Settled() {
			continue // its text is read each time
		}
		if k.cache != nil {
			next.records[i], _ = k.cache.Find(f.Path.String(), f.Stamp)
		}
		next.filters[i] = f.Filter
		if f.Filter == "" && next.records[i].HasFilter() {
			unread = append(unread, i)
		}
	}
	k.readFilters(next, unread)
	k.aimed = next
}

// beforeIn returns where the very same file was in an index, which may be nil, for files
// that are asked for in the order of listings.
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

// readFilters reads the filters of some files from the cache. One that is damaged is as
// good as none.
func (k *Store) readFilters(to aimed, places []int) {
	records := make([]cache.Record, len(places))
	for i, place := range places {
		records[i] = to.records[place]
	}
	k.cache.Filters(records, func(i int, filter []byte, ok bool) {
		if ok {
			to.filters[places[i]] = trigram.Read(filter)
		}
	})
}
