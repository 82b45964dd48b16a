package cache

import (
	"errors"
	"slices"
	"strings"
)

// maxGarbage is how much of a pack may be of no use in any case. Beyond, no more
// than half of it may.
const maxGarbage = 1 << 20

// Commit ends the update and returns the cache that it has made; both have to be
// closed. It writes nothing if nothing has changed. After an error the cache on
// the disk is as it was.
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
	items := u.items()
	if isWasteful(items, u.writer.end) {
		if err := u.compact(items); err != nil {
			return nil, err
		}
		items = slices.DeleteFunc(items, item.isEmpty)
	}
	c, w := u.base, u.writer
	data := makeTable(randomID(), w.id, w.end, c.place.vault, c.program, items)
	t, ok := parseTable(data, c.place.vault, c.program)
	if !ok {
		return nil, errors.New("the table would be too long")
	}
	if err := c.place.writeTable(data); err != nil {
		return nil, err
	}
	next := &Cache{place: c.place, program: c.program, seen: sightOf(data, int64(len(data))), table: t, pack: w.finish()}
	c.place.sweep(w.id)
	return next, nil
}

// items returns what is to be in the table, in its order.
func (u *Update) items() []item {
	// The last of several for one path counts.
	slices.Reverse(u.fresh)
	slices.SortStableFunc(u.fresh, func(a, b *item) int { return strings.Compare(a.path, b.path) })
	fresh := slices.CompactFunc(u.fresh, func(a, b *item) bool { return a.path == b.path })

	items := make([]item, 0, len(u.kept)-u.rest+len(fresh))
	for place, kept := range u.kept {
		path := u.base.table.path(place)
		for len(fresh) > 0 && fresh[0].path < path {
			items, fresh = append(items, *fresh[0]), fresh[1:]
		}
		if kept && (len(fresh) == 0 || fresh[0].path != path) {
			items = append(items, item{path, u.base.table.entry(place)})
		}
	}
	for _, it := range fresh {
		items = append(items, *it)
	}
	return items
}

// isWasteful reports whether too much of a pack of that length is garbage.
func isWasteful(items []item, length uint64) bool {
	live := uint64(0)
	for _, it := range items {
		live += uint64(it.text.size) + uint64(it.facts.size) + uint64(it.filter.size)
	}
	return length > live && length-live > max(maxGarbage, length/2)
}

// compact writes all that items say into a new pack, and has them say so. What
// is damaged is left behind.
func (u *Update) compact(items []item) error {
	old := u.writer
	w := newWriter(old.place, nil, 0, old.limit)
	var err error
	buf := []byte(nil)
	for i := range items {
		it := &items[i]
		buf, err = w.move(old, &it.text, w.addText, buf)
		if err == nil {
			buf, err = w.move(old, &it.facts, w.addFacts, buf)
		}
		if err == nil {
			buf, err = w.move(old, &it.filter, w.addFilter, buf)
		}
		if err != nil {
			break
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

// move writes by add what s names in another pack.
func (w *writer) move(from *writer, s *span, add func([]byte, *span) error, buf []byte) ([]byte, error) {
	if !s.isKept() {
		return buf, nil
	}
	data, ok := from.read(*s, buf)
	if !ok {
		*s = nothing
		return buf, nil
	}
	return data, add(data, s)
}

func (it item) isEmpty() bool { return !it.text.isKept() && !it.facts.isKept() }
