// Package cache keeps what a call has read of a vault for the calls behind it:
// of every note its path, its stamp, its text, what was found in it, and the filter
// by which a search passes over it.
//
// It lies in the user's own folder for such things, never in the vault, in two
// files. The table names the notes; it is small, read whole, and replaced by
// renaming a new one. The pack holds texts, facts and filters; it is only ever written
// behind the length that the table in force states, so that whoever reads by an
// older table is not disturbed. It is read piece by piece and never mapped: a
// mapped file that somebody cuts short kills the process.
//
// The cache is not the truth and may be thrown away at any time. Nothing is
// synced to the disk, for checksums tell what arrived there and what did not:
// what is harmed is missing and is never answered with. It does not find out by
// itself whether a file has changed. The caller compares stamps, and puts in
// nothing under a stamp that is not settled.
package cache

import (
	"sync"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// Cache is what was kept of a vault at one moment. It does not change; it is
// safe for use by several goroutines.
type Cache struct {
	place   place
	program string
	seen    sight // of the table, as it was at Open
	table   *table
	pack    *pack // nil if the table needs none

	mu     sync.Mutex
	closed bool
}

// Open reads the cache of the vault at an absolute path, which is kept in the
// folder dir. It never fails: what is missing, damaged, of another vault, of
// another program, or in a folder that others can write to is an empty cache.
func Open(dir, vault, program string) *Cache {
	c := &Cache{place: newPlace(dir, vault), program: program, seen: sight{size: missing}, table: &table{}}
	if !system.IsPrivate(dir) {
		return c
	}
	// The pack may be replaced between the two openings; then the table was too.
	for range 3 {
		data, seen := c.place.readTable()
		c.seen = seen
		t, ok := parseTable(data, vault, program)
		if !ok {
			return c
		}
		if t.pack == (packID{}) {
			c.table = t
			return c
		}
		if p := c.place.openPack(t.pack, t.length); p != nil {
			c.table, c.pack = t, p
			return c
		}
	}
	return c
}

// Share returns the same cache once more, which is closed by itself.
func (c *Cache) Share() *Cache {
	return &Cache{place: c.place, program: c.program, seen: c.seen, table: c.table, pack: c.pack.share()}
}

// Close gives the files back. Records and texts cannot be read any more.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.pack.release()
}

// Len returns how many files are kept.
func (c *Cache) Len() int { return c.table.count }

// Record is one file as it was kept. The zero Record holds nothing.
type Record struct {
	cache *Cache
	place int // in the table
}

func (r Record) entry() entry {
	if r.cache == nil {
		return entry{text: nothing, facts: nothing, filter: nothing}
	}
	return r.cache.table.entry(r.place)
}

// HasFacts reports whether facts are kept.
func (r Record) HasFacts() bool { return r.entry().facts.isKept() }

// HasText reports whether the text is kept.
func (r Record) HasText() bool { return r.entry().text.isKept() }

// HasFilter reports whether the filter of the text is kept.
func (r Record) HasFilter() bool { return r.entry().filter.isKept() }

// Find returns what is kept of the file with exactly this path and stamp.
func (c *Cache) Find(path string, stamp system.Stamp) (Record, bool) {
	i, ok := c.table.find(path)
	if !ok || c.table.stamp(i) != stamp {
		return Record{}, false
	}
	return Record{c, i}, true
}

// Text reads the text of a file into buf, which is reused if it is large
// enough. ok is false if it is not kept, or damaged: then the file has to be
// read, and put in again.
func (c *Cache) Text(r Record, buf []byte) (text []byte, ok bool) {
	e := r.entry()
	if !e.text.isKept() || !c.owns(r) {
		return nil, false
	}
	text, ok = c.pack.read(e.text, buf)
	if !ok {
		r.harm(textPart)
	}
	return text, ok
}

// Facts returns what was found in a file. ok is false if that is not kept, or
// damaged.
func (c *Cache) Facts(r Record) (facts string, ok bool) {
	e := r.entry()
	if !e.facts.isKept() || !c.owns(r) {
		return "", false
	}
	scratch := scratches.Get().(*scratch)
	defer scratch.put()
	data, ok := c.pack.read(e.facts, scratch.bytes)
	if !ok {
		r.harm(factsPart)
		return "", false
	}
	scratch.bytes = data[:0]
	return string(data), true
}

// owns reports whether a record lies in the pack of c: one of a cache from
// which c was made does, unless the pack was made anew.
func (c *Cache) owns(r Record) bool { return c.pack != nil && c.pack == r.cache.pack }
