package cache

import (
	"errors"
	"os"
	"sync"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// Update is the next state of a cache while it is being made. Every file that is
// to be in it is named once, by Keep, AddFacts, AddFilter or Put; the others are
// forgotten. It is safe for use by several goroutines, and a nil Update does nothing.
type Update struct {
	base *Cache
	pack *pack // that of base
	lock *os.File

	mu      sync.Mutex
	ended   bool
	kept    []bool // by place in the table of base
	rest    int    // how many are not kept
	fresh   []*item
	writer  *writer
	failure error
}

// errNoUpdate is the answer to Commit without an update, or after its end.
var errNoUpdate = errors.New("the cache is not being updated")

// Update begins the next state. It is nil if another process is at it, if one
// has saved since c was opened, or if the folder cannot be written to. Each
// Update has to be ended by Commit or Discard.
func (c *Cache) Update() *Update { return c.update(maxPack) }

func (c *Cache) update(limit uint64) *Update {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || os.MkdirAll(c.place.dir, 0o700) != nil || !system.IsPrivate(c.place.dir) {
		return nil
	}
	lock := c.place.lock()
	if lock == nil {
		return nil
	}
	if c.place.look() != c.seen {
		lock.Close()
		return nil
	}
	return &Update{
		base: c, pack: c.pack.share(), lock: lock,
		kept: make([]bool, c.table.count), rest: c.table.count,
		writer: newWriter(c.place, c.pack, c.table.length, limit),
	}
}

// Keep keeps the file at path as it is in r, which comes from the cache that is
// updated. What turned out to be damaged is forgotten instead.
func (u *Update) Keep(path string, r Record) {
	if u == nil || !u.base.knows(r) || r.isHarmed(wholePart) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return
	}
	if r.cache.table == u.base.table && u.base.table.path(r.place) == path {
		if !u.kept[r.place] {
			u.kept[r.place] = true
			u.rest--
		}
		return
	}
	u.fresh = append(u.fresh, &item{path, r.entry()})
}

// AddFacts keeps the text in r and puts facts beside it.
func (u *Update) AddFacts(path string, r Record, facts string) {
	if u == nil || !u.base.knows(r) || r.isHarmed(textPart) {
		return
	}
	it := &item{path, r.entry()}
	it.facts = nothing
	if r.isHarmed(filterPart) {
		it.filter = nothing
	}
	u.add(it, Found{Facts: facts}, func() error { return nil })
}

// AddFilter keeps what is in r and puts the filter of its text beside it.
func (u *Update) AddFilter(path string, r Record, filter string) {
	if u == nil || !u.base.knows(r) || r.isHarmed(textPart) {
		return
	}
	it := &item{path, r.entry()}
	it.filter = nothing
	if r.isHarmed(factsPart) {
		it.facts = nothing
	}
	u.add(it, Found{Filter: filter}, func() error { return nil })
}

// Found is what was found out about a text. What is "" is not known.
type Found struct{ Facts, Filter string }

// Put keeps a file that is new or was changed. Facts are added when somebody wants
// them. Nothing is kept under the zero stamp.
func (u *Update) Put(path string, state system.Stamp, text []byte, found Found) {
	if u == nil || state == (system.Stamp{}) {
		return
	}
	it := &item{path, entry{state, span{sum: checksum(text)}, nothing, nothing}}
	u.add(it, found, func() error { return u.writer.addText(text, &it.text) })
}

// knows reports whether what r says lies in the pack that c has, or in none.
func (c *Cache) knows(r Record) bool {
	if r.cache == nil {
		return false
	}
	e := r.entry()
	return r.cache.pack == c.pack && e.isWithin(c.table.length)
}

// add adds an item. Its text is written by addText; what was found in it, here.
func (u *Update) add(it *item, found Found, addText func() error) {
	scratch := scratches.Get().(*scratch)
	defer scratch.put()
	scratch.bytes = append(append(scratch.bytes[:0], found.Facts...), found.Filter...)
	facts, filter := scratch.bytes[:len(found.Facts)], scratch.bytes[len(found.Facts):]
	if len(facts) > 0 {
		it.facts = span{sum: checksum(facts)}
	}
	if len(filter) > 0 {
		it.filter = span{sum: checksum(filter)}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || u.failure != nil {
		return
	}
	u.failure = addText()
	if len(facts) > 0 && u.failure == nil {
		u.failure = u.writer.addFacts(facts, &it.facts)
	}
	if len(filter) > 0 && u.failure == nil {
		u.failure = u.writer.addFilter(filter, &it.filter)
	}
	if !it.isEmpty() {
		u.fresh = append(u.fresh, it)
	}
}

// Discard ends the update and leaves the cache as it was. After Commit it does
// nothing.
func (u *Update) Discard() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return
	}
	u.writer.undo()
	u.end()
}

func (u *Update) end() {
	u.ended = true
	_ = u.pack.release()
	u.lock.Close()
}
