// Package kept keeps long answers, of which only a part is sent at a time, in the memory of a
// worker.
package kept

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"
)

const (
	// MaxBytes bounds all answers of a worker together, and so each: a listing of 100,000
	// tasks is half of it.
	MaxBytes = 8 << 20
	// maxCount is how many answers are kept; one that is not is made again, if it is asked for
	// while nothing has changed.
	maxCount = 8
	// maxAge is how long an answer is kept since a part of it was asked for: as long as the
	// gateway keeps the parts that it has.
	maxAge = 10 * time.Minute
)

// Store keeps answers. Where room is needed those go first whose end was asked for, and then
// the ones that were not used for the longest time. It is safe for use by several goroutines;
// the zero Store is empty.
type Store struct {
	mu      sync.Mutex
	answers []kept // the one that was not used for the longest time first
	bytes   int
}

type kept struct {
	id     string
	pieces [][]byte
	size   int
	used   time.Time
	ended  bool // its end was asked for
}

// Put keeps the pieces of an answer, which nobody may change any more, and returns the id under
// which it is found: 26 letters and digits that nobody can guess. It is not ok if they are
// more than [MaxBytes].
func (s *Store) Put(pieces [][]byte) (id string, ok bool) {
	fresh := kept{id: rand.Text(), pieces: pieces, used: time.Now()}
	for _, piece := range pieces {
		fresh.size += len(piece)
	}
	if fresh.size > MaxBytes {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.answers) > 0 && (len(s.answers) >= maxCount || s.bytes+fresh.size > MaxBytes) {
		s.drop(max(0, slices.IndexFunc(s.answers, func(k kept) bool { return k.ended })))
	}
	s.answers = append(s.answers, fresh)
	s.bytes += fresh.size
	return fresh.id, true
}

// Get returns pieces of an answer that together have so many bytes at least, or all up to its
// end. from is the offset of one of its pieces. They stay where they are: whoever asks may be
// cut off before he has them, and ask again.
func (s *Store) Get(id string, from, atLeast int) (pieces [][]byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.answers, func(k kept) bool { return k.id == id })
	if i < 0 || time.Since(s.answers[i].used) >= maxAge {
		return nil, false
	}
	k := s.answers[i]
	pieces = k.pieces
	for at := 0; at < from && len(pieces) > 0; pieces = pieces[1:] {
		if at += len(pieces[0]); at > from {
			return nil, false
		}
	}
	if len(pieces) == 0 {
		return nil, false
	}
	part := First(pieces, atLeast)
	k.used, k.ended = time.Now(), k.ended || len(part) == len(pieces)
	s.answers = append(slices.Delete(s.answers, i, i+1), k)
	return part, true
}

// First returns the first pieces that together have so many bytes at least, or all.
func First(pieces [][]byte, atLeast int) [][]byte {
	for i, piece := range pieces {
		if atLeast -= len(piece); atLeast <= 0 {
			return pieces[:i+1]
		}
	}
	return pieces
}

// Sweep forgets answers whose end was asked for, and those that are too old. It is for a
// worker that has nothing to do.
func (s *Store) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.answers) - 1; i >= 0; i-- {
		if s.answers[i].ended || time.Since(s.answers[i].used) >= maxAge {
			s.drop(i)
		}
	}
}

func (s *Store) drop(i int) {
	s.bytes -= s.answers[i].size
	s.answers = slices.Delete(s.answers, i, i+1)
}
