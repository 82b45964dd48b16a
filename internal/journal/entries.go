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

// Filter selects entries. The zero Filter selects the newest thousand.
type Filter struct {
	Limit     int    // maximum number of entries; 0 means a thousand
	OlderThan string // only entries that are listed after the one with this id
	Caller    string // only entries of this caller
	Agent     string // only entries of this agent's callers
	Batch     string // only entries of this batch
	Session   string // only entries of this session
	Grant     string // only entries that this grant of the owner allowed
	Path      string // only entries with a step from or to this path
	// Since and Until limit the time at which a change was begun. Until is exclusive, and a zero time means no
	// limit.
	Since, Until time.Time
	// Undoable selects only entries that are [Entry.Undoable].
	Undoable bool
}

const defaultLimit = 1000

// Entries returns the entries that match the filter, newest first, and the damage found while reading them. Its
// duration depends on the number of those entries, not on the length of the journal; only the first query after
// an index was lost waits until it is rebuilt. After ctx ends, the error is that of ctx.
func (j *Journal) Entries(ctx context.Context, f Filter) (entries []Entry, damage []Damage, err error) {
	limit := cmp.Or(f.Limit, defaultLimit)
	damage, err = j.Each(ctx, f, func(e Entry) bool {
		entries = append(entries, e)
		return len(entries) < limit
	})
	return entries, damage, err
}

// Each calls visit with the entries that match the filter, newest first, until visit returns false. It ignores
// the limit of the filter; otherwise it is like [Journal.Entries].
func (j *Journal) Each(ctx context.Context, f Filter, visit func(Entry) bool) (damage []Damage, err error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	start := place{segment: len(v.segments) - 1, row: -1}
	if f.OlderThan != "" {
		if start, err = v.locate(ctx, f.OlderThan); err != nil || start.summary == nil {
			return v.damage, err
		}
	}
	wanted := f.key()
	read := v.read
	if f.Undoable {
		read = v.readUndoable
	}
	for i := start.segment; i >= 0; i-- {
		s, err := v.visit(ctx, i, wanted, f.Since, f.Until)
		if err != nil {
			return v.damage, err
		}
		if s == nil {
			continue
		}
		for _, row := range slices.Backward(s.rows(wanted)) {
			isBefore := i < start.segment || start.row < 0 || row < start.row
			if !isBefore || !f.mayMatch(s.entries[row]) {
				continue
			}
			e, found, err := read(ctx, place{i, s, row})
			if err != nil {
				return v.damage, err
			}
			if found && f.matches(e) && !visit(e) {
				return v.damage, nil
			}
		}
	}
	return v.damage, nil
}

// Since returns the entries that were begun or ended since the journal had the extent. isComplete is false if
// there are more than limit, or one of them cannot be read.
func (j *Journal) Since(ctx context.Context, since Extent, limit int) (entries []Entry, isComplete bool, err error) {
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
		s, err := v.summaryWith(ctx, i, 0)
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
		if len(ids) > limit {
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

// key returns the key of the most selective criterion that an index can look up; the zero key if all entries
// must be examined.
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

// mayMatch reports whether an entry may match the filter, according to its row in the index.
func (f Filter) mayMatch(e entryRow) bool {
	isInTime := !e.time.Before(f.Since) && (f.Until.IsZero() || e.time.Before(f.Until))
	return isInTime && !(f.Undoable && e.isUndo)
}

func (f Filter) matches(e Entry) bool {
	hasCaller := f.Caller == "" || e.Caller == f.Caller
	hasAgent := f.Agent == "" || ownerfiles.AgentOf(e.Caller) == f.Agent
	isInBatch := f.Batch == "" || e.Batch == f.Batch
	isInSession := f.Session == "" || e.Session == f.Session
	hasGrant := f.Grant == "" || e.Grant == f.Grant
	isFromCaller := hasCaller && hasAgent
	isInGroup := isInBatch && isInSession && hasGrant
	if !isFromCaller || !isInGroup || e.isForParts() {
		return false
	}
	return f.Path == "" ||
		slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Path == f.Path || s.From == f.Path })
}

// Entry returns the entry with the id. The error is an *[Unknown] if it does not exist, and a *[Damaged] if it
// cannot be read.
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

// EachUndoable calls visit with the [Entry.Undoable] entries that match the filter, newest first, until visit
// returns false.
func (j *Journal) EachUndoable(ctx context.Context, f Filter, visit func(Entry) bool) error {
	f.Undoable = true
	_, err := j.Each(ctx, f, visit)
	return err
}

// Version is the state of a note before a change.
type Version struct {
	Time    time.Time
	Command string
	Path    string // of the note at that time
	By      string // see [Entry.By]
	Image   Image  // of its bytes, see [Journal.Object]
	// Left is the departure of the note from the queried path, by a move or a removal; the zero Departure if it
	// is still there.
	Left Departure
}

// Departure describes how a note left a path.
type Departure struct {
	Entry string // id of the change that moved or removed it
	Whereabouts
}

// Versions returns the versions of the note at path before each change, newest first, at most limit. It follows
// the note through moves that are known to have succeeded. Versions of other notes that had the same path are
// included.
func (j *Journal) Versions(ctx context.Context, path string, limit int) (versions []Version, err error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	var left Departure
	for i := len(v.segments) - 1; i >= 0; i-- {
		before := -1 // the last row that was examined
		for {
			wanted := keyOf(byPath, path)
			s, err := v.summaryWith(ctx, i, wanted)
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
			var older []Version
			older, path, left = e.versions(path, left)
			versions = append(versions, older[:min(len(older), limit-len(versions))]...)
			if len(versions) >= limit {
				return versions, nil
			}
		}
	}
	return versions, nil
}

// versions returns the versions that an entry keeps of the note at path, newest first, and the path of the note
// before the entry. left is the departure of the note from the queried path, according to the later entries;
// before is the same for the earlier ones.
func (e Entry) versions(path string, left Departure) (versions []Version, earlierPath string, before Departure) {
	for _, s := range slices.Backward(e.Steps) {
		// After a failed move, the position of the note is unknown.
		isMoved := s.From != "" && (e.State == Done || e.State == Undone)
		if s.Path != path && (isMoved || s.Source() != path) {
			if isMoved && s.From == path && e.State == Done {
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
		if isMoved {
			path = source
		}
		if s.Before.Exists && !s.isPureMove() {
			versions = append(versions, Version{e.Time, e.Command, s.Source(), e.By(), s.Before, left})
		}
	}
	return versions, path, left
}

// Damage is a part of the journal that cannot be read. It does not affect the other parts.
type Damage struct {
	File   string // name in the folder of the journal
	Offset int64
	ID     string // of the entry to which it belongs, if known
	Reason string
	// Torn is set if the line is incomplete, as after a crash during a write. Such a line was never
	// acknowledged.
	Torn bool
}

// segmentReader reads a segment, or a part of one, into a summary.
type segmentReader struct {
	summary
	name string

	// The entries and outcomes that were read, if keepsRecords is set.
	keepsRecords bool
	readEntries  []Entry // in their state at the beginning
	readEnds     []outcome

	steps  map[string][]Step // of entries whose own record follows
	after  map[string][]Image
	begins map[string]int64 // offset of the first record of such a list
	ids    map[string]bool  // of the entries, except undone ones
	line   span             // of the current line
	isTorn bool             // the last line has no newline
}

func newSegmentReader(number uint64) *segmentReader {
	return &segmentReader{
		summary: summary{number: number},
		name:    segmentName(number),
		steps:   map[string][]Step{},
		after:   map[string][]Image{},
		begins:  map[string]int64{},
		ids:     map[string]bool{},
	}
}

// linesBetween is the number of lines between checks for cancellation.
const linesBetween = 64

// readTo continues reading up to size. If the segment was removed as too old, the error is that of a missing
// file.
func (r *segmentReader) readTo(ctx context.Context, p folder, size int64) error {
	if r.size >= size {
		return nil
	}
	if r.isTorn { // the torn last line may be complete by now
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

// maxUnordered limits the objects that are searched linearly.
const maxUnordered = 1 << 8

// snapshot returns the summary of what was read so far. It does not change while the reader continues.
func (r *segmentReader) snapshot() *summary {
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

// record reads a record with a correct checksum.
func (r *segmentReader) record(record []byte) {
	switch {
	case hasKey(record, objectKey):
	case hasKey(record, stepsKey):
		r.addEntryRecord(record, stepsKey, func(record []byte) bool { return addPart(r, r.steps, record, stepsKey) })
	case hasKey(record, entryKey):
		r.addEntryRecord(record, entryKey, r.addEntry)
	case hasKey(record, afterKey):
		r.addEntryRecord(record, afterKey, func(record []byte) bool { return addPart(r, r.after, record, afterKey) })
	case hasKey(record, outcomeKey):
		r.addEntryRecord(record, outcomeKey, r.addOutcome)
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

// addEntryRecord calls add with a record about an entry. It records damage if add returns false.
func (r *segmentReader) addEntryRecord(record []byte, key string, add func([]byte) bool) {
	id := record[len(key):]
	id = id[:min(len(id), idLength)]
	if !add(record) {
		r.addDamage(Damage{Offset: r.line.at, ID: string(id), Reason: "the record does not fit"})
	}
}

// addPart appends a part of a list to the parts before it. It returns false if the part does not follow them.
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
	delete(r.steps, e.ID)
	if len(e.Steps) != e.Count || e.check() != nil {
		return false
	}
	if r.ids[e.ID] {
		return false
	}
	r.ids[e.ID] = true
	if r.keepsRecords {
		r.readEntries = append(r.readEntries, e)
	} else {
		r.summary.addEntry(e, r.spanFrom(stepsKey+e.ID))
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
	o.state, err = ParseState(o.State)
	if err != nil || o.state == Begun {
		return false
	}
	if checkText("note", o.Note, maxNote) != nil {
		return false
	}
	o.after = append(r.after[o.ID], o.after...)
	delete(r.after, o.ID)
	if len(o.after) != o.Count {
		return false
	}
	if o.state == Undone {
		delete(r.ids, o.ID) // repeating the call begins the entry again
	}
	where := r.spanFrom(afterKey + o.ID)
	if r.keepsRecords {
		r.readEnds = append(r.readEnds, o)
	} else {
		r.ends = append(r.ends, endRow{where, o.ID, o.state, o.Count, o.Home})
	}
	return true
}

// spanFrom returns the span of a record that has just been read, including the records with the earlier parts
// of its list.
func (r *segmentReader) spanFrom(list string) span {
	where := r.line
	if at, isLong := r.begins[list]; isLong {
		where.at = at
		delete(r.begins, list)
	}
	return where
}
