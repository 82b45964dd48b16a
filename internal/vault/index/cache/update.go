package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Update is the next state of a cache in the making. Every file that is to be in it is
// named once, by Keep, Add or Put; the others are forgotten. It is safe
// for concurrent use, and a nil Update does nothing.
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

// errNoUpdate is the error of Commit without an update, or after its end.
var errNoUpdate = errors.New("the cache is not being updated")

// Update begins the next state. It is nil if another process is updating the cache, if one
// has saved since c was opened, or if the folder cannot be written to. Each Update has to
// be ended by Commit or Discard.
func (c *Cache) Update() *Update { return c.update(maxPack) }

func (c *Cache) update(limit uint64) *Update {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || os.MkdirAll(c.place.dir, 0o700) != nil || !system.IsPrivate(c.place.dir) {
		return nil
	}
	// Two concurrent updates would damage the cache, though only that: there is none if another process has
	// the lock, or the system has no locks.
	lock, err := openRegular(c.place.fixed(lockEnd), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		lock, err = create(c.place.fixed(lockEnd))
		if errors.Is(err, fs.ErrExist) {
			lock, err = openRegular(c.place.fixed(lockEnd), os.O_RDWR)
		}
	}
	if err != nil {
		return nil
	}
	if system.TryLock(lock) != nil {
		lock.Close()
		return nil
	}
	if _, now := c.place.readTable(headSize); now != c.seen {
		lock.Close()
		return nil
	}
	return &Update{
		base: c, pack: c.pack.share(), lock: lock,
		kept: make([]bool, c.table.count), rest: c.table.count,
		writer: newWriter(c.place, c.pack, c.table.length, limit),
	}
}

// Keep keeps the file at path as it is in r, which is a record of the cache that is
// updated. A record with a damaged part is forgotten instead.
func (u *Update) Keep(path string, r Record) {
	if u == nil || !u.base.knows(r) || r.isHarmed() {
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

// KeepOthers keeps all files that are not named, for a look that did not come to all of them. Those that are named
// count as they are named.
func (u *Update) KeepOthers() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return
	}
	for place := range u.kept {
		isHarmed := Record{u.base, place}.isHarmed()
		if !u.kept[place] && !isHarmed {
			u.kept[place] = true
			u.rest--
		}
	}
}

// Add keeps the record r with other facts or another filter. A record with a damaged part is
// forgotten instead.
func (u *Update) Add(path string, r Record, what Part, data string) {
	if u == nil || !u.base.knows(r) || r.isHarmed() {
		return
	}
	it := &item{path, r.entry()}
	it.spans[what] = nothing
	var found [parts]string
	found[what] = data
	u.add(it, found, nil)
}

// Found is what was found in a text. "" is unknown.
type Found struct{ Facts, Filter string }

// Put keeps a file that is new or was changed. Facts may be added later. Nothing is kept
// under the zero stamp.
func (u *Update) Put(path string, state system.Stamp, text []byte, found Found) {
	if u == nil || state == (system.Stamp{}) {
		return
	}
	it := &item{path, entry{state, noSpans}}
	it.spans[TextPart] = span{sum: checksum(text)}
	u.add(it, [parts]string{FactsPart: found.Facts, FilterPart: found.Filter}, &text)
}

// knows reports whether the pieces of r are in the pack of c, or missing.
func (c *Cache) knows(r Record) bool {
	if r.cache == nil {
		return false
	}
	e := r.entry()
	return r.cache.pack == c.pack && e.isWithin(c.table.length)
}

// add adds an item and writes what was found in its text, and the text unless that is nil.
func (u *Update) add(it *item, found [parts]string, text *[]byte) {
	scratch := scratches.Get().(*scratch)
	defer scratch.put()
	scratch.bytes = scratch.bytes[:0]
	var data [parts][]byte
	for p, piece := range found {
		if piece != "" {
			start := len(scratch.bytes)
			scratch.bytes = append(scratch.bytes, piece...)
			data[p] = scratch.bytes[start:]
			it.spans[p] = span{sum: checksum(data[p])}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || u.failure != nil {
		return
	}
	if text != nil {
		u.failure = u.writer.add(TextPart, *text, &it.spans[TextPart])
	}
	for p, piece := range data {
		if piece != nil && u.failure == nil {
			u.failure = u.writer.add(Part(p), piece, &it.spans[p])
		}
	}
	if !it.isEmpty() {
		u.fresh = append(u.fresh, it)
	}
}

// Discard ends the update and leaves the cache as it was. After Commit it does nothing.
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

// maxGarbage is how many bytes of a pack may be unused in any case. Beyond that, no more
// than half of it may.
const maxGarbage = 1 << 20

// Commit ends the update and returns the new cache; both have to be closed. It writes
// nothing if nothing has changed. After an error the cache on the disk is as it was.
func (u *Update) Commit() (*Cache, error) {
	if u == nil {
		return nil, errNoUpdate
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return nil, errNoUpdate
	}
	defer u.end()
	if u.failure == nil && u.rest == 0 && len(u.fresh) == 0 {
		return u.base.Share(), nil
	}
	next, err := u.save()
	if err != nil {
		u.writer.undo()
		return nil, err
	}
	return next, nil
}

func (u *Update) save() (*Cache, error) {
	if err := errors.Join(u.failure, u.writer.flush()); err != nil {
		return nil, err
	}
	// The last of several for one path counts.
	slices.Reverse(u.fresh)
	slices.SortStableFunc(u.fresh, func(a, b *item) int { return strings.Compare(a.path, b.path) })
	fresh := slices.CompactFunc(u.fresh, func(a, b *item) bool { return a.path == b.path })

	items := make([]item, 0, len(u.kept)-u.rest+len(fresh))
	for place, kept := range u.kept {
		path := u.base.table.path(place)
		for len(fresh) > 0 && fresh[0].path < path {
			items = append(items, *fresh[0])
			fresh = fresh[1:]
		}
		if kept && (len(fresh) == 0 || fresh[0].path != path) {
			items = append(items, item{path, u.base.table.entry(place)})
		}
	}
	for _, it := range fresh {
		items = append(items, *it)
	}

	live := uint64(0)
	for _, it := range items {
		for _, s := range it.spans {
			live += uint64(s.size)
		}
	}
	if length := u.writer.end; length > live && length-live > max(maxGarbage, length/2) {
		if err := u.compact(items); err != nil {
			return nil, err
		}
		items = slices.DeleteFunc(items, func(it item) bool { return it.isEmpty() })
	}
	c := u.base
	w := u.writer
	data := makeTable(randomID(), w.id, w.end, c.place.vault, c.program, items)
	t, ok := parseTable(data, c.place.vault, c.program)
	if !ok {
		return nil, errors.New("the table would be too long")
	}
	if err := c.place.replace(tableEnd, data); err != nil {
		return nil, err
	}
	next := &Cache{
		place:   c.place,
		program: c.program,
		seen:    sightOf(data, int64(len(data))),
		table:   t,
		pack:    w.base.share(),
	}
	if w.file != nil {
		_ = w.file.Truncate(int64(w.end)) // what is after it was left by a process that did not finish
		if w.base == nil {
			next.pack = newPack(w.id, w.file)
		} else {
			w.file.Close()
		}
	}
	// Obsolete files go: the packs before this one and those of processes that were killed. A file
	// that cannot be removed while it is open (Windows) is removed later.
	keep := w.id
	p := c.place
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		name := e.Name()
		stale := strings.HasSuffix(name, packEnd) || strings.HasSuffix(name, halfEnd)
		if path := filepath.Join(p.dir, name); stale && strings.HasPrefix(name, p.stem+"-") &&
			path != p.random(keep, packEnd) {
			_ = os.Remove(path)
		}
	}
	return next, nil
}

// compact copies all pieces of items into a new pack, and updates their places. Damaged
// ones are left out.
func (u *Update) compact(items []item) (err error) {
	old := u.writer
	from := old.base
	if old.file != nil {
		from = &pack{file: old.file}
	}
	w := newWriter(old.place, nil, 0, old.limit)
	var buf []byte
	for i := range items {
		for p := range items[i].spans {
			s := &items[i].spans[p]
			if err != nil || !s.isKept() {
				continue
			}
			if from == nil {
				*s = nothing
				continue
			}
			data, ok := from.read(*s, buf)
			if !ok {
				*s = nothing
				continue
			}
			buf = data
			err = w.add(Part(p), data, s)
		}
	}
	if err = errors.Join(err, w.flush()); err != nil {
		w.undo()
		return err
	}
	old.undo()
	u.writer = w
	return nil
}

const (
	// maxPack bounds a pack, in bytes. A vault of that size is searched from its files.
	maxPack = 4 << 30
	// factsShare is the part of it that facts and filters may take in addition: they are
	// small, and cost most to compute again.
	factsShare = 4

	stagedTexts   = 512 << 10
	stagedFacts   = 256 << 10
	stagedFilters = 256 << 10
)

// writer appends to a pack: to the existing one, or to a new one. It touches the disk when
// there is something to write. Texts, facts and filters are collected separately, so that
// each are read in large pieces.
type writer struct {
	place  place
	base   *pack // nil for a new one
	id     packID
	file   *os.File // nil until something is written
	start  uint64   // where the new bytes begin
	end    uint64   // how much is written
	staged uint64   // how much waits to be
	limit  uint64

	stagings [parts]staging
}

// staging is data that waits to be written together.
type staging struct {
	bytes   []byte
	most    int
	waiting []*span // their places are relative to the start of bytes
}

func newWriter(p place, base *pack, start, limit uint64) *writer {
	w := &writer{place: p, base: base, start: start, end: start, limit: limit}
	for i, most := range [parts]int{stagedTexts, stagedFacts, stagedFilters} {
		w.stagings[i] = staging{most: most}
	}
	if base != nil {
		w.id = base.id
	}
	return w
}

// add writes a part and sets its place; the checksum is set already. A part for which
// there is no room stays nothing.
func (w *writer) add(what Part, data []byte, s *span) error {
	size := uint64(len(data))
	limit := w.limit
	if what != TextPart {
		limit += limit / factsShare
	}
	if size >= 1<<32 || w.end+w.staged+size > limit {
		*s = nothing
		return nil
	}
	s.size = uint32(size)
	to := &w.stagings[what]
	if len(to.bytes)+len(data) > to.most {
		if err := w.flushOne(to); err != nil {
			return err
		}
	}
	if len(data) > to.most { // too long to wait
		if err := w.open(); err != nil {
			return err
		}
		s.at = w.end
		_, err := w.file.WriteAt(data, int64(w.end))
		w.end += size
		return err
	}
	s.at = uint64(len(to.bytes))
	if to.bytes == nil {
		to.bytes = make([]byte, 0, to.most)
	}
	to.bytes = append(to.bytes, data...)
	to.waiting = append(to.waiting, s)
	w.staged += size
	return nil
}

// flush writes all data that waits.
func (w *writer) flush() error {
	var failed []error
	for i := range w.stagings {
		failed = append(failed, w.flushOne(&w.stagings[i]))
	}
	return errors.Join(failed...)
}

// flushOne writes the data of one staging.
func (w *writer) flushOne(s *staging) error {
	if len(s.waiting) == 0 {
		return nil
	}
	if err := w.open(); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(s.bytes, int64(w.end)); err != nil {
		return err
	}
	for _, span := range s.waiting {
		span.at += w.end
	}
	w.end += uint64(len(s.bytes))
	w.staged -= uint64(len(s.bytes))
	s.bytes = s.bytes[:0]
	s.waiting = s.waiting[:0]
	return nil
}

// open opens the existing pack, if it was not replaced, or makes one.
func (w *writer) open() (err error) {
	if w.file != nil {
		return nil
	}
	if w.base == nil {
		w.id = randomID()
		w.file, err = create(w.place.random(w.id, packEnd))
		return err
	}
	file, err := openRegular(w.place.random(w.id, packEnd), os.O_RDWR)
	if err != nil {
		return err
	}
	one, err := file.Stat()
	if err == nil {
		var other os.FileInfo
		if other, err = w.base.file.Stat(); err == nil && !os.SameFile(one, other) {
			err = errors.New("the pack was replaced")
		}
	}
	if err != nil {
		file.Close()
		return err
	}
	w.file = file
	return nil
}

// undo restores the state before.
func (w *writer) undo() {
	if w.file == nil {
		return
	}
	if w.base != nil {
		_ = w.file.Truncate(int64(w.start))
	}
	w.file.Close()
	if w.base == nil {
		_ = os.Remove(w.place.random(w.id, packEnd))
	}
}
