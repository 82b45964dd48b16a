package journal

import (
	"cmp"
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
	Path      string // those that touch what has this path, or had it
	// Since and Until bound when a change was begun. Until itself is not included, and
	// a zero time bounds nothing.
	Since, Until time.Time
}

const defaultLimit = 1000

// Entries returns entries, newest first, and the damage found on the way to the last of them.
func (j *Journal) Entries(f Filter) (entries []Entry, damage []Damage, err error) {
	limit := cmp.Or(f.Limit, defaultLimit)
	behind := f.OlderThan == ""
	damage, err = j.each("", func(e Entry) (stop bool) {
		if !behind {
			behind = e.ID == f.OlderThan
			return false
		}
		if f.wants(e) {
			entries = append(entries, e)
		}
		return len(entries) >= limit
	})
	return entries, damage, err
}

func (f Filter) wants(e Entry) bool {
	if f.Caller != "" && e.Caller != f.Caller || f.Batch != "" && e.Batch != f.Batch ||
		f.Agent != "" && ownerfiles.AgentOf(e.Caller) != f.Agent {
		return false
	}
	if e.Time.Before(f.Since) || !f.Until.IsZero() && !e.Time.Before(f.Until) {
		return false
	}
	return f.Path == "" || slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Path == f.Path || s.From == f.Path })
}

// Entry returns one entry. The error is an *[Unknown] if it does not exist, and a *[Damaged] if
// it cannot be read.
func (j *Journal) Entry(id string) (Entry, error) {
	if _, err := ParseID(id); err != nil {
		return Entry{}, err
	}
	var found *Entry
	damage, err := j.each(id, func(e Entry) (stop bool) {
		found = &e
		return true
	})
	if err != nil {
		return Entry{}, err
	}
	if found != nil {
		return *found, nil
	}
	for _, d := range damage {
		if d.ID == id {
			return Entry{}, &Damaged{id, d.Reason}
		}
	}
	return Entry{}, &Unknown{id}
}

// each calls visit with the entries, newest first, merged with later records about them. only is
// the id of the wanted entry, or "".
func (j *Journal) each(only string, visit func(Entry) (stop bool)) ([]Damage, error) {
	segments, err := j.segments()
	if err != nil {
		return nil, err
	}
	var damage []Damage
	later := map[string][]outcome{} // outcomes whose entry comes still, in their order
	oldest := uint64(0)             // of those that are there
	for _, seg := range slices.Backward(segments) {
		c, err := j.folder.readSegment(seg, only)
		if err != nil {
			return damage, err
		}
		if c.gone {
			continue
		}
		if oldest > c.number+1 {
			damage = append(damage, Damage{File: segmentName(c.number + 1), Reason: "is missing, though an older one is there"})
		}
		oldest = c.number
		damage = append(damage, c.damage...)
		for _, o := range slices.Backward(c.outcomes) {
			later[o.ID] = slices.Insert(later[o.ID], 0, o)
		}
		for _, e := range slices.Backward(c.entries) {
			for _, o := range later[e.ID] {
				if !o.state.mayFollow(e.State) || o.Count != 0 && o.Count != e.Count {
					damage = append(damage, Damage{File: segmentName(c.number), Offset: o.at, ID: e.ID, Reason: "the outcome does not match its entry"})
					continue
				}
				e.State, e.Note, e.UndoneBy = o.state, cmp.Or(o.Note, e.Note), cmp.Or(o.By, e.UndoneBy)
				for i, after := range o.after {
					e.Steps[i].After = after
				}
				for i, was := range o.Was {
					if i >= 0 && i < len(e.Steps) {
						e.Steps[i].Before = was
					}
				}
			}
			delete(later, e.ID)
			if visit(e) {
				return damage, nil
			}
		}
	}
	// The entries of these outcomes are missing, unless they were removed with their segments.
	for _, id := range slices.Sorted(maps.Keys(later)) {
		if i := slices.IndexFunc(later[id], func(o outcome) bool { return o.Home >= oldest }); i >= 0 {
			damage = append(damage, Damage{File: segmentName(later[id][i].Home), ID: id, Reason: "an outcome has no entry"})
		}
	}
	return damage, nil
}

// EachUndoable calls visit with the entries of a filter that are [Entry.Undoable], the newest
// first, until it returns false.
func (j *Journal) EachUndoable(f Filter, visit func(Entry) bool) error {
	for {
		entries, _, err := j.Entries(f)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			f.OlderThan = e.ID
			if e.Undoable() && !visit(e) {
				return nil
			}
		}
	}
}

// Version is a note as it was before a change.
type Version struct {
	Time    time.Time
	Command string
	Path    string // what it was called then
	By      string // see [Entry.By]
	Image   Image  // its bytes can be had by [Journal.Object]
}

// Versions returns the note at path as it was before each change, newest first, at most limit
// versions. It follows the note through moves that are known to have been made;
// versions of another note of the same name are among them.
func (j *Journal) Versions(path string, limit int) (versions []Version, err error) {
	_, err = j.each("", func(e Entry) (stop bool) {
		for _, s := range slices.Backward(e.Steps) {
			// Of a move that failed it is not known where the note was.
			moved := s.From != "" && (e.State == Done || e.State == Undone)
			if s.Path != path && (moved || s.Source() != path) {
				continue
			}
			if moved {
				path = s.From
			}
			if s.Before.Exists && !s.isPureMove() && len(versions) < limit {
				versions = append(versions, Version{e.Time, e.Command, s.Source(), e.By(), s.Before})
			}
		}
		return len(versions) >= limit
	})
	return versions, err
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

// segmentContent is the content of one segment.
type segmentContent struct {
	number   uint64
	gone     bool    // it was removed as too old, in part or in between
	entries  []Entry // as they were begun
	outcomes []outcome
	damage   []Damage
}

// segmentReader reads a segment.
type segmentReader struct {
	segmentContent
	name string
	only string // the id of the one entry that is wanted, "" for all

	steps map[string][]Step // of entries whose own record comes later
	after map[string][]Image
	at    int64 // of the record that is read
}

// readSegment reads a segment up to its size. An incomplete entry is damage.
func (p folder) readSegment(seg segment, only string) (segmentContent, error) {
	r := &segmentReader{
		segmentContent: segmentContent{number: seg.number}, name: segmentName(seg.number), only: only,
		steps: map[string][]Step{}, after: map[string][]Image{},
	}
	file, err := ownerfiles.Open(p.file(r.name), os.O_RDONLY)
	if os.IsNotExist(err) {
		r.gone = true
		return r.segmentContent, nil
	}
	if err != nil {
		return segmentContent{}, unusable(p.file(r.name), err)
	}
	defer file.Close()
	for line, err := range ownerfiles.Lines(file, 0, seg.size, maxLine) {
		if err != nil {
			return segmentContent{}, unusable(p.file(r.name), err)
		}
		r.at = line.At
		if record, ok := unwrap(line.Text); ok {
			r.record(record)
			continue
		}
		reason := "the checksum is wrong"
		if line.Text == nil {
			reason = "the line is too long"
		}
		r.addDamage(line.At, "", reason, !line.Whole)
		salvage(line.Text, r.record)
	}
	for id := range r.steps {
		r.addDamage(0, id, "an entry is incomplete", true)
	}
	return r.segmentContent, nil
}

func (r *segmentReader) addDamage(at int64, id, reason string, torn bool) {
	r.damage = append(r.damage, Damage{r.name, at, id, reason, torn})
}

// record reads a record whose checksum is correct.
func (r *segmentReader) record(record []byte) {
	switch {
	case hasKey(record, objectKey):
	case hasKey(record, stepsKey):
		r.recordOfEntry(record, stepsKey, func(record []byte) bool { return addPart(r.steps, record, stepsKey) })
	case hasKey(record, entryKey):
		r.recordOfEntry(record, entryKey, r.addEntry)
	case hasKey(record, afterKey):
		r.recordOfEntry(record, afterKey, func(record []byte) bool { return addPart(r.after, record, afterKey) })
	case hasKey(record, outcomeKey):
		r.recordOfEntry(record, outcomeKey, r.addOutcome)
	case hasKey(record, repairKey):
		if n := len(r.damage); n > 0 {
			r.damage[n-1].Torn = true
		}
	case hasKey(record, segmentKey):
		var s segmentRecord
		if json.Unmarshal(record, &s) != nil || s.Version > formatVersion {
			r.addDamage(r.at, "", "is of another version of the program", false)
		}
	default:
		r.addDamage(r.at, "", "unknown record", false)
	}
}

// recordOfEntry calls add with a record of a wanted entry. Damage is recorded if add returns
// false.
func (r *segmentReader) recordOfEntry(record []byte, key string, add func([]byte) bool) {
	id := record[len(key):]
	id = id[:min(len(id), idLength)]
	if r.only != "" && string(id) != r.only {
		return
	}
	if !add(record) {
		r.addDamage(r.at, string(id), "the record does not fit", false)
	}
}

// addPart adds a part of the list of an entry, which must follow the parts before it.
func addPart[T any](lists map[string][]T, record []byte, key string) bool {
	var part struct {
		First int `json:"first"`
		List  []T `json:"list"`
	}
	id, _, _ := cutText(record, key)
	if !isID(id) || json.Unmarshal(record, &part) != nil || part.First != len(lists[id]) || part.First+len(part.List) > maxSteps {
		return false
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
	e.ID, e.Count = read.ID, read.Count
	if len(read.Steps) > 0 && json.Unmarshal(read.Steps, &e.Steps) != nil {
		return false
	}
	e.Steps = append(r.steps[e.ID], e.Steps...)
	if delete(r.steps, e.ID); len(e.Steps) != e.Count || e.check() != nil {
		return false
	}
	if slices.ContainsFunc(r.entries, func(other Entry) bool { return other.ID == e.ID }) {
		return false
	}
	r.entries = append(r.entries, e)
	return true
}

func (r *segmentReader) addOutcome(record []byte) bool {
	o := outcome{at: r.at}
	if json.Unmarshal(record, &o.outcomeRecord) != nil || !isID(o.ID) || o.By != "" && !isID(o.By) || o.Count < 0 || o.Count > maxSteps {
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
	r.outcomes = append(r.outcomes, o)
	return true
}
