package exec

import (
	"hash/maphash"
	"sync"
)

// sizes is how long the large answers of a worker were the last time, by what was asked. The
// same listing is asked for again and again, and an answer of about the same length then takes
// its space at once: each time it grows, a copy is left behind. Of two calls that come to the
// same place the later one is known.
type sizes struct {
	mu    sync.Mutex
	known [32]struct {
		call uint64 // its hash
		size int64
	}
}

var sizesSeed = maphash.MakeSeed()

func callHash(words []string) uint64 {
	var h maphash.Hash
	h.SetSeed(sizesSeed)
	for _, word := range words {
		_, _ = h.WriteString(word) // it takes everything
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// of returns how long the answer to a call was, 0 where that is not known.
func (s *sizes) of(call uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[call%uint64(len(s.known))]; known.call == call {
		return known.size
	}
	return 0
}

// keep notes how long the answer to a call is.
func (s *sizes) keep(call uint64, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := &s.known[call%uint64(len(s.known))]
	known.call, known.size = call, size
}
