package cache

import (
	"errors"
	"os"
	"sync"
)

const (
	// maxPack bounds a pack. What is beyond is not kept: a vault of that size is
	// searched from its files.
	maxPack = 4 << 30
	// factsShare is what facts may take beyond that, as a part of it: they are
	// small, and cost most to find again.
	factsShare = 4

	stagedTexts   = 512 << 10
	stagedFacts   = 256 << 10
	stagedFilters = 256 << 10
)

// writer appends to a pack: to the one that is there, or to a new one. It
// touches the disk when there is something to write. Texts, facts and filters are
// collected apart, so that each are read in large pieces. One goroutine writes what is
// full: those that look through notes do not wait for the disk, nor two writes for each other.
type writer struct {
	place  place
	base   *pack // nil for a new one
	id     packID
	file   *os.File // nil until something is written
	start  uint64   // where what is new begins
	end    uint64   // how much is written, or is about to be
	staged uint64   // how much waits to be
	limit  uint64

	texts, facts, filters staging

	full    chan batch // nil while nobody writes
	writing sync.WaitGroup
	failure error // of the goroutine that writes, once it has ended
}

// staging is what waits to be written together.
type staging struct {
	bytes   []byte
	most    int
	waiting []*span     // their places count from the start of bytes
	spare   chan []byte // memory of batches that are written
}

// batch is what is written at once.
type batch struct {
	bytes []byte
	at    int64
	spare chan<- []byte
}

// ahead is how many batches wait for the one that is being written.
const ahead = 1

func newWriter(p place, base *pack, start, limit uint64) *writer {
	w := &writer{place: p, base: base, start: start, end: start, limit: limit}
	w.texts.init(stagedTexts)
	w.facts.init(stagedFacts)
	w.filters.init(stagedFilters)
	if base != nil {
		w.id = base.id
	}
	return w
}

func (s *staging) init(most int) { s.most, s.spare = most, make(chan []byte, ahead+1) }

// memory returns memory for what waits.
func (s *staging) memory() []byte {
	select {
	case bytes := <-s.spare:
		return bytes[:0]
	default:
		return make([]byte, 0, s.most)
	}
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
		to.bytes = to.memory()
	}
	to.bytes = append(to.bytes, data...)
	to.waiting = append(to.waiting, s)
	w.staged += size
	return nil
}

// flush writes what waits.
func (w *writer) flush() error {
	return errors.Join(w.flushOne(&w.texts), w.flushOne(&w.facts), w.flushOne(&w.filters), w.await())
}

// flushOne gives what waits in one staging to the goroutine that writes.
func (w *writer) flushOne(s *staging) error {
	if len(s.waiting) == 0 {
		return nil
	}
	if err := w.open(); err != nil {
		return err
	}
	for _, span := range s.waiting {
		span.at += w.end
	}
	if w.full == nil {
		w.full = make(chan batch, ahead)
		w.writing.Go(func() { w.failure = writeBatches(w.file, w.full) })
	}
	w.full <- batch{s.bytes, int64(w.end), s.spare}
	w.end += uint64(len(s.bytes))
	w.staged -= uint64(len(s.bytes))
	s.bytes, s.waiting = nil, s.waiting[:0]
	return nil
}

// writeBatches writes batches until there are no more. Behind an error it writes nothing.
func writeBatches(file *os.File, full <-chan batch) (err error) {
	for p := range full {
		if err == nil {
			_, err = file.WriteAt(p.bytes, p.at)
		}
		select {
		case p.spare <- p.bytes:
		default: // there is enough
		}
	}
	return err
}

// await waits until all that is full is written.
func (w *writer) await() error {
	if w.full != nil {
		close(w.full)
		w.writing.Wait()
		w.full = nil
	}
	return w.failure
}

// write writes what is too long to wait.
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
	_ = w.await() // what could not be written is gone as well
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
