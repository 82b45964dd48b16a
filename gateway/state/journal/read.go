package journal

import (
	"io"
	"os"
	"slices"

	"vaultwicket/gateway/state/journal/object"
	"vaultwicket/gateway/state/private"
)

// Damage is something in the journal that could not be read. Everything else
// could.
type Damage struct {
	File   string // its name in the journal's folder
	Offset int64
	ID     string // the entry that it belongs to, if that is known
	Reason string
	// Torn says that the end of a line is missing, as after a crash while it was
	// written. No caller was answered then that it is stored.
	Torn bool
}

// segmentContent is what one segment says.
type segmentContent struct {
	number   uint64
	gone     bool    // it was removed as too old, in part or in between
	entries  []Entry // as they were begun
	outcomes []locatedOutcome
	damage   []Damage
}

// locatedOutcome is an outcome and where it is.
type locatedOutcome struct {
	outcome
	at int64
}

// segmentReader reads a segment.
type segmentReader struct {
	segmentContent
	name  string
	only  string // the id of the one entry that is wanted, "" for all
	brief bool   // without steps

	steps map[string][]stepRecord // of entries whose own record comes behind
	after map[string][]*fileRecord
	at    int64 // of the record that is read
}

// readSegment reads a segment up to its size. An entry that is not whole is
// damage.
func (p folder) readSegment(seg segment, only string, brief bool) (segmentContent, error) {
	r := &segmentReader{
		segmentContent: segmentContent{number: seg.number}, name: segmentName(seg.number), only: only, brief: brief,
		steps: map[string][]stepRecord{}, after: map[string][]*fileRecord{},
	}
	file, err := private.Open(p.file(r.name), os.O_RDONLY)
	if os.IsNotExist(err) {
		r.gone = true
		return r.segmentContent, nil
	}
	if err != nil {
		return segmentContent{}, unusable(p.file(r.name), err)
	}
	defer file.Close()
	if err := r.lines(newLineReader(io.NewSectionReader(file, 0, seg.size), 0)); err != nil {
		return segmentContent{}, unusable(p.file(r.name), err)
	}
	for id := range r.steps {
		r.addDamage(0, id, "an entry is incomplete", true)
	}
	return r.segmentContent, nil
}

func (r *segmentReader) lines(lines *lineReader) error {
	var buf []byte
	for {
		var line rawLine
		var err error
		line, buf, err = lines.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		r.at = line.at
		if record, ok := unwrap(line.text); ok {
			r.record(record)
			continue
		}
		reason := "the checksum is wrong"
		if line.tooLong {
			reason = "the line is too long"
		}
		r.addDamage(line.at, "", reason, line.torn)
		salvage(line.text, r.record)
	}
}

func (r *segmentReader) addDamage(at int64, id, reason string, torn bool) {
	r.damage = append(r.damage, Damage{r.name, at, id, reason, torn})
}

// record takes a record whose checksum is right.
func (r *segmentReader) record(record []byte) {
	switch {
	case hasKey(record, object.Key):
	case hasKey(record, stepsKey):
		r.recordOfEntry(record, stepsKey, r.addSteps)
	case hasKey(record, entryKey):
		r.recordOfEntry(record, entryKey, r.addEntry)
	case hasKey(record, afterKey):
		r.recordOfEntry(record, afterKey, r.addAfter)
	case hasKey(record, outcomeKey):
		r.recordOfEntry(record, outcomeKey, r.addOutcome)
	case hasKey(record, repairKey):
		if n := len(r.damage); n > 0 {
			r.damage[n-1].Torn = true
		}
	case hasKey(record, segmentKey):
		if s, ok := parseSegment(record); !ok || s.Version > formatVersion {
			r.addDamage(r.at, "", "is of another version of the program", false)
		}
	default:
		r.addDamage(r.at, "", "unknown record", false)
	}
}

// recordOfEntry lets add take a record, if its entry is wanted. It reports false if it
// cannot be.
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

func (r *segmentReader) addSteps(record []byte) bool {
	if r.brief {
		return true
	}
	p, ok := parseSteps(record)
	if !ok || p.First != len(r.steps[p.ID]) || p.First+len(p.Steps) > maxSteps {
		return false
	}
	r.steps[p.ID] = append(r.steps[p.ID], p.Steps...)
	return true
}

func (r *segmentReader) addEntry(record []byte) bool {
	e, ok := parseEntry(record, r.brief)
	if !ok {
		return false
	}
	if earlier := stepsOf(r.steps[e.ID]); len(earlier) > 0 {
		e.Steps = append(earlier, e.Steps...)
	}
	delete(r.steps, e.ID)
	if r.brief {
		e.Steps = nil
	} else if len(e.Steps) != e.Count || e.check() != nil {
		return false
	}
	if slices.ContainsFunc(r.entries, func(other Entry) bool { return other.ID == e.ID }) {
		return false
	}
	r.entries = append(r.entries, e)
	return true
}

func (r *segmentReader) addAfter(record []byte) bool {
	p, ok := parseAfter(record)
	if !ok || p.First != len(r.after[p.ID]) || p.First+len(p.After) > maxSteps {
		return false
	}
	r.after[p.ID] = append(r.after[p.ID], p.After...)
	return true
}

func (r *segmentReader) addOutcome(record []byte) bool {
	o, ok := parseOutcome(record)
	if !ok {
		return false
	}
	o.after = append(r.after[o.id], o.after...)
	delete(r.after, o.id)
	if len(o.after) != o.count {
		return false
	}
	r.outcomes = append(r.outcomes, locatedOutcome{o, r.at})
	return true
}
