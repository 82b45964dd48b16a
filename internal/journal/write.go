package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Begin keeps an entry, and what its steps are going to change. When it returns
// nil, a crash loses nothing of it; after an error nothing was kept, and nothing
// may be changed. content may be nil if no step has bytes to be kept.
//
// The id may be that of an entry that was taken back as a whole, for a call that is carried out once more.
//
// Its errors are those of content and *[Unusable], *[Busy], *[TooLarge],
// *[Changed] and *[Invalid].
func (j *Journal) Begin(e Entry, content Content) error {
	return j.BeginTogether([]Entry{e}, func(_ int, s Step) (io.ReadCloser, error) {
		if content == nil {
			return nil, &Invalid{"content", s.Source(), "is missing"}
		}
		return content(s)
	})
}

// BeginTogether is [Journal.Begin] for several entries, of which all are kept or none. content also gets the number of the
// entry that a step is of.
func (j *Journal) BeginTogether(entries []Entry, content func(entry int, s Step) (io.ReadCloser, error)) error {
	return j.BeginPacked(entries, nil, content)
}

// BeginPacked is [Journal.BeginTogether] for entries of whose texts some are packed: those are not asked of content. texts may be
// nil.
func (j *Journal) BeginPacked(
	entries []Entry,
	texts *Packed,
	content func(entry int, s Step) (io.ReadCloser, error),
) error {
	for _, e := range entries {
		if err := e.check(); err != nil {
			return err
		}
	}
	return j.write(durable, func(b *batch) error {
		b.bounded = true
		b.payer = payerOf(entries[0].Caller)
		b.charge(0)
		for i, e := range entries {
			of := func(s Step) (io.ReadCloser, error) { return content(i, s) }
			if err := b.begin(e, texts, of); err != nil {
				return err
			}
		}
		return nil
	})
}

// NeedsBytes reports whether the bytes before a step are kept: not those of a new file, nor of one that is only moved.
func (s Step) NeedsBytes() bool { return s.Before.Exists && !s.isPureMove() }

// begin keeps an entry with what its steps are going to change.
func (b *batch) begin(e Entry, texts *Packed, content Content) error {
	if _, known := b.tail.entries[e.ID]; known && b.tail.states[e.ID] != Undone {
		return &Invalid{"id", e.ID, "is taken"}
	}
	before := b.written()
	for _, step := range e.Steps {
		if !step.NeedsBytes() || b.isKept(step.Before) {
			continue
		}
		isKept, err := b.keepPacked(step.Source(), step.Before, texts)
		if err != nil {
			return err
		}
		if isKept {
			continue
		}
		in, err := content(step)
		if err != nil {
			return &contentError{err}
		}
		err = b.keep(step.Source(), step.Before, contentReader{in})
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	steps, err := b.list(stepsKey, e.ID, len(e.Steps), func(i int) any { return e.Steps[i] })
	if err != nil {
		return err
	}
	return b.value(
		entryRecord{
			ID:    e.ID,
			Count: len(e.Steps),
			Bytes: b.written() - before + int64(len(steps)) + aroundEntry,
			Payer: b.payer,
			Entry: e,
			Steps: steps,
		},
	)
}

// aroundEntry is about the length of the record of an entry without its steps.
const aroundEntry = 400

// Outcome is how an entry ended.
type Outcome struct {
	// State is Done or Failed, or Undone if it is not known which entry took it back.
	State State
	// After is what was found afterwards, one image for each step, nil if it is what was expected.
	After []Image
	// Was are the images before steps, by their numbers, where that is not what the entry says: another program had
	// changed the file right before the step, and the change was made to that. At most a thousand.
	Was  map[int]Image
	Note string // a remark; one that is too long is cut
}

// End keeps how an entry ended.
func (j *Journal) End(id string, o Outcome) error {
	return j.EndTogether([]Ended{{id, o}})
}

// Ended is the outcome of the entry with an id.
type Ended struct {
	ID string
	Outcome
}

// EndTogether is [Journal.End] for several entries, of which all outcomes are kept or none.
func (j *Journal) EndTogether(all []Ended) error {
	records := make([]outcomeRecord, len(all))
	for i, o := range all {
		if len(o.Was) > maxWas {
			return &TooLarge{"the number of files that were changed meanwhile", maxWas}
		}
		for _, image := range o.Was {
			if err := image.check(); err != nil {
				return err
			}
		}
		for _, image := range o.After {
			if err := image.check(); err != nil {
				return err
			}
		}
		if _, err := ParseID(o.ID); err != nil {
			return err
		}
		records[i] = outcomeRecord{ID: o.ID, State: o.State.String(), Note: shortNote(o.Note), Was: o.Was}
	}
	return j.write(durable, func(b *batch) error {
		for i, o := range all {
			if err := b.end(records[i], o.State, o.After); err != nil {
				return err
			}
		}
		return nil
	})
}

// shortNote returns a remark that fits into a record.
func shortNote(note string) string {
	note = strings.ToValidUTF8(note, "\uFFFD")
	if len(note) <= maxNote {
		return note
	}
	cut := maxNote - len("…")
	for !utf8.RuneStart(note[cut]) {
		cut--
	}
	return note[:cut] + "…"
}

// MarkUndone keeps that an entry was taken back by another one.
func (j *Journal) MarkUndone(id, by string) error {
	if _, err := ParseID(by); err != nil {
		return err
	}
	if _, err := ParseID(id); err != nil {
		return err
	}
	return j.write(durable, func(b *batch) error {
		return b.end(outcomeRecord{ID: id, State: Undone.String(), By: by}, Undone, nil)
	})
}

// end keeps the outcome of an entry, with one image for each of its steps or none.
func (b *batch) end(r outcomeRecord, state State, after []Image) error {
	home, steps, before, err := b.lookUp(r.ID)
	if err != nil {
		return err
	}
	if !state.mayFollow(before) {
		return &Invalid{"state", state.String(), "cannot follow " + before.String()}
	}
	if after != nil && len(after) != steps {
		return &Invalid{"images", r.ID, "are not one for each step"}
	}
	r.Home = home
	r.Count = len(after)
	if b.unrecorded.bytes > 0 {
		r.Bytes, r.Payer, b.unrecorded.bytes = b.unrecorded.bytes, b.unrecorded.payer, 0
	}
	if len(after) > 0 {
		item := func(i int) any {
			if !after[i].Exists {
				return nil
			}
			return after[i]
		}
		if r.After, err = b.list(afterKey, r.ID, len(after), item); err != nil {
			return err
		}
	}
	return b.value(r)
}

// lookUp finds an entry, from the newest segment back: its segment, the number of its steps, and its
// state.
func (b *batch) lookUp(id string) (home uint64, steps int, state State, err error) {
	state = b.tail.states[id]
	if count, ok := b.tail.entries[id]; ok {
		return b.tail.number, count, state, nil
	}
	segments, err := b.known.segmentsNow(b.folder)
	if err != nil {
		return 0, 0, 0, err
	}
	v := &view{journal: b.Journal, segments: segments, files: map[uint64]*os.File{}}
	ctx := context.Background() // an outcome is never left out
	at, err := v.locate(ctx, id)
	if err == nil && at.summary == nil {
		err = &Unknown{id}
	}
	if err != nil {
		return 0, 0, 0, err
	}
	ends, _, err := v.outcomes(ctx, at)
	if state == Begun && len(ends) > 0 {
		state = ends[len(ends)-1].state
	}
	return segments[at.segment].number, at.summary.entries[at.row].steps, state, err
}

// Put keeps the bytes of the note at path next to the entries, such as those that a change of
// caller has made. They are durable with the next Begin or End, and count for that caller.
func (j *Journal) Put(caller, path string, image Image, content io.Reader) error {
	if err := (Step{Path: path, Before: image}).check(); err != nil || !image.Exists {
		return err
	}
	return j.write(lazy, func(b *batch) error {
		if b.isKept(image) {
			return nil
		}
		if payer := payerOf(caller); b.unrecorded.payer != payer {
			b.unrecorded = unrecorded{payer: payer}
		}
		b.bounded = true
		b.payer = b.unrecorded.payer
		b.charge(b.unrecorded.bytes)
		err := b.keep(path, image, contentReader{content})
		if err == nil {
			b.unrecorded.bytes += b.written()
		}
		return err
	})
}

// batchFile is in the folder of a vault while a batch is made that is to be made as a whole, with its id.
const batchFile = "batch"

// MarkBatch notes that a batch is about to be made that is made as a whole or not at all. The caller has [Journal.Lock] until it
// has called [Journal.MarkBatchFinished].
func (j *Journal) MarkBatch(id string) error {
	name := j.folder.file(batchFile)
	_, err := ownerfiles.Replace(j.sys, name+temporarySuffix, name, []byte(id), time.Time{})
	return unusable(name, err)
}

// MarkBatchFinished notes that a batch is made, or taken back. The caller has [Journal.Lock].
func (j *Journal) MarkBatchFinished() { _ = j.sys.Remove(j.folder.file(batchFile)) }

// UnfinishedBatch returns the changes of a batch that was broken off, the newest first, and whether there is one. The caller has
// [Journal.Lock].
func (j *Journal) UnfinishedBatch(ctx context.Context) (entries []Entry, found bool, err error) {
	id, err := os.ReadFile(j.folder.file(batchFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unusable(j.folder.file(batchFile), err)
	}
	entries, _, err = j.Entries(ctx, Filter{Batch: string(id)})
	return entries, true, err
}

// newestBegun returns the id of the newest entry if no outcome of it is kept, else "".
func (j *Journal) newestBegun() (id string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.prepare(); err != nil {
		return "", err
	}
	unlock, err := j.folder.lockAppend()
	if err != nil {
		return "", err
	}
	defer unlock()
	t, err := j.openTail(j.now())
	if err != nil {
		return "", err
	}
	ended := maps.Clone(t.states)
	newest := t.index
	if len(newest.entries) == 0 { // it was just begun
		segments, err := j.known.segmentsNow(j.folder)
		if err != nil || len(segments) == 0 {
			return "", err
		}
		last := segments[len(segments)-1]
		newest = newIndex(last.number)
		if err := j.folder.read(newest, last.size); err != nil {
			return "", err
		}
		maps.Copy(ended, newest.states)
	}
	for known := range newest.entries {
		id = max(id, known)
	}
	if ended[id] != Begun {
		return "", nil
	}
	return id, nil
}
