package cache

import (
	"errors"
	"os"
	"sync"
)

const (
	// maxPack bounds a pack, in bytes. A vault of that size is searched from its files.
	maxPack = 4 << 30
	// factsShare is the part of it that facts and filters may take in addition: they are
	// small, and cost most to compute again.
	factsShare = 4

	stagedTexts   = 512 << 10
	stagedFacts   = 256 << 10
	stagedFilters = 256 << 10
)

// writer appends to a pack: to the existing one, or to a new one. It touches the disk when
// there is something to write. Texts, facts and filters are collected separately, so that
// each are read in large pieces. One goroutine writes full batches: those that scan notes
// do not wait for the disk, nor two writes for each other.
type writer struct {
	place  place
	base   *pack // nil for a new one
	id     packID
	file   *os.File // nil until something is written
	start  uint64   // where the new bytes begin
	end    uint64   // how much is written, or is about to be
	staged uint64   // how much waits to be
	limit  uint64

	stagings [parts]staging

	full    chan batch // nil while no goroutine writes
	writing sync.WaitGroup
	failure error // of the goroutine that writes, once it has ended
}

// staging is data that waits to be written together.
type staging struct {
	bytes   []byte
	most    int
	waiting []*span     // their places are relative to the start of bytes
	spare   chan []byte // memory of written batches
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
	for i, most := range [parts]int{stagedTexts, stagedFacts, stagedFilters} {
		w.stagings[i] = staging{most: most, spare: make(chan []byte, ahead+1)}
	}
	if base != nil {
		w.id = base.id
	}
	return w
}

// add writes a part and sets its place; the checksum is set already. A part for which
// there is no room stays nothing.
func (w *writer) add(what part, data []byte, s *span) error {
	size, limit := uint64(len(data)), w.limit
	if what != textPart {
		limit += limit / factsShare
	}
	if size >= 1<<32 || w.end+w.staged+size > limit {
		*s = nothing
		return nil
	}
	s.size = uint32(size)
	to := &w.stagings[what]
	if len(to.bytes)+len(data) > to.most {
		if err := w.flushOne(to); err != nil {
			return err
		}
	}
	if len(data) > to.most { // too long to wait
		if err := w.open(); err != nil {
			return err
		}
		s.at = w.end
		_, err := w.file.WriteAt(data, int64(w.end))
		w.end += size
		return err
	}
	s.at = uint64(len(to.bytes))
	if to.bytes == nil {
		select {
		case bytes := <-to.spare:
			to.bytes = bytes[:0]
		default:
			to.bytes = make([]byte, 0, to.most)
		}
	}
	to.bytes = append(to.bytes, data...)
	to.waiting = append(to.waiting, s)
	w.staged += size
	return nil
}

// flush writes all data that waits.
func (w *writer) flush() error {
	var failed []error
	for i := range w.stagings {
		failed = append(failed, w.flushOne(&w.stagings[i]))
	}
	return errors.Join(append(failed, w.await())...)
}

// flushOne gives the data of one staging to the goroutine that writes.
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

// writeBatches writes batches until there are no more. After an error it writes nothing.
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

// await waits until all batches are written.
func (w *writer) await() error {
	if w.full != nil {
		close(w.full)
		w.writing.Wait()
		w.full = nil
	}
	return w.failure
}

// open opens the existing pack, if it was not replaced, or makes one.
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
	one, err := file.Stat()
	if err == nil {
		var other os.FileInfo
		if other, err = w.base.file.Stat(); err == nil && !os.SameFile(one, other) {
			err = errors.New("the pack was replaced")
		}
	}
	if err != nil {
		file.Close()
		return err
	}
	w.file = file
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

// finish returns the pack for reading, nil if there is none. The bytes after the end were
// left by a process that did not finish.
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

// undo restores the state before.
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
