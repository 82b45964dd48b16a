package lookup

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
)

// seed is one for the process, so that a [Key] can be kept and compared later.
var seed = maphash.MakeSeed()

func hash(key []byte) uint32 { return uint32(maphash.Bytes(seed, key) >> 32) }

// entry is a file in a table. Files with other keys may have the same hash.
type entry struct {
	hash  uint32
	place int32
}

// table is a hash table of files in buckets. It has no pointers and takes twelve bytes a
// file, because a vault may have 100,000 of them.
type table struct {
	shift   uint8   // hash >> shift is the bucket
	starts  []int32 // offsets of the buckets in entries, and the end of the last one
	entries []entry
}

// newTable makes a table; entries with the same hash are ordered by compare.
func newTable(entries []entry, compare func(a, b int32) int) table {
	t := table{shift: uint8(32 - bits.Len(uint(len(entries))))}
	t.starts = make([]int32, 1<<(32-t.shift)+1)
	t.entries = make([]entry, len(entries))
	for _, e := range entries {
		t.starts[e.hash>>t.shift+1]++
	}
	for b := range len(t.starts) - 1 {
		t.starts[b+1] += t.starts[b]
	}
	next := slices.Clone(t.starts)
	for _, e := range entries {
		b := e.hash >> t.shift
		t.entries[next[b]] = e
		next[b]++
	}
	for b := range len(t.starts) - 1 {
		sortEntries(t.entries[t.starts[b]:t.starts[b+1]], compare)
	}
	return t
}

func sortEntries(entries []entry, compare func(a, b int32) int) {
	if len(entries) < 2 {
		return
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return compare(a.place, b.place)
	})
}

// run returns the entries that have a hash.
func (t *table) run(hash uint32) []entry {
	b := hash >> t.shift
	bucket := t.entries[t.starts[b]:t.starts[b+1]]
	start := 0
	for start < len(bucket) && bucket[start].hash != hash {
		start++
	}
	end := start
	for end < len(bucket) && bucket[end].hash == hash {
		end++
	}
	return bucket[start:end]
}

// moved returns the table after a change: the file at place i is at to[i], or deleted where
// that is negative; added are new.
func (t *table) moved(to []int32, added []entry, compare func(a, b int32) int) table {
	next := table{shift: t.shift, starts: make([]int32, len(t.starts)), entries: make([]entry, 0, len(t.entries)+len(added))}
	slices.SortFunc(added, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	for b := range len(t.starts) - 1 {
		start := len(next.entries)
		for _, e := range t.entries[t.starts[b]:t.starts[b+1]] {
			if place := to[e.place]; place >= 0 {
				next.entries = append(next.entries, entry{e.hash, place})
			}
		}
		more := len(added) > 0 && added[0].hash>>t.shift == uint32(b)
		for len(added) > 0 && added[0].hash>>t.shift == uint32(b) {
			next.entries, added = append(next.entries, added[0]), added[1:]
		}
		if more {
			sortEntries(next.entries[start:], compare)
		}
		next.starts[b+1] = int32(len(next.entries))
	}
	return next
}
