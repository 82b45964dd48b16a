package exec

import (
	"io"
	"strings"
)

const (
	firstRead = 4 << 10 // most answers are shorter
	// lastStep is where doubling ends and the whole buffer is taken: pages that
	// are not written to cost nothing, copies that are left behind do.
	lastStep = 1 << 20
	// floodLimit ends a call whose program does not stop printing: a listing of
	// a million files is a tenth of it.
	floodLimit = 1 << 30
)

// stream keeps the head and the tail of what a program prints and reads on to
// the end, so that the program is never blocked and its pipe never breaks.
//
// It is one buffer. While that lasts it is filled from the front; after that its
// second half is a ring, so that no more than keep bytes are ever held.
type stream struct {
	keep  int
	limit int64
	flood func() // called once when limit is passed

	data  []byte
	next  int // in the ring: where the oldest byte is
	total int64
}

// ReadFrom reads r to its end.
func (s *stream) ReadFrom(r io.Reader) (int64, error) {
	var read int64
	for {
		room := s.room()
		n, err := r.Read(room)
		s.took(n)
		read += int64(n)
		if err == io.EOF {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// Write keeps p; it never fails.
func (s *stream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(s.room(), rest)
		s.took(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// room returns where the next bytes go, at least one byte.
func (s *stream) room() []byte {
	if len(s.data) == s.keep {
		s.next = max(s.next, s.head())
		return s.data[s.next:s.keep]
	}
	if len(s.data) == cap(s.data) {
		s.grow()
	}
	return s.data[len(s.data):min(cap(s.data), s.keep)]
}

func (s *stream) grow() {
	size := s.keep
	if cap(s.data) < lastStep {
		size = min(max(firstRead, 2*cap(s.data)), s.keep)
	}
	grown := make([]byte, len(s.data), size)
	copy(grown, s.data)
	s.data = grown
}

// took says that n bytes were put into room.
func (s *stream) took(n int) {
	before := s.total
	s.total += int64(n)
	if before <= s.limit && s.total > s.limit && s.flood != nil {
		s.flood()
	}
	if len(s.data) < s.keep {
		s.data = s.data[:len(s.data)+n]
		return
	}
	if s.next += n; s.next == s.keep {
		s.next = s.head()
	}
}

func (s *stream) head() int { return s.keep / 2 }

func (s *stream) cut() bool { return s.total > int64(s.keep) }

// text returns what was kept and where the gap is, 0 when there is none.
func (s *stream) text() (text string, gap int) {
	if !s.cut() {
		return string(s.data), 0
	}
	tail := s.data[s.head():]
	turn := max(s.next, s.head()) - s.head()
	var b strings.Builder // a sum of conversions would copy every part once more
	b.Grow(s.keep)
	b.Write(s.data[:s.head()])
	b.Write(tail[turn:])
	b.Write(tail[:turn])
	return b.String(), s.head()
}
