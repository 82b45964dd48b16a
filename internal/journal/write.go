package journal

import (
	"context"
	"encoding/json"
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

// Begin records an entry, and the bytes that its steps are going to change. After it returns nil, a crash loses
// nothing of it; after an error, nothing was recorded, and the caller must not change anything. content may be
// nil if no step needs bytes to be stored.
//
// The id may be that of an entry that was completely undone, if its call is repeated.
//
// The error is that of content, or *[Unusable], *[Busy], *[TooLarge], *[Changed] or *[Invalid].
func (j *Journal) Begin(e Entry, content Content) error {
	return j.BeginTogether([]Entry{e}, func(_ int, s Step) (io.ReadCloser, error) {
		if content == nil {
			return nil, &Invalid{"content", s.Source(), "is missing"}
		}
		return content(s)
	})
}

// BeginTogether is [Journal.Begin] for several entries: all of them are recorded, or none. content also gets
// the index of the entry with the step.
func (j *Journal) BeginTogether(entries []Entry, content func(entry int, s Step) (io.ReadCloser, error)) error {
	return j.BeginPacked(entries, nil, content)
}

// BeginPacked is [Journal.BeginTogether] with some texts already packed; content is not called for these. texts
// may be nil.
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
		b.isBounded = true
		b.payer = payerOf(entries[0].Caller)
		b.charge(0)
		for i, e := range entries {
			contentOfEntry := func(s Step) (io.ReadCloser, error) { return content(i, s) }
			if err := b.begin(e, texts, contentOfEntry); err != nil {
				return err
			}
		}
		return nil
	})
}

// NeedsBytes reports whether the journal stores the bytes before a step: not for a new file, nor for one that
// is only moved.
func (s Step) NeedsBytes() bool { return s.Before.Exists && !s.isPureMove() }

// begin writes an entry and the bytes that its steps are going to change.
func (b *batch) begin(e Entry, texts *Packed, content Content) error {
	if _, known := b.tail.entries[e.ID]; known && b.tail.states[e.ID] != Undone {
		return &Invalid{"id", e.ID, "is taken"}
	}
	before := b.written()
	for _, step := range e.Steps {
		if !step.NeedsBytes() || b.hasObject(step.Before) {
			continue
		}
		isStored, err := b.storePacked(step.Source(), step.Before, texts)
		if err != nil {
			return err
		}
		if isStored {
			continue
		}
		in, err := content(step)
		if err != nil {
			return &contentError{err}
		}
		err = b.store(step.Source(), step.Before, contentReader{in})
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	steps, err := b.writeSteps(e, texts)
	if err != nil {
		return err
	}
	return b.writeRecord(
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

// writeSteps is [batch.writeList] for the steps of an entry, which may be packed.
func (b *batch) writeSteps(e Entry, texts *Packed) (inline json.RawMessage, err error) {
	lines, isPacked := texts.stepsOf(e)
	if !isPacked {
		return b.writeList(stepsKey, e.ID, len(e.Steps), func(i int) any { return e.Steps[i] })
	}
	for _, line := range lines {
		if err := b.writePacked(line); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// aroundEntry is the approximate size of an entry's record without its steps.
const aroundEntry = 400

// Outcome is the result of an entry.
type Outcome struct {
	// State is Done or Failed, or Undone if it is unknown which entry undid this one.
	State State
	// After has the actual images after the steps; nil if they are as expected.
	After []Image
	// Was has the images before steps, by index of the step, that differ from the entry: another program
	// changed the file just before the step, which was then applied to that. It has at most a thousand images.
	Was  map[int]Image
	Note string // a remark; a long one is truncated
}

// End records the outcome of an entry.
func (j *Journal) End(id string, o Outcome) error {
	return j.EndTogether([]Ended{{id, o}})
}

// Ended is the outcome of the entry with the id.
type Ended struct {
	ID string
	Outcome
}

// EndTogether is [Journal.End] for several entries: all outcomes are recorded, or none.
func (j *Journal) EndTogether(outcomes []Ended) error {
	records := make([]outcomeRecord, len(outcomes))
	for i, o := range outcomes {
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
		for i, o := range outcomes {
			if err := b.end(records[i], o.State, o.After); err != nil {
				return err
			}
		}
		return nil
	})
}

// shortNote returns a remark truncated to fit into a record.
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

// MarkUndone records that the entry by undid the entry with the id.
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

// end writes the outcome of an entry. after has one image for each step, or is nil.
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
		r.Bytes = b.unrecorded.bytes
		r.Payer = b.unrecorded.payer
		b.unrecorded.bytes = 0
	}
	if len(after) > 0 {
		item := func(i int) any {
			if !after[i].Exists {
				return nil
			}
			return after[i]
		}
		if r.After, err = b.writeList(afterKey, r.ID, len(after), item); err != nil {
			return err
		}
	}
	return b.writeRecord(r)
}

// lookUp searches an entry from the newest segment back. It returns the number of its segment, the number of
// its steps, and its state.
func (b *batch) lookUp(id string) (home uint64, steps int, state State, err error) {
	state = b.tail.states[id]
	if count, ok := b.tail.entries[id]; ok {
		return b.tail.number, count, state, nil
	}
	segments, err := b.summaries.segmentsNow(b.folder)
	if err != nil {
		return 0, 0, 0, err
	}
	v := &view{journal: b.Journal, segments: segments, files: map[uint64]*os.File{}}
	ctx := context.Background() // recording an outcome must not be cancelled
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

// Put stores the bytes of the note at path without an entry, for example the text that a change of the caller
// wrote. They become durable with the next Begin or End, and count for that caller.
func (j *Journal) Put(caller, path string, image Image, content io.Reader) error {
	if err := (Step{Path: path, Before: image}).check(); err != nil || !image.Exists {
		return err
	}
	return j.write(lazy, func(b *batch) error {
		if b.hasObject(image) {
			return nil
		}
		if payer := payerOf(caller); b.unrecorded.payer != payer {
			b.unrecorded = unrecorded{payer: payer}
		}
		b.isBounded = true
		b.payer = b.unrecorded.payer
		b.charge(b.unrecorded.bytes)
		err := b.store(path, image, contentReader{content})
		if err == nil {
			b.unrecorded.bytes += b.written()
		}
		return err
	})
}

// batchFile has the id of a batch while that is made, in the folder of the vault's journal.
const batchFile = "batch"

// MarkBatch records that a batch, which is made as a whole or not at all, is about to be made. The caller must
// hold [Journal.Lock] until it has called [Journal.MarkBatchFinished].
func (j *Journal) MarkBatch(id string) error {
	name := j.folder.file(batchFile)
	_, err := ownerfiles.Replace(j.sys, name+temporarySuffix, name, []byte(id), time.Time{})
	return unusable(name, err)
}

// MarkBatchFinished records that the batch is made, or undone. The caller must hold [Journal.Lock].
func (j *Journal) MarkBatchFinished() { _ = j.sys.Remove(j.folder.file(batchFile)) }

// UnfinishedBatch returns the changes of an interrupted batch, newest first, and whether there is one. The
// caller must hold [Journal.Lock].
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

// newestBegun returns the id of the newest entry if it has no outcome, otherwise "".
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
	states := maps.Clone(t.states)
	newest := t.index
	if len(newest.entries) == 0 { // the segment is new
		segments, err := j.summaries.segmentsNow(j.folder)
		if err != nil || len(segments) == 0 {
			return "", err
		}
		last := segments[len(segments)-1]
		newest = newIndex(last.number)
		if err := j.folder.read(newest, last.size); err != nil {
			return "", err
		}
		maps.Copy(states, newest.states)
	}
	for other := range newest.entries {
		id = max(id, other)
	}
	if states[id] != Begun {
		return "", nil
	}
	return id, nil
}
