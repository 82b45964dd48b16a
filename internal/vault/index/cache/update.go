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

// Update makes the next state of a cache. Every file of the next state has to be passed once to Keep, Add or
// Put; the others are dropped. An Update is safe for concurrent use, and a nil Update does nothing.
type Update struct {
	base *Cache
	pack *pack // of base
	lock *os.File

	mu      sync.Mutex
	ended   bool
	kept    []bool // by place in the table of base
	dropped int    // number of files of base that are not kept
	fresh   []*item
	writer  *writer
	failure error
}

// errNoUpdate is the error of Commit for a nil update, or after the update has ended.
var errNoUpdate = errors.New("the cache is not being updated")

// Update begins an update. It returns nil if another process is updating the cache, or has updated it since c
// was opened, or if the folder cannot be written to. The caller must call Commit or Discard.
func (c *Cache) Update() *Update { return c.update(maxPack) }

func (c *Cache) update(limit uint64) *Update {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || os.MkdirAll(c.place.dir, 0o700) != nil || !system.IsPrivate(c.place.dir) {
		return nil
	}
	// Two concurrent updates would damage the cache, so there is no update if another process has the lock, or
	// if the system has no locks.
	lock, err := openOrCreate(c.place.fixed(lockSuffix))
	if err != nil {
		return nil
	}
	if system.TryLock(lock) != nil {
		lock.Close()
		return nil
	}
	if _, id := c.place.readTable(headSize); id != c.tableID {
		lock.Close()
		return nil
	}
	return &Update{
		base:    c,
		pack:    c.pack.share(),
		lock:    lock,
		kept:    make([]bool, c.table.count),
		dropped: c.table.count,
		writer:  newWriter(c.place, c.pack, c.table.length, limit),
	}
}

// openOrCreate opens a regular file for writing, which another process may create at the same time.
func openOrCreate(name string) (*os.File, error) {
	file, err := openRegular(name, os.O_RDWR)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	file, err = create(name)
	if !errors.Is(err, fs.ErrExist) {
		return file, err
	}
	return openRegular(name, os.O_RDWR)
}

// Keep keeps the file at path as it is in r, a record of the cache that is updated. A record with a damaged
// part is dropped.
func (u *Update) Keep(path string, r Record) {
	if u == nil || !u.base.contains(r) || r.isDamaged() {
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
			u.dropped--
		}
		return
	}
	u.fresh = append(u.fresh, &item{path, r.entry()})
}

// KeepOthers keeps all files that are not passed to Keep, Add or Put, for a scan that has not reached all files. Files
// that are passed to them, before or after, are updated as usual.
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
		isDamaged := Record{u.base, place}.isDamaged()
		if !u.kept[place] && !isDamaged {
			u.kept[place] = true
			u.dropped--
		}
	}
}

// Add keeps the record r with new facts or a new filter. A record with a damaged part is dropped.
func (u *Update) Add(path string, r Record, part Part, data string) {
	if u == nil || !u.base.contains(r) || r.isDamaged() {
		return
	}
	it := &item{path, r.entry()}
	it.spans[part] = noSpan
	var computed [partCount]string
	computed[part] = data
	u.add(it, computed, nil)
}

// Found has what was computed from a text. A field is "" if it was not computed.
type Found struct{ Facts, Filter string }

// Put stores a file that is new or changed. A later update can add facts. Put ignores a file with the zero
// stamp.
func (u *Update) Put(path string, stamp system.Stamp, text []byte, found Found) {
	if u == nil || stamp == (system.Stamp{}) {
		return
	}
	it := &item{path, entry{stamp, noSpans}}
	it.spans[TextPart] = span{sum: checksum(text)}
	u.add(it, [partCount]string{FactsPart: found.Facts, FilterPart: found.Filter}, &text)
}

// contains reports whether the parts of r are in the pack of c, or missing.
func (c *Cache) contains(r Record) bool {
	if r.cache == nil {
		return false
	}
	e := r.entry()
	return r.cache.pack == c.pack && e.isWithin(c.table.length)
}

// add adds an item, and writes the computed parts and the text unless that is nil.
func (u *Update) add(it *item, computed [partCount]string, text *[]byte) {
	scratch := scratches.Get().(*scratch)
	defer scratch.put()
	scratch.bytes = scratch.bytes[:0]
	var data [partCount][]byte
	for p, piece := range computed {
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

// Discard ends the update and leaves the cache unchanged. After Commit it does nothing.
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

// end releases the pack and the lock.
func (u *Update) end() {
	u.ended = true
	_ = u.pack.release()
	u.lock.Close()
}

// maxGarbage is how many bytes of a pack may be unused in any case. In a large pack, up to half of the bytes
// may be unused.
const maxGarbage = 1 << 20

// Commit ends the update and returns the new cache; the old and the new one have to be closed. It writes
// nothing if nothing has changed. If it fails, the cache on the disk is unchanged.
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
	if u.failure == nil && u.dropped == 0 && len(u.fresh) == 0 {
		return u.base.Share(), nil
	}
	next, err := u.save()
	if err != nil {
		u.writer.undo()
		return nil, err
	}
	return next, nil
}

// save writes the pack and the table, and returns the new cache.
func (u *Update) save() (*Cache, error) {
	if err := errors.Join(u.failure, u.writer.flush()); err != nil {
		return nil, err
	}
	items := u.items()
	live := uint64(0)
	for _, it := range items {
		for _, s := range it.spans {
			live += uint64(s.size)
		}
	}
	length := u.writer.end
	isMostlyGarbage := length > live && length-live > max(maxGarbage, length/2)
	if isMostlyGarbage {
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
	if err := c.place.replace(tableSuffix, data); err != nil {
		return nil, err
	}
	next := &Cache{
		place:   c.place,
		program: c.program,
		tableID: fileIDOf(data, int64(len(data))),
		table:   t,
		pack:    w.base.share(),
	}
	if w.file != nil {
		_ = w.file.Truncate(int64(w.end)) // a process that did not finish may have left bytes beyond that
		if w.base == nil {
			next.pack = newPack(w.id, w.file)
		} else {
			w.file.Close()
		}
	}
	c.place.removeObsolete(w.id)
	return next, nil
}

// items returns the rows of the new table, sorted by path.
func (u *Update) items() []item {
	// Of several items with the same path, the last counts.
	slices.Reverse(u.fresh)
	slices.SortStableFunc(u.fresh, func(a, b *item) int { return strings.Compare(a.path, b.path) })
	fresh := slices.CompactFunc(u.fresh, func(a, b *item) bool { return a.path == b.path })

	items := make([]item, 0, len(u.kept)-u.dropped+len(fresh))
	for place, isKept := range u.kept {
		path := u.base.table.path(place)
		for len(fresh) > 0 && fresh[0].path < path {
			items = append(items, *fresh[0])
			fresh = fresh[1:]
		}
		isReplaced := len(fresh) > 0 && fresh[0].path == path
		if isKept && !isReplaced {
			items = append(items, item{path, u.base.table.entry(place)})
		}
	}
	for _, it := range fresh {
		items = append(items, *it)
	}
	return items
}

// removeObsolete removes older packs than the current one, and files of processes that were killed. A file that is
// open cannot be removed on Windows; a later update removes it.
func (p place) removeObsolete(current packID) {
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		name := e.Name()
		isTemporary := strings.HasSuffix(name, packSuffix) || strings.HasSuffix(name, halfSuffix)
		isOurs := strings.HasPrefix(name, p.stem+"-")
		path := filepath.Join(p.dir, name)
		if isTemporary && isOurs && path != p.random(current, packSuffix) {
			_ = os.Remove(path)
		}
	}
}

// compact copies all pieces of items into a new pack and updates their spans. Damaged pieces are dropped.
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
			if err != nil || !s.isPresent() {
				continue
			}
			if from == nil {
				*s = noSpan
				continue
			}
			data, ok := from.read(*s, buf)
			if !ok {
				*s = noSpan
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
	// maxPack is the maximum length of a pack in bytes. What does not fit is read from the vault.
	maxPack = 4 << 30
	// Facts and filters may exceed the limit by 1/factsShare of it, because they are small
	// and expensive to compute again.
	factsShare = 4

	// How many bytes of each part are collected before they are written.
	stagedTexts   = 512 << 10
	stagedFacts   = 256 << 10
	stagedFilters = 256 << 10
)

// writer appends to the existing pack or to a new one, which it opens with the first write. It collects
// texts, facts and filters separately, so that each part can be read in large runs.
type writer struct {
	place  place
	base   *pack // nil for a new pack
	id     packID
	file   *os.File // nil until something is written
	start  uint64   // offset of the first new byte
	end    uint64   // offset after the last written byte
	staged uint64   // number of bytes that are not written yet
	limit  uint64   // maximum length of the pack, see maxPack

	stagings [partCount]staging
}

// staging collects data that is written together.
type staging struct {
	bytes   []byte
	max     int     // maximum length of bytes
	pending []*span // with offsets from the start of bytes
}

func newWriter(p place, base *pack, start, limit uint64) *writer {
	w := &writer{place: p, base: base, start: start, end: start, limit: limit}
	for i, maxStaged := range [partCount]int{stagedTexts, stagedFacts, stagedFilters} {
		w.stagings[i] = staging{max: maxStaged}
	}
	if base != nil {
		w.id = base.id
	}
	return w
}

// add writes a part, at once or later, and sets the offset and size of s. The caller has set the checksum. If
// the pack has no room, s becomes noSpan.
func (w *writer) add(part Part, data []byte, s *span) error {
	size := uint64(len(data))
	limit := w.limit
	if part != TextPart {
		limit += limit / factsShare
	}
	if size >= 1<<32 || w.end+w.staged+size > limit {
		*s = noSpan
		return nil
	}
	s.size = uint32(size)
	to := &w.stagings[part]
	if len(to.bytes)+len(data) > to.max {
		if err := w.flushPart(to); err != nil {
			return err
		}
	}
	if len(data) > to.max { // too long to be staged
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
		to.bytes = make([]byte, 0, to.max)
	}
	to.bytes = append(to.bytes, data...)
	to.pending = append(to.pending, s)
	w.staged += size
	return nil
}

// flush writes all staged data.
func (w *writer) flush() error {
	var errs []error
	for i := range w.stagings {
		errs = append(errs, w.flushPart(&w.stagings[i]))
	}
	return errors.Join(errs...)
}

// flushPart writes the staged data of one part and completes the offsets of its spans.
func (w *writer) flushPart(s *staging) error {
	if len(s.pending) == 0 {
		return nil
	}
	if err := w.open(); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(s.bytes, int64(w.end)); err != nil {
		return err
	}
	for _, span := range s.pending {
		span.at += w.end
	}
	w.end += uint64(len(s.bytes))
	w.staged -= uint64(len(s.bytes))
	s.bytes = s.bytes[:0]
	s.pending = s.pending[:0]
	return nil
}

// open opens the existing pack, unless it has been replaced, or creates a new one.
func (w *writer) open() (err error) {
	if w.file != nil {
		return nil
	}
	if w.base == nil {
		w.id = randomID()
		w.file, err = create(w.place.random(w.id, packSuffix))
		return err
	}
	file, err := openRegular(w.place.random(w.id, packSuffix), os.O_RDWR)
	if err != nil {
		return err
	}
	if err := checkSameFile(file, w.base.file); err != nil {
		file.Close()
		return err
	}
	w.file = file
	return nil
}

// checkSameFile returns an error unless the pack that was opened is the file of the base pack.
func checkSameFile(opened, base *os.File) error {
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	baseInfo, err := base.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, baseInfo) {
		return errors.New("the pack was replaced")
	}
	return nil
}

// undo removes everything that was written, and closes the file.
func (w *writer) undo() {
	if w.file == nil {
		return
	}
	if w.base != nil {
		_ = w.file.Truncate(int64(w.start))
	}
	w.file.Close()
	if w.base == nil {
		_ = os.Remove(w.place.random(w.id, packSuffix))
	}
}
