package journal

import (
	"cmp"
	"slices"
	"time"
)

// Filter says which entries are wanted. The zero Filter wants the last thousand.
type Filter struct {
	Limit     int    // how many, a thousand if it is 0
	OlderThan string // those behind the entry with this id, in the order of listing
	Session   string // those of one session
	Caller    string // those of one caller
	Batch     string // those of one batch
	Path      string // those that touch what has this path, or had it
	Brief     bool   // without steps
	// Since and Until bound when a change was begun. Until itself is not included, and
	// a zero time bounds nothing.
	Since, Until time.Time
}

const defaultLimit = 1000

// Entries returns entries, the newest first, and what could not be read on the
// way to the last of them.
func (j *Journal) Entries(f Filter) (entries []Entry, damage []Damage, err error) {
	limit := cmp.Or(f.Limit, defaultLimit)
	behind := f.OlderThan == ""
	damage, err = j.each("", f.Brief && f.Path == "", func(e Entry) (stop bool) {
		if !behind {
			behind = e.ID == f.OlderThan
			return false
		}
		if f.wants(e) {
			if f.Brief {
				e.Steps = nil
			}
			entries = append(entries, e)
		}
		return len(entries) >= limit
	})
	return entries, damage, err
}

func (f Filter) wants(e Entry) bool {
	if f.Session != "" && e.Session != f.Session || f.Caller != "" && e.Caller != f.Caller || f.Batch != "" && e.Batch != f.Batch {
		return false
	}
	if e.Time.Before(f.Since) || !f.Until.IsZero() && !e.Time.Before(f.Until) {
		return false
	}
	return f.Path == "" || slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Path == f.Path || s.From == f.Path })
}

// Entry returns one entry. If there is none it answers with an *[Unknown], if it
// cannot be read with a *[Damaged].
func (j *Journal) Entry(id string) (Entry, error) {
	if _, err := ParseID(id); err != nil {
		return Entry{}, err
	}
	var found *Entry
	damage, err := j.each(id, false, func(e Entry) (stop bool) {
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

// each gives entries to visit, the newest first, with what later records say of
// them. only is the id of the one that is wanted, or "".
func (j *Journal) each(only string, brief bool, visit func(Entry) (stop bool)) ([]Damage, error) {
	segments, err := j.segments()
	if err != nil {
		return nil, err
	}
	var damage []Damage
	later := map[string][]locatedOutcome{} // outcomes whose entry comes still, in their order
	oldest := uint64(0)                    // of those that are there
	for i := len(segments) - 1; i >= 0; i-- {
		c, err := j.folder.readSegment(segments[i], only, brief)
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
		here := map[string][]locatedOutcome{}
		for _, o := range c.outcomes {
			here[o.id] = append(here[o.id], o)
		}
		for id, outcomes := range here {
			later[id] = append(outcomes, later[id]...)
		}
		for _, e := range slices.Backward(c.entries) {
			for _, o := range later[e.ID] {
				if !e.endWith(o.outcome) {
					damage = append(damage, Damage{File: segmentName(c.number), Offset: o.at, ID: e.ID, Reason: "the outcome does not match its entry"})
				}
			}
			delete(later, e.ID)
			if visit(e) {
				return damage, nil
			}
		}
	}
	return append(damage, orphans(oldest, later)...), nil
}

// endWith puts into e how it ended. It reports false if that cannot be.
func (e *Entry) endWith(o outcome) bool {
	if !o.state.mayFollow(e.State) || o.count != 0 && o.count != e.Count {
		return false
	}
	e.State = o.state
	e.Note = cmp.Or(o.note, e.Note)
	e.UndoneBy = cmp.Or(o.by, e.UndoneBy)
	if e.Steps != nil {
		for i, after := range o.after {
			e.Steps[i].After = after.image()
		}
	}
	return true
}

// orphans returns the outcomes whose entry should be there and is not. That of
// others went with its segment.
func orphans(oldest uint64, later map[string][]locatedOutcome) (damage []Damage) {
	for id, outcomes := range later {
		for _, o := range outcomes {
			if o.home >= oldest {
				damage = append(damage, Damage{File: segmentName(o.home), ID: id, Reason: "an outcome has no entry"})
				break
			}
		}
	}
	slices.SortFunc(damage, func(a, b Damage) int { return cmp.Compare(a.ID, b.ID) })
	return damage
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
