package journal

import (
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Begin keeps an entry, and what its steps are going to change. When it returns
// nil, a crash loses nothing of it; after an error nothing was kept, and nothing
// may be changed. content may be nil if no step has bytes to be kept.
//
// Its errors are those of content and *[Unusable], *[Busy], *[TooLarge],
// *[Changed] and *[Invalid].
func (j *Journal) Begin(e Entry, content Content) error {
	if err := e.check(); err != nil {
		return err
	}
	return j.write(false, func(b *batch) error {
		if _, known := b.tail.entries[e.ID]; known {
			return &Invalid{"id", e.ID, "is taken"}
		}
		b.bounded, b.payer = true, payerOf(e.Caller)
		b.earlier = b.tail.spent.of(b.payer, b.now)
		for _, step := range e.Steps {
			if !step.Before.Exists || step.isPureMove() || b.isKept(step.Before) {
				continue
			}
			if content == nil {
				return &Invalid{"content", step.Source(), "is missing"}
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
		return b.value(entryRecord{ID: e.ID, Count: len(e.Steps), Bytes: b.written() + int64(len(steps)) + aroundEntry, Payer: b.payer, Entry: e, Steps: steps})
	})
}

// aroundEntry is about the length of the record of an entry without its steps.
const aroundEntry = 400

// End keeps how an entry ended: Done or Failed, or Undone if that is not known
// entry took it back. after is what was found afterwards, one image for each
// step, or nil if it is what was expected. A note that is too long is cut.
func (j *Journal) End(id string, state State, after []Image, note string) error {
	note = strings.ToValidUTF8(note, "\uFFFD")
	if len(note) > maxNote {
		cut := maxNote - len("…")
		for !utf8.RuneStart(note[cut]) {
			cut--
		}
		note = note[:cut] + "…"
	}
	return j.end(outcomeRecord{ID: id, State: state.String(), Note: note}, state, after)
}

// MarkUndone keeps that an entry was taken back by another one.
func (j *Journal) MarkUndone(id, by string) error {
	if _, err := ParseID(by); err != nil {
		return err
	}
	return j.end(outcomeRecord{ID: id, State: Undone.String(), By: by}, Undone, nil)
}

func (j *Journal) end(r outcomeRecord, state State, after []Image) error {
	if _, err := ParseID(r.ID); err != nil {
		return err
	}
	for _, image := range after {
		if err := image.check(); err != nil {
			return err
		}
	}
	return j.write(false, func(b *batch) error {
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
		r.Home, r.Count = home, len(after)
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
	})
}

// lookUp finds an entry, from the newest segment back: its segment, the number of its steps, and its
// state.
func (b *batch) lookUp(id string) (home uint64, steps int, state State, err error) {
	state = b.tail.states[id]
	if count, ok := b.tail.entries[id]; ok {
		return b.tail.number, count, state, nil
	}
	seen, err := b.folder.list()
	if err != nil {
		return 0, 0, 0, err
	}
	b.seenMu.Lock()
	defer b.seenMu.Unlock()
	for _, seg := range slices.Backward(seen.segments) {
		if seg.number == b.tail.number {
			continue
		}
		ix, err := b.indexOf(seg)
		if err != nil {
			return 0, 0, 0, err
		}
		if state == Begun {
			state = ix.states[id]
		}
		if count, ok := ix.entries[id]; ok {
			return ix.number, count, state, nil
		}
	}
	return 0, 0, 0, &Unknown{id}
}

// Put keeps the bytes of the note at path next to the entries, such as those that a change of
// caller has made. They are durable with the next Begin or End, and count for that caller.
func (j *Journal) Put(caller, path string, image Image, content io.Reader) error {
	if err := (Step{Path: path, Before: image}).check(); err != nil || !image.Exists {
		return err
	}
	return j.write(true, func(b *batch) error {
		if b.isKept(image) {
			return nil
		}
		if payer := payerOf(caller); b.unrecorded.payer != payer {
			b.unrecorded = unrecorded{payer: payer}
		}
		b.bounded, b.payer = true, b.unrecorded.payer
		b.earlier = b.tail.spent.of(b.payer, b.now) + b.unrecorded.bytes
		err := b.keep(path, image, contentReader{content})
		if err == nil {
			b.unrecorded.bytes += b.written()
		}
		return err
	})
}

// writingFile is in the folder of a vault while notes of it are written. One that
// is there before belongs to a writer that was killed.
const writingFile = "writing"

// Writing notes that notes are about to be written, and returns the function that
// notes the end of it. The caller has [Journal.Lock]. It is a help for
// [Journal.Interrupted] and not needed to undo anything, so an error is none.
func (j *Journal) Writing() (written func()) {
	file, err := j.sys.Create(j.folder.file(writingFile))
	if err != nil {
		return func() {} // a killed writer's stays as it is
	}
	_ = file.Close()
	return j.Swept
}

// Interrupted reports whether a writer was killed between the two, and since when
// that is known. The caller has [Journal.Lock].
func (j *Journal) Interrupted() (since time.Time, killed bool) {
	info, err := os.Lstat(j.folder.file(writingFile))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// Swept notes that nothing is left of killed writers. The caller has [Journal.Lock].
func (j *Journal) Swept() { _ = j.sys.Remove(j.folder.file(writingFile)) }
