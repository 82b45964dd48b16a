package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Filter says which entries are wanted. The zero Filter wants the last thousand.
type Filter struct {
	Limit     int    // how many, a thousand if it is 0
	OlderThan string // those after the entry with this id, in the order of listing
	Caller    string // those of one caller
	Agent     string // those of the callers of one agent
	Batch     string // those of one batch
	Session   string // those of one session
	Grant     string // those that one grant of the owner allowed
	Path      string // those that touch what has this path, or had it
	// Since and Until bound when a change was begun. Until itself is not included, and
	// a zero time bounds nothing.
	Since, Until time.Time
	// Undoable wants those that are [Entry.Undoable].
	Undoable bool
}

const defaultLimit = 1000

// Entries returns entries, newest first, and the damage found on the way to the last of them. How long it takes depends on
// them and not on the length of the journal; only the first question after an index was lost waits until it is made
// again. The error is that of ctx once it has ended.
func (j *Journal) Entries(ctx context.Context, f Filter) (entries []Entry, damage []Damage, err error) {
	limit := cmp.Or(f.Limit, defaultLimit)
	damage, err = j.Each(ctx, f, func(e Entry) bool {
		entries = append(entries, e)
		return len(entries) < limit
	})
	return entries, damage, err
}

// Each calls visit with the entries of a filter, newest first, until it returns false. It ignores the limit of the
// filter, and is otherwise as [Journal.Entries].
func (j *Journal) Each(ctx context.Context, f Filter, visit func(Entry) bool) (damage []Damage, err error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	from := place{segment: len(v.segments) - 1, row: -1}
	if f.OlderThan != "" {
		if from, err = v.locate(ctx, f.OlderThan); err != nil || from.summary == nil {
			return v.damage, err
		}
	}
	wanted := f.key()
	read := v.read
	if f.Undoable {
		read = v.readUndoable
	}
	for i := from.segment; i >= 0; i-- {
		s, err := v.visit(ctx, i, wanted, f.Since, f.Until)
		if err != nil {
			return v.damage, err
		}
		if s == nil {
			continue
		}
		for _, row := range slices.Backward(s.rows(wanted)) {
			isBefore := i < from.segment || from.row < 0 || row < from.row
			if !isBefore || !f.mayWant(s.entries[row]) {
				continue
			}
			e, found, err := read(ctx, place{i, s, row})
			if err != nil {
				return v.damage, err
			}
			if found && f.wants(e) && !visit(e) {
				return v.damage, nil
			}
		}
	}
	return v.damage, nil
}

// Since returns the entries that were begun or ended since the journal had an extent, at most so many: all is false if there are
// more, or one cannot be read.
func (j *Journal) Since(ctx context.Context, since Extent, most int) (entries []Entry, all bool, err error) {
	v, err := j.view()
	if err != nil {
		return nil, false, err
	}
	defer v.close()
	ids := map[string]bool{}
	for i, seg := range v.segments {
		if seg.number < since.segment {
			continue
		}
		s, err := v.find(ctx, i, 0)
		if err != nil || s == nil {
			return nil, false, err
		}
		isNew := func(at int64) bool { return seg.number > since.segment || at >= since.size }
		for _, e := range s.entries {
			if isNew(e.at) {
				ids[e.id] = true
			}
		}
		for _, o := range s.ends {
			if isNew(o.at) {
				ids[o.id] = true
			}
		}
		if len(ids) > most {
			return nil, false, nil
		}
	}
	for id := range ids {
		at, err := v.locate(ctx, id)
		if err != nil || at.summary == nil {
			return nil, false, err
		}
		e, found, err := v.read(ctx, at)
		if err != nil || !found {
			return nil, false, err
		}
		entries = append(entries, e)
	}
	return entries, true, nil
}

// key is what the fewest of the wanted entries' neighbours have, the zero key if all entries are to be looked at.
func (f Filter) key() key {
	switch {
	case f.Path != "":
		return keyOf(byPath, f.Path)
	case f.Batch != "":
		return keyOf(byBatch, f.Batch)
	case f.Session != "":
		return keyOf(bySession, f.Session)
	case f.Grant != "":
		return keyOf(byGrant, f.Grant)
	case f.Caller != "":
		return keyOf(byCaller, f.Caller)
	case f.Agent != "":
		return keyOf(byAgent, f.Agent)
	}
	return 0
}

// mayWant reports whether an entry may be wanted by what an index has of it.
func (f Filter) mayWant(e entryRow) bool {
	isInTime := !e.time.Before(f.Since) && (f.Until.IsZero() || e.time.Before(f.Until))
	return isInTime && !(f.Undoable && e.isUndo)
}

func (f Filter) wants(e Entry) bool {
	isBy := f.Caller == "" || e.Caller == f.Caller
	isOf := f.Agent == "" || ownerfiles.AgentOf(e.Caller) == f.Agent
	isInBatch := f.Batch == "" || e.Batch == f.Batch
	isInSession := f.Session == "" || e.Session == f.Session
	isUnder := f.Grant == "" || e.Grant == f.Grant
	isWanted := isBy && isOf
	isPart := isInBatch && isInSession && isUnder
	if !isWanted || !isPart || e.isForParts() {
		return false
	}
	return f.Path == "" ||
		slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Path == f.Path || s.From == f.Path })
}

// Entry returns one entry. The error is an *[Unknown] if it does not exist, and a *[Damaged] if
// it cannot be read.
func (j *Journal) Entry(ctx context.Context, id string) (Entry, error) {
	if _, err := ParseID(id); err != nil {
		return Entry{}, err
	}
	v, err := j.view()
	if err != nil {
		return Entry{}, err
	}
	defer v.close()
	at, err := v.locate(ctx, id)
	if err != nil {
		return Entry{}, err
	}
	if at.summary != nil {
		e, found, err := v.read(ctx, at)
		if err != nil || found {
			return e, err
		}
	}
	for _, d := range v.damage {
		if d.ID == id {
			return Entry{}, &Damaged{id, d.Reason}
		}
	}
	return Entry{}, &Unknown{id}
}

// EachUndoable calls visit with the entries of a filter that are [Entry.Undoable], the newest
// first, until it returns false.
func (j *Journal) EachUndoable(ctx context.Context, f Filter, visit func(Entry) bool) error {
	f.Undoable = true
	_, err := j.Each(ctx, f, visit)
	return err
}

// Version is a note as it was before a change.
type Version struct {
	Time    time.Time
	Command string
	Path    string // what it was called then
	By      string // see [Entry.By]
	Image   Image  // its bytes can be had by [Journal.Object]
	// Left says when the note whose version it is has left the path that was asked for, by a move or a removal; the zero
	// Departure if it has not.
	Left Departure
}

// Departure is how a note left a path.
type Departure struct {
	Entry string // the change that took it away
	Whereabouts
}

// Versions returns the note at path as it was before each change, newest first, at most limit
// versions. It follows the note through moves that are known to have been made;
// versions of another note of the same name are among them.
func (j *Journal) Versions(ctx context.Context, path string, limit int) (versions []Version, err error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	var left Departure
	for i := len(v.segments) - 1; i >= 0; i-- {
		before := -1 // the row that was looked at last
		for {
			wanted := keyOf(byPath, path)
			s, err := v.find(ctx, i, wanted)
			if err != nil {
				return versions, err
			}
			if s == nil {
				break
			}
			rows := s.rows(wanted)
			if before >= 0 {
				rows = slices.DeleteFunc(rows, func(row int) bool { return row >= before })
			}
			if len(rows) == 0 {
				break
			}
			before = rows[len(rows)-1]
			e, found, err := v.read(ctx, place{i, s, before})
			if err != nil {
				return versions, err
			}
			if !found || e.isForParts() {
				continue
			}
			var more []Version
			more, path, left = e.versions(path, left)
			versions = append(versions, more[:min(len(more), limit-len(versions))]...)
			if len(versions) >= limit {
				return versions, nil
			}
		}
	}
	return versions, nil
}

// versions returns what an entry keeps of the note at path, newest first, and where the note was before. left is how the
// note has left the path, for those that come after the entry and for those before it.
func (e Entry) versions(path string, left Departure) (versions []Version, was string, before Departure) {
	for _, s := range slices.Backward(e.Steps) {
		// Of a move that failed it is not known where the note was.
		moved := s.From != "" && (e.State == Done || e.State == Undone)
		if s.Path != path && (moved || s.Source() != path) {
			if moved && s.From == path && e.State == Done {
				left = Departure{e.ID, Whereabouts{Path: s.Path}}
			}
			continue
		}
		after := left.Whereabouts
		if left.Entry == "" {
			after = Whereabouts{Path: path}
		}
		source, now := s.back(e, after)
		if now != after {
			left = Departure{e.ID, now}
		}
		if moved {
			path = source
		}
		if s.Before.Exists && !s.isPureMove() {
			versions = append(versions, Version{e.Time, e.Command, s.Source(), e.By(), s.Before, left})
		}
	}
	return versions, path, left
}

// Damage is a part of the journal that could not be read. All other parts could.
type Damage struct {
	File   string // its name in the journal's folder
	Offset int64
	ID     string // the entry that it belongs to, if that is known
	Reason string
	// Torn says that the line is incomplete, as after a crash during the write. It was never
	// acknowledged.
	Torn bool
}

// segmentReader reads a segment, or a part of it.
type segmentReader struct {
	summary
	name string

	// The entries and outcomes that it has read, if they are wanted.
	isWhole  bool
	read     []Entry // as they were begun
	readEnds []outcome

	steps  map[string][]Step // of entries whose own record comes later
	after  map[string][]Image
	begins map[string]int64 // where the first record of such a list is
	ids    map[string]bool  // of the entries, but of those that were taken back
	line   span             // that is read
	isTorn bool             // the last line has no newline
}

func newSegmentReader(number uint64) *segmentReader {
	return &segmentReader{
		summary: summary{number: number}, name: segmentName(number),
		steps: map[string][]Step{}, after: map[string][]Image{}, begins: map[string]int64{}, ids: map[string]bool{},
	}
}

// linesBetween is how many lines are read between two looks at whether the reading was cancelled.
const linesBetween = 64

// readTo reads on up to a size. The error for a segment that was removed, as too old, is that of a missing file.
func (r *segmentReader) readTo(ctx context.Context, p folder, size int64) error {
	if r.size >= size {
		return nil
	}
	if r.isTorn { // what follows changes what the last line is
		*r = *newSegmentReader(r.number)
	}
	file, err := ownerfiles.Open(p.file(r.name), os.O_RDONLY)
	if err != nil {
		return unusable(p.file(r.name), err)
	}
	defer file.Close()
	for line, err := range ownerfiles.Lines(file, r.size, size, maxLine) {
		if err != nil {
			return unusable(p.file(r.name), err)
		}
		if line.Number%linesBetween == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(line)
		r.size = line.End
	}
	return nil
}

// add reads one line.
func (r *segmentReader) add(line ownerfiles.Line) {
	r.line = span{line.At, line.End}
	r.isTorn = !line.Whole
	if record, ok := unwrap(line.Text); ok {
		if hash, _, _, isObject := objectHead(record); isObject {
			r.objects = append(r.objects, objectRow{keyOf(byObject, hash), line.At, line.End - line.At})
		}
		r.record(record)
		return
	}
	reason := "the checksum is wrong"
	if line.Text == nil {
		reason = "the line is too long"
	}
	r.addDamage(Damage{Offset: line.At, Reason: reason, Torn: !line.Whole})
	salvage(line.Text, r.record)
}

// maxUnordered is how many objects are looked through one after the other.
const maxUnordered = 1 << 8

// soFar returns the summary of what was read. It stays as it is while the reader reads on.
func (r *segmentReader) soFar() *summary {
	if len(r.objects)-r.inOrder > maxUnordered {
		r.orderObjects()
	}
	s := r.summary
	s.damage = slices.Clone(s.damage)
	for _, id := range slices.Sorted(maps.Keys(r.steps)) {
		s.damage = append(s.damage, Damage{r.name, 0, id, "an entry is incomplete", true})
	}
	return &s
}

func (r *segmentReader) addDamage(d Damage) {
	d.File = r.name
	r.damage = append(r.damage, d)
}

// record reads a record whose checksum is correct.
func (r *segmentReader) record(record []byte) {
	switch {
	case hasKey(record, objectKey):
	case hasKey(record, stepsKey):
		r.recordOfEntry(record, stepsKey, func(record []byte) bool { return addPart(r, r.steps, record, stepsKey) })
	case hasKey(record, entryKey):
		r.recordOfEntry(record, entryKey, r.addEntry)
	case hasKey(record, afterKey):
		r.recordOfEntry(record, afterKey, func(record []byte) bool { return addPart(r, r.after, record, afterKey) })
	case hasKey(record, outcomeKey):
		r.recordOfEntry(record, outcomeKey, r.addOutcome)
	case hasKey(record, repairKey):
		if n := len(r.damage); n > 0 {
			r.damage[n-1].Torn = true
		}
	case hasKey(record, segmentKey):
		var s segmentRecord
		if json.Unmarshal(record, &s) != nil || s.Version > formatVersion {
			r.addDamage(Damage{Offset: r.line.at, Reason: "is of another version of the program"})
		}
	default:
		r.addDamage(Damage{Offset: r.line.at, Reason: "unknown record"})
	}
}

// recordOfEntry calls add with a record of an entry. Damage is recorded if add returns false.
func (r *segmentReader) recordOfEntry(record []byte, key string, add func([]byte) bool) {
	id := record[len(key):]
	id = id[:min(len(id), idLength)]
	if !add(record) {
		r.addDamage(Damage{Offset: r.line.at, ID: string(id), Reason: "the record does not fit"})
	}
}

// addPart adds a part of the list of an entry, which must follow the parts before it.
func addPart[T any](r *segmentReader, lists map[string][]T, record []byte, key string) bool {
	var part struct {
		First int `json:"first"`
		List  []T `json:"list"`
	}
	id, _, _ := cutText(record, key)
	if !isID(id) || json.Unmarshal(record, &part) != nil {
		return false
	}
	if part.First != len(lists[id]) || part.First+len(part.List) > maxSteps {
		return false
	}
	if part.First == 0 {
		r.begins[key+id] = r.line.at
	}
	lists[id] = append(lists[id], part.List...)
	return true
}

func (r *segmentReader) addEntry(record []byte) bool {
	var read entryRecord
	if json.Unmarshal(record, &read) != nil || read.Count < 0 || read.Count > maxSteps {
		return false
	}
	e := read.Entry
	e.ID = read.ID
	e.Count = read.Count
	if len(read.Steps) > 0 && json.Unmarshal(read.Steps, &e.Steps) != nil {
		return false
	}
	e.Steps = append(r.steps[e.ID], e.Steps...)
	if delete(r.steps, e.ID); len(e.Steps) != e.Count || e.check() != nil {
		return false
	}
	if r.ids[e.ID] {
		return false
	}
	r.ids[e.ID] = true
	if r.isWhole {
		r.read = append(r.read, e)
	} else {
		r.summary.addEntry(e, r.since(stepsKey+e.ID))
	}
	return true
}

func (r *segmentReader) addOutcome(record []byte) bool {
	var o outcome
	if json.Unmarshal(record, &o.outcomeRecord) != nil {
		return false
	}
	isNamed := isID(o.ID) && (o.By == "" || isID(o.By))
	isCounted := 0 <= o.Count && o.Count <= maxSteps
	if !isNamed || !isCounted {
		return false
	}
	if len(o.After) > 0 && json.Unmarshal(o.After, &o.after) != nil {
		return false
	}
	var err error
	if o.state, err = ParseState(o.State); err != nil || o.state == Begun || checkText("note", o.Note, maxNote) != nil {
		return false
	}
	o.after = append(r.after[o.ID], o.after...)
	if delete(r.after, o.ID); len(o.after) != o.Count {
		return false
	}
	if o.state == Undone {
		delete(r.ids, o.ID) // a call that is carried out once more begins it again
	}
	where := r.since(afterKey + o.ID)
	if r.isWhole {
		r.readEnds = append(r.readEnds, o)
	} else {
		r.ends = append(r.ends, endRow{where, o.ID, o.state, o.Count, o.Home})
	}
	return true
}

// since returns where the records are that end with the one that is read, and begin with the first of a list.
func (r *segmentReader) since(list string) span {
	where := r.line
	if at, isLong := r.begins[list]; isLong {
		where.at = at
		delete(r.begins, list)
	}
	return where
}
