package exec

import (
	"io"
	"strings"
	"sync"
)

const (
	// smallAnswer is how much of an answer is kept before there has to be room for a
	// large one: most answers are shorter.
	smallAnswer = 128 << 10
	// lastStep is where doubling ends and all the room is taken: pages that are not
	// written to cost nothing, copies that are left behind do.
	lastStep = 1 << 20
	// floodLimit ends a call whose program does not stop printing: a listing of
	// a million files is a tenth of it.
	floodLimit = 1 << 30
)

// stream keeps the head and the tail of what a program prints and reads on to
// the end, so that the program is never blocked for good and its pipe never
// breaks.
//
// The first half of what may be kept is written to where it stays. The second
// half is filled from the front, and after that it is a ring, so that no more than
// keep bytes are ever held.
type stream struct {
	keep  int
	limit int64
	flood func() // called once when limit is passed
	// room waits until there is room for a large answer, and is asked once. Without
	// it nothing more is kept. nil is as much room as keep says.
	room func() bool

	head  strings.Builder
	tail  []byte
	next  int // in the ring: where the oldest byte is
	total int64
	gap   int  // where something was dropped, once text was called
	roomy bool // room was asked
	full  bool // there was none
}

// chunks are the buffers between a pipe and a stream.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

const chunkSize = 32 << 10

// ReadFrom reads r to its end.
func (s *stream) ReadFrom(r io.Reader) (int64, error) {
	chunk := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(chunk)
	var read int64
	for {
		n, err := r.Read(chunk[:])
		_, _ = s.Write(chunk[:n]) // it never fails
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
	before := s.total
	s.total += int64(len(p))
	if before <= s.limit && s.total > s.limit && s.flood != nil {
		s.flood()
	}
	if s.total > smallAnswer && !s.roomy {
		s.roomy, s.full = true, s.room != nil && !s.room()
	}
	if !s.full {
		s.add(p)
	}
	return len(p), nil
}

func (s *stream) add(p []byte) {
	n := min(len(p), s.keep/2-s.head.Len())
	if c := s.head.Cap(); c >= lastStep && s.head.Len()+n > c {
		s.head.Grow(s.keep - 2*c) // which adds it to twice of what there is
	}
	s.head.Write(p[:n])
	for rest := p[n:]; len(rest) > 0; {
		n := s.addToTail(rest)
		rest = rest[n:]
	}
}

// addToTail keeps some of p and returns how much.
func (s *stream) addToTail(p []byte) (n int) {
	most := s.keep - s.keep/2
	if room := most - len(s.tail); room > 0 {
		n = min(len(p), room)
		if len(s.tail)+n > lastStep && cap(s.tail) < most {
			s.tail = append(make([]byte, 0, most), s.tail...)
		}
		s.tail = append(s.tail, p[:n]...)
		return n
	}
	n = copy(s.tail[s.next:], p)
	s.next = (s.next + n) % most
	return n
}

func (s *stream) kept() int { return s.head.Len() + len(s.tail) }

func (s *stream) cut() bool { return s.total > int64(s.kept()) }

// text returns what was kept and where the gap is, 0 when there is none.
func (s *stream) text() (text string, gap int) {
	if s.cut() && s.gap == 0 {
		s.gap = s.head.Len()
	}
	s.head.Write(s.tail[s.next:]) // within the room that there is, where it is much
	s.head.Write(s.tail[:s.next])
	s.tail, s.next = nil, 0
	return s.head.String(), s.gap
}
