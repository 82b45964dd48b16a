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

// view is a snapshot of the journal for one query.
type view struct {
	journal  *Journal
	segments []segment
	files    map[uint64]*os.File // open files by segment number
	damage   []Damage            // found during the query
}

// view returns the current state of the journal.
func (j *Journal) view() (*view, error) {
	segments, err := j.segments()
	return &view{journal: j, segments: segments, files: map[uint64]*os.File{}}, err
}

func (v *view) close() {
	for _, file := range v.files {
		_ = file.Close()
	}
}

// place is the position of an entry. The zero place stands for an entry that was not found.
type place struct {
	segment int // index in the list of segments
	summary *summary
	row     int
}

// summaryWith returns the summary of the segment with index i. It returns nil if no record in the segment has
// the key, or if the segment was removed as too old. The zero key matches all records.
func (v *view) summaryWith(ctx context.Context, i int, wanted key) (s *summary, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	seg := v.segments[i]
	if i == len(v.segments)-1 {
		s, err = v.journal.newestOf(ctx, seg)
		return s, v.ignoreRemoved(err)
	}
	if wanted != 0 {
		h, err := v.journal.headOf(ctx, seg)
		if err != nil || !h.filter.has(wanted) {
			return nil, v.ignoreRemoved(err)
		}
	}
	s, err = v.journal.summaryOf(ctx, seg)
	return s, v.ignoreRemoved(err)
}

// segmentsWith yields the indexes, not below from, of the segments that may have the key or are damaged, the
// newest first. It uses the cached heads, each when it is needed: most queries end early.
func (v *view) segmentsWith(wanted key, from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := v.lastSegmentWith(wanted, from, len(v.segments)); i >= from; i = v.lastSegmentWith(wanted, from, i) {
			if !yield(i) {
				return
			}
		}
	}
}

// lastSegmentWith returns the last index from from to below end that [view.segmentsWith] yields, or from-1 if
// there is none.
func (v *view) lastSegmentWith(wanted key, from, end int) int {
	k := &v.journal.summaries
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

// ignoreRemoved returns err, but nil if it means that a segment was removed.
func (v *view) ignoreRemoved(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k := &v.journal.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	k.segments = nil
	k.tail = nil // makes the next query read the folder
	return nil
}

// visit is summaryWith for a query that goes through the segments from the newest on, and needs only entries
// from since to before until. It records the damage of the segment, and whether the next segment is missing.
func (v *view) visit(ctx context.Context, i int, wanted key, since, until time.Time) (*summary, error) {
	seg := v.segments[i]
	if i == len(v.segments)-1 {
		s, err := v.summaryWith(ctx, i, wanted)
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
		return nil, v.ignoreRemoved(err)
	}
	if h.isDamaged {
		s, err := v.summaryWith(ctx, i, 0)
		if err != nil || s == nil {
			return nil, err
		}
		v.damage = append(v.damage, s.damage...)
	}
	isInTime := !h.newest.Before(since) && (until.IsZero() || h.oldest.Before(until))
	if !isInTime {
		return nil, ctx.Err()
	}
	return v.summaryWith(ctx, i, wanted)
}

// locate returns the place of the newest entry with the id. It records the damage of the segments that it
// searches.
func (v *view) locate(ctx context.Context, id string) (place, error) {
	wanted := keyOf(byID, id)
	for i := range v.segmentsWith(wanted, 0) {
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

// outcomes returns the outcomes of an entry in order; the last one determines its state. isAgain is set if the
// entry was undone and a later one with the same id exists, which then replaces it.
func (v *view) outcomes(ctx context.Context, at place) (ends []placedEnd, isAgain bool, err error) {
	e := at.summary.entries[at.row]
	wanted := keyOf(byID, e.id)
	state := Begun
	for _, i := range slices.Backward(slices.Collect(v.segmentsWith(wanted, at.segment))) {
		s := at.summary
		if i > at.segment {
			if s, err = v.summaryWith(ctx, i, wanted); err != nil {
				return nil, false, err
			}
		}
		if s == nil {
			continue
		}
		for row, other := range s.entries {
			isLater := i > at.segment || row > at.row
			if isLater && other.id == e.id {
				return nil, true, nil
			}
		}
		for _, o := range s.ends {
			isLater := i > at.segment || o.at >= e.at
			if !isLater || o.id != e.id {
				continue
			}
			if !o.fits(e, state) {
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

// fits reports whether an outcome may be that of an entry with a state.
func (o endRow) fits(e entryRow, state State) bool {
	hasImages := o.count == 0 || o.count == e.steps
	return hasImages && o.state.mayFollow(state)
}

// read returns the entry at a place with its outcomes. found is false if a later entry with the same id
// replaces it, or if it cannot be read, which is recorded as damage.
func (v *view) read(ctx context.Context, at place) (e Entry, found bool, err error) {
	ends, isAgain, err := v.outcomes(ctx, at)
	if err != nil || isAgain {
		return Entry{}, false, err
	}
	return v.readEnded(at, ends)
}

// readUndoable is read, but does not find an entry that was undone.
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

// readEnded reads the entry at a place with the given outcomes.
func (v *view) readEnded(at place, ends []placedEnd) (e Entry, found bool, err error) {
	row := at.summary.entries[at.row]
	records, err := v.records(v.segments[at.segment], row.span)
	if err != nil || records == nil {
		return Entry{}, false, err
	}
	index := slices.IndexFunc(records.readEntries, func(e Entry) bool { return e.ID == row.id })
	if index < 0 {
		v.reportMisplaced(at.summary.number, row.at, row.id)
		return Entry{}, false, nil
	}
	e = records.readEntries[index]
	for _, end := range ends {
		records, err := v.records(end.segment, end.span)
		if err != nil {
			return Entry{}, false, err
		}
		index := -1
		if records != nil {
			index = slices.IndexFunc(
				records.readEnds,
				func(o outcome) bool { return o.ID == row.id && o.state == end.state },
			)
		}
		if index < 0 {
			v.reportMisplaced(end.segment.number, end.at, row.id)
			continue
		}
		e.apply(records.readEnds[index])
	}
	return e, true, nil
}

// apply adds an outcome to an entry.
func (e *Entry) apply(o outcome) {
	e.State = o.state
	e.Note = cmp.Or(o.Note, e.Note)
	e.UndoneBy = cmp.Or(o.By, e.UndoneBy)
	for i, after := range o.after[:min(len(o.after), len(e.Steps))] {
		e.Steps[i].After = after
	}
	for i, image := range o.Was {
		if i >= 0 && i < len(e.Steps) {
			e.Steps[i].Before = image
		}
	}
}

// reportMisplaced records that a record is not where an index says, because it was damaged since. The index is
// then rebuilt.
func (v *view) reportMisplaced(number uint64, at int64, id string) {
	v.damage = append(v.damage, Damage{segmentName(number), at, id, "the record cannot be read", false})
	v.journal.forget(number)
}

// file returns the open file of a segment, nil if the segment was removed. The file stays open until the query
// ends or too many files are open.
func (v *view) file(seg segment) (*os.File, error) {
	if file := v.files[seg.number]; file != nil {
		return file, nil
	}
	name := v.journal.folder.file(segmentName(seg.number))
	file, err := ownerfiles.Open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, v.ignoreRemoved(err)
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

// maxOpenFiles is the number of segments that one query keeps open.
const maxOpenFiles = 8

// records reads the records in a span. It returns nil if the segment was removed.
func (v *view) records(seg segment, where span) (*segmentReader, error) {
	file, err := v.file(seg)
	if file == nil || err != nil {
		return nil, err
	}
	r := newSegmentReader(seg.number)
	r.keepsRecords = true
	for line, err := range ownerfiles.Lines(file, where.at, where.end, maxLine) {
		if err != nil {
			return nil, unusable(file.Name(), err)
		}
		r.add(line)
	}
	return r, nil
}

// Check reads the whole journal and returns everything that is unreadable or inconsistent. It removes an index
// that does not match its segment.
func (j *Journal) Check(ctx context.Context) (damage []Damage, err error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	later := map[string][]placedEnd{} // outcomes whose entry was not reached yet, in order
	oldest := uint64(0)               // number of the oldest segment so far
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
		s := r.snapshot()
		damage = append(damage, s.damage...)
		if i < len(v.segments)-1 {
			j.checkIndex(seg, s)
		}
		ends := s.ends
		collect := func(from int64) { // collects the outcomes from an offset on; the entry may be begun again with the same id
			for len(ends) > 0 && ends[len(ends)-1].at >= from {
				o := ends[len(ends)-1]
				ends = ends[:len(ends)-1]
				later[o.id] = slices.Insert(later[o.id], 0, placedEnd{o, seg})
			}
		}
		for _, e := range slices.Backward(s.entries) {
			collect(e.at)
			damage = append(damage, checkOutcomes(e, later[e.id])...)
			delete(later, e.id)
		}
		collect(0)
	}
	// The entries of the remaining outcomes are missing, unless their segments were removed.
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

// checkOutcomes returns the damage of an entry whose outcomes, in order, do not match it.
func checkOutcomes(e entryRow, outcomes []placedEnd) (damage []Damage) {
	state := Begun
	for _, o := range outcomes {
		if o.fits(e, state) {
			state = o.state
			continue
		}
		damage = append(damage, Damage{
			File:   segmentName(o.segment.number),
			Offset: o.at,
			ID:     e.id,
			Reason: "the outcome does not match its entry",
		})
	}
	return damage
}

// checkIndex removes the index of a segment if it differs from the summary.
func (j *Journal) checkIndex(seg segment, s *summary) {
	_, stored, err := j.folder.readIndex(seg, headAndSummary)
	if err != nil {
		return // it is rebuilt when needed
	}
	s.size = seg.size
	s.sort()
	if !slices.Equal(s.encode(s.head()), stored.encode(stored.head())) {
		j.forget(seg.number)
	}
}
