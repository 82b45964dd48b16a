package journal

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// view is the journal as one question sees it.
type view struct {
	journal  *Journal
	segments []segment
	files    map[uint64]*os.File // those that were read from
	damage   []Damage            // found on the way
}

// view returns the journal as it is now.
func (j *Journal) view() (*view, error) {
	segments, err := j.segments()
	return &view{journal: j, segments: segments, files: map[uint64]*os.File{}}, err
}

func (v *view) close() {
	for _, file := range v.files {
		_ = file.Close()
	}
}

// place is where an entry is. The zero place is nowhere.
type place struct {
	segment int // its place in the list of segments
	summary *summary
	row     int
}

// find returns the summary of a segment by its place in the list, nil if nothing in the segment has a key, or if the segment
// was removed as too old. All have the zero key.
func (v *view) find(ctx context.Context, i int, wanted key) (s *summary, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	seg := v.segments[i]
	if i == len(v.segments)-1 {
		s, err = v.journal.newestOf(ctx, seg)
		return s, v.unlessGone(err)
	}
	if wanted != 0 {
		h, err := v.journal.headOf(ctx, seg)
		if err != nil || !h.filter.has(wanted) {
			return nil, v.unlessGone(err)
		}
	}
	s, err = v.journal.summaryOf(ctx, seg)
	return s, v.unlessGone(err)
}

// having gives the places of the segments, from one on, that may have something with a key, or damage, the newest first.
// Most are told by the heads that this process knows, each when it is asked for: what is wanted is mostly in the first.
func (v *view) having(wanted key, from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := v.lastHaving(wanted, from, len(v.segments)); i >= from; i = v.lastHaving(wanted, from, i) {
			if !yield(i) {
				return
			}
		}
	}
}

// lastHaving returns the last of the places from one on, and before an end, of which [view.having] is true; one below from if
// there is none.
func (v *view) lastHaving(wanted key, from, end int) int {
	k := &v.journal.known
	k.mu.Lock()
	defer k.mu.Unlock()
	heads := k.headsOf(v.segments)
	for i := end - 1; i >= from; i-- {
		h := heads[i]
		isNewest := i == len(v.segments)-1
		isUnknown := h == nil || h.isDamaged
		if isNewest || isUnknown || h.filter.has(wanted) {
			return i
		}
	}
	return from - 1
}

// unlessGone returns an error, unless it is that of a segment which was removed.
func (v *view) unlessGone(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k := &v.journal.known
	k.mu.Lock()
	defer k.mu.Unlock()
	k.segments = nil
	k.tail = nil // the next question looks at the folder
	return nil
}

// visit is find for one who goes through the segments from the newest on, and wants entries of a time. It notes the
// damage of the segment, and whether the one after it is missing.
func (v *view) visit(ctx context.Context, i int, wanted key, since, until time.Time) (*summary, error) {
	seg := v.segments[i]
	if i == len(v.segments)-1 {
		s, err := v.find(ctx, i, wanted)
		if s != nil {
			v.damage = append(v.damage, s.damage...)
		}
		return s, err
	}
	if v.segments[i+1].number > seg.number+1 {
		v.damage = append(
			v.damage,
			Damage{File: segmentName(seg.number + 1), Reason: "is missing, though an older one is there"},
		)
	}
	h, err := v.journal.headOf(ctx, seg)
	if err != nil {
		return nil, v.unlessGone(err)
	}
	if h.isDamaged {
		s, err := v.find(ctx, i, 0)
		if err != nil || s == nil {
			return nil, err
		}
		v.damage = append(v.damage, s.damage...)
	}
	isInTime := !h.newest.Before(since) && (until.IsZero() || h.oldest.Before(until))
	if !isInTime {
		return nil, ctx.Err()
	}
	return v.find(ctx, i, wanted)
}

// locate returns where the entry with an id is, the newest if it was begun again. It notes the damage of all segments
// where it is not found.
func (v *view) locate(ctx context.Context, id string) (place, error) {
	wanted := keyOf(byID, id)
	for i := range v.having(wanted, 0) {
		s, err := v.visit(ctx, i, wanted, time.Time{}, time.Time{})
		if err != nil {
			return place{}, err
		}
		if s == nil {
			continue
		}
		for row, e := range slices.Backward(s.entries) {
			if e.id == id {
				return place{i, s, row}, nil
			}
		}
	}
	return place{}, nil
}

// placedEnd is an outcome and its segment.
type placedEnd struct {
	endRow
	segment segment
}

// outcomes returns the outcomes of an entry in their order, of which the last has its state. isAgain says that the entry
// was taken back and begun again later, with the same id: then that one counts.
func (v *view) outcomes(ctx context.Context, at place) (ends []placedEnd, isAgain bool, err error) {
	e := at.summary.entries[at.row]
	wanted := keyOf(byID, e.id)
	state := Begun
	for _, i := range slices.Backward(slices.Collect(v.having(wanted, at.segment))) {
		s := at.summary
		if i > at.segment {
			if s, err = v.find(ctx, i, wanted); err != nil {
				return nil, false, err
			}
		}
		if s == nil {
			continue
		}
		for row, other := range s.entries {
			if isLater := i > at.segment || row > at.row; isLater && other.id == e.id {
				return nil, true, nil
			}
		}
		for _, o := range s.ends {
			if isLater := i > at.segment || o.at >= e.at; !isLater || o.id != e.id {
				continue
			}
			if !o.state.mayFollow(state) || o.count != 0 && o.count != e.steps {
				v.damage = append(
					v.damage,
					Damage{segmentName(s.number), o.at, e.id, "the outcome does not match its entry", false},
				)
				continue
			}
			state = o.state
			ends = append(ends, placedEnd{o, v.segments[i]})
		}
	}
	return ends, false, nil
}

// read reads the entry at a place with its outcomes. It is not found if it was begun again, or cannot be read, which is
// damage.
func (v *view) read(ctx context.Context, at place) (e Entry, found bool, err error) {
	ends, isAgain, err := v.outcomes(ctx, at)
	if err != nil || isAgain {
		return Entry{}, false, err
	}
	return v.readEnded(at, ends)
}

// readUndoable is read that does not find an entry that was undone.
func (v *view) readUndoable(ctx context.Context, at place) (e Entry, found bool, err error) {
	ends, isAgain, err := v.outcomes(ctx, at)
	if err != nil || isAgain {
		return Entry{}, false, err
	}
	if len(ends) > 0 && ends[len(ends)-1].state == Undone {
		return Entry{}, false, nil
	}
	return v.readEnded(at, ends)
}

// readEnded reads the entry at a place that has these outcomes.
func (v *view) readEnded(at place, ends []placedEnd) (e Entry, found bool, err error) {
	row := at.summary.entries[at.row]
	records, err := v.records(v.segments[at.segment], row.span)
	if err != nil || records == nil {
		return Entry{}, false, err
	}
	which := slices.IndexFunc(records.read, func(e Entry) bool { return e.ID == row.id })
	if which < 0 {
		v.misplaced(at.summary.number, row.at, row.id)
		return Entry{}, false, nil
	}
	e = records.read[which]
	for _, end := range ends {
		records, err := v.records(end.segment, end.span)
		if err != nil {
			return Entry{}, false, err
		}
		which := -1
		if records != nil {
			which = slices.IndexFunc(
				records.readEnds,
				func(o outcome) bool { return o.ID == row.id && o.state == end.state },
			)
		}
		if which < 0 {
			v.misplaced(end.segment.number, end.at, row.id)
			continue
		}
		e.apply(records.readEnds[which])
	}
	return e, true, nil
}

// apply adds to an entry how it ended.
func (e *Entry) apply(o outcome) {
	e.State = o.state
	e.Note = cmp.Or(o.Note, e.Note)
	e.UndoneBy = cmp.Or(o.By, e.UndoneBy)
	for i, after := range o.after[:min(len(o.after), len(e.Steps))] {
		e.Steps[i].After = after
	}
	for i, was := range o.Was {
		if i >= 0 && i < len(e.Steps) {
			e.Steps[i].Before = was
		}
	}
}

// misplaced notes that a record is not where an index says, and has that index made again: the record was damaged since.
func (v *view) misplaced(number uint64, at int64, id string) {
	v.damage = append(v.damage, Damage{segmentName(number), at, id, "the record cannot be read", false})
	v.journal.forget(number)
}

// file returns the file of a segment, nil for one that was removed. It stays open until the question is answered, or
// other segments are needed.
func (v *view) file(seg segment) (*os.File, error) {
	if file := v.files[seg.number]; file != nil {
		return file, nil
	}
	name := v.journal.folder.file(segmentName(seg.number))
	file, err := ownerfiles.Open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, v.unlessGone(err)
	}
	if err != nil {
		return nil, unusable(name, err)
	}
	if len(v.files) >= maxOpenFiles {
		v.close()
		clear(v.files)
	}
	v.files[seg.number] = file
	return file, nil
}

// maxOpenFiles is how many segments one question holds open.
const maxOpenFiles = 8

// records reads the lines of a span. It returns nil for a segment that was removed.
func (v *view) records(seg segment, where span) (*segmentReader, error) {
	file, err := v.file(seg)
	if file == nil || err != nil {
		return nil, err
	}
	r := newSegmentReader(seg.number)
	r.isWhole = true
	for line, err := range ownerfiles.Lines(file, where.at, where.end, maxLine) {
		if err != nil {
			return nil, unusable(file.Name(), err)
		}
		r.add(line)
	}
	return r, nil
}

// Check reads the whole journal and returns what of it cannot be read, or does not fit together. An index that is not that
// of its segment is removed.
func (j *Journal) Check(ctx context.Context) (damage []Damage, err error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	later := map[string][]placedEnd{} // outcomes whose entry comes still, in their order
	oldest := uint64(0)               // of the segments that are there
	for i, seg := range slices.Backward(v.segments) {
		r := newSegmentReader(seg.number)
		err := r.readTo(ctx, j.folder, seg.size)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return damage, err
		}
		if oldest > seg.number+1 {
			damage = append(
				damage,
				Damage{File: segmentName(seg.number + 1), Reason: "is missing, though an older one is there"},
			)
		}
		oldest = seg.number
		s := r.soFar()
		damage = append(damage, s.damage...)
		if i < len(v.segments)-1 {
			j.checkIndex(seg, s)
		}
		ends := s.ends
		collect := func(from int64) { // those behind an entry, which may have been begun again with the same id
			for len(ends) > 0 && ends[len(ends)-1].at >= from {
				o := ends[len(ends)-1]
				ends = ends[:len(ends)-1]
				later[o.id] = slices.Insert(later[o.id], 0, placedEnd{o, seg})
			}
		}
		for _, e := range slices.Backward(s.entries) {
			collect(e.at)
			state := Begun
			for _, o := range later[e.id] {
				if !o.state.mayFollow(state) || o.count != 0 && o.count != e.steps {
					damage = append(
						damage,
						Damage{
							segmentName(o.segment.number),
							o.at,
							e.id,
							"the outcome does not match its entry",
							false,
						},
					)
					continue
				}
				state = o.state
			}
			delete(later, e.id)
		}
		collect(0)
	}
	// The entries of these outcomes are missing, unless they were removed with their segments.
	for _, id := range slices.Sorted(maps.Keys(later)) {
		if i := slices.IndexFunc(later[id], func(o placedEnd) bool { return o.home >= oldest }); i >= 0 {
			damage = append(
				damage,
				Damage{File: segmentName(later[id][i].home), ID: id, Reason: "an outcome has no entry"},
			)
		}
	}
	return damage, nil
}

// checkIndex removes the index of a segment if it is not the one that is made of it.
func (j *Journal) checkIndex(seg segment, s *summary) {
	_, kept, err := j.folder.readIndex(seg, headAndSummary)
	if err != nil {
		return // it is made again when it is needed
	}
	s.size = seg.size
	s.sort()
	if !slices.Equal(s.encode(s.head()), kept.encode(kept.head())) {
		j.forget(seg.number)
	}
}
