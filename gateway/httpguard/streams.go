package httpguard

import "sync"

// Streams are the answers that end only with the client or the server. They take a part
// of the connections: the rest is for requests.
type Streams struct {
	max int

	mu     sync.Mutex
	open   map[int]func() // how to end each
	next   int
	closed bool
}

// NewStreams returns a place for max streams.
func NewStreams(max int) *Streams { return &Streams{max: max, open: map[int]func(){}} }

// Add takes in a stream that cancel ends; done must be called at its end. It is
// false when there are too many, or none is wanted any more.
func (s *Streams) Add(cancel func()) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.open) >= s.max {
		return nil, false
	}
	key := s.next
	s.next++
	s.open[key] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, key)
	}, true
}

// Count returns how many streams are open.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Close ends all streams; no other begins.
func (s *Streams) Close() {
	s.mu.Lock()
	s.closed = true
	var all []func()
	for _, cancel := range s.open {
		all = append(all, cancel)
	}
	s.mu.Unlock()
	for _, cancel := range all {
		cancel()
	}
}
