package cache

import (
	"errors"
	"os"
)

const (
	// maxPack bounds a pack. What is beyond is not kept: a vault of that size is
	// searched from its files.
	maxPack = 4 << 30
	// factsShare is what facts may take beyond that, as a part of it: they are
	// small, and cost most to find again.
	factsShare = 4

	stagedTexts   = 1 << 20
	stagedFacts   = 256 << 10
	stagedFilters = 256 << 10
)

// writer appends to a pack: to the one that is there, or to a new one. It
// touches the disk when there is something to write. Texts, facts and filters are
// collected apart, so that each are read in large pieces.
type writer struct {
	place  place
	base   *pack // nil for a new one
	id     packID
	file   *os.File // nil until something is written
	start  uint64   // where what is new begins
	end    uint64   // how much is written
	staged uint64   // how much waits to be
	limit  uint64

	texts, facts, filters staging
}

// staging is what waits to be written together.
type staging struct {
	bytes   []byte
	most    int
	waiting []*span // their places count from the start of bytes
}

func newWriter(p place, base *pack, start, limit uint64) *writer {
	w := &writer{place: p, base: base, start: start, end: start, limit: limit}
	w.texts.most, w.facts.most, w.filters.most = stagedTexts, stagedFacts, stagedFilters
	if base != nil {
		w.id = base.id
	}
	return w
}

// addText writes a text and sets where it lies; the checksum is set already. A
// text for which there is no room stays nothing.
func (w *writer) addText(text []byte, s *span) error { return w.add(&w.texts, text, s, w.limit) }

// addFacts does so with facts.
func (w *writer) addFacts(facts []byte, s *span) error {
	return w.add(&w.facts, facts, s, w.limit+w.limit/factsShare)
}

// addFilter does so with a filter, for which there is as much room as for facts.
func (w *writer) addFilter(filter []byte, s *span) error {
	return w.add(&w.filters, filter, s, w.limit+w.limit/factsShare)
}

func (w *writer) add(to *staging, data []byte, s *span, limit uint64) error {
	size := uint64(len(data))
	if size >= 1<<32 || w.end+w.staged+size > limit {
		*s = nothing
		return nil
	}
	s.size = uint32(size)
	if len(to.bytes)+len(data) > to.most {
		if err := w.flushOne(to); err != nil {
			return err
		}
	}
	if len(data) > to.most {
		s.at = w.end
		return w.write(data)
	}
	s.at = uint64(len(to.bytes))
	if to.bytes == nil {
		to.bytes = make([]byte, 0, to.most)
	}
	to.bytes = append(to.bytes, data...)
	to.waiting = append(to.waiting, s)
	w.staged += size
	return nil
}

// flush writes what waits.
func (w *writer) flush() error {
	return errors.Join(w.flushOne(&w.texts), w.flushOne(&w.facts), w.flushOne(&w.filters))
}

func (w *writer) flushOne(s *staging) error {
	if len(s.waiting) == 0 {
		return nil
	}
	for _, span := range s.waiting {
		span.at += w.end
	}
	err := w.write(s.bytes)
	w.staged -= uint64(len(s.bytes))
	s.bytes, s.waiting = s.bytes[:0], s.waiting[:0]
	return err
}

func (w *writer) write(data []byte) error {
	if err := w.open(); err != nil {
		return err
	}
	_, err := w.file.WriteAt(data, int64(w.end))
	w.end += uint64(len(data))
	return err
}

// open opens the pack that was there, the very same, or makes one.
func (w *writer) open() (err error) {
	if w.file != nil {
		return nil
	}
	if w.base == nil {
		w.id = randomID()
		w.file, err = create(w.place.random(w.id, packEnd))
		return err
	}
	file, err := openRegular(w.place.random(w.id, packEnd), os.O_RDWR)
	if err != nil {
		return err
	}
	if err := sameFile(file, w.base.file); err != nil {
		file.Close()
		return err
	}
	w.file = file
	return nil
}

func sameFile(a, b *os.File) error {
	one, err := a.Stat()
	if err != nil {
		return err
	}
	other, err := b.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(one, other) {
		return errors.New("the pack was replaced")
	}
	return nil
}

// read returns the bytes of s, as [pack.read] does.
func (w *writer) read(s span, buf []byte) ([]byte, bool) {
	if w.file != nil {
		return (&pack{file: w.file}).read(s, buf)
	}
	if w.base != nil {
		return w.base.read(s, buf)
	}
	return nil, false
}

// finish gives back the pack for reading, nil if there is none. What lies behind
// the end was left there by a process that did not finish.
func (w *writer) finish() *pack {
	if w.file == nil {
		return w.base.share()
	}
	_ = w.file.Truncate(int64(w.end))
	if w.base == nil {
		return newPack(w.id, w.file)
	}
	w.file.Close()
	return w.base.share()
}

// undo leaves things as they were.
func (w *writer) undo() {
	if w.file == nil {
		return
	}
	if w.base != nil {
		_ = w.file.Truncate(int64(w.start))
	}
	w.file.Close()
	if w.base == nil {
		_ = os.Remove(w.place.random(w.id, packEnd))
	}
}
