package process

import (
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

const (
	smallAnswer = protocol.Window // kept without asking for capacity; most answers are shorter
	// firstStep and lastStep are the sizes to which a buffer grows before all of it is
	// allocated: unwritten pages cost nothing, copies do.
	firstStep  = 1 << 20
	lastStep   = 4 << 20
	FloodLimit = 1 << 30 // ends a program that does not stop printing: a listing of a million files is a tenth of it
)

// Stream keeps the head and the tail of the output of a program and reads it to the end, so
// that the program is never blocked and its pipe never breaks.
//
// The last eighth is a ring buffer, so that at most keep bytes are held, and an eighth of them
// twice while they are joined.
type Stream struct {
	keep     int
	limit    int64
	Flood    func()                           // called once when more than [FloodLimit] bytes are written
	capacity func(size int64) (allowed int64) // see NewStream

	head     strings.Builder
	headFull bool // the rest goes to the tail
	tail     []byte
	next     int   // index of the oldest byte in the ring
	Total    int64 // bytes written
	gap      int   // where something was dropped, after Text
	allowed  int64 // bytes that may come before capacity is asked
	full     bool  // there was none
}

// NewStream returns a stream that keeps so many bytes. It calls flood once when more than
// [FloodLimit] bytes are written, and capacity with the size of an answer that has become large, which returns how large it
// may become before it is asked again: what comes is dropped if that is less. Each may be nil.
func NewStream(keep int, flood func(), capacity func(size int64) (allowed int64)) *Stream {
	return &Stream{keep: keep, limit: FloodLimit, Flood: flood, capacity: capacity, allowed: smallAnswer}
}

// Write keeps p; it never fails.
func (s *Stream) Write(p []byte) (int, error) {
	before := s.Total
	s.Total += int64(len(p))
	if before <= s.limit && s.Total > s.limit && s.Flood != nil {
		s.Flood()
	}
	if s.capacity != nil && s.Total > s.allowed && !s.full {
		s.allowed = s.capacity(s.Total)
		s.full = s.Total > s.allowed
	}
	if !s.full {
		n := s.forHead(p)
		size := s.head.Len() + n
		c := s.head.Cap()
		switch {
		case size <= c || size <= smallAnswer:
		case size <= firstStep && s.keep > firstStep:
			s.head.Grow(max(firstStep-2*c, n)) // it adds this to twice of what there is
		case size <= lastStep && s.keep > lastStep:
			s.head.Grow(max(lastStep-2*c, n))
		default:
			s.head.Grow(max(s.keep-2*c, n))
			// What the large answer before this one has left, and the copy that was just made,
			// would otherwise stay in memory with it: the collector waits until garbage is half of what
			// is in use. Of the new space next to nothing is written to yet.
			debug.FreeOSMemory()
		}
		s.head.Write(p[:n])
		for rest := p[n:]; len(rest) > 0; {
			most := s.keep - s.head.Len()
			if capacity := most - len(s.tail); capacity > 0 {
				n = min(len(rest), capacity)
				if s.tail == nil && most > lastStep {
					s.tail = make([]byte, 0, most) // the head is full: much is to come
				}
				s.tail = append(s.tail, rest[:n]...)
			} else {
				n = copy(s.tail[s.next:], rest)
				s.next = (s.next + n) % most
			}
			rest = rest[n:]
		}
	}
	return len(p), nil
}

// pieces are what outputs are read into, one after the other: most are short, and a new piece for each would be most of what
// a call leaves to the collector.
var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ReadFrom keeps what is read from out, to its end. It implements [io.ReaderFrom], by which [io.Copy] has it read.
func (s *Stream) ReadFrom(out io.Reader) (int64, error) {
	piece := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(piece)
	before := s.Total
	for {
		n, err := out.Read(piece[:])
		_, _ = s.Write(piece[:n]) // it never fails
		if err == io.EOF {
			return s.Total - before, nil
		}
		if err != nil {
			return s.Total - before, err
		}
	}
}

// forHead returns how much of p belongs to the head, which ends with a whole
// character: half of one would have the answer cleaned, and that is a copy.
func (s *Stream) forHead(p []byte) (n int) {
	if s.headFull {
		return 0
	}
	n = s.keep - s.keep/8 - s.head.Len() // an eighth is for the end
	if n > len(p) {
		return len(p)
	}
	s.headFull = true
	for start := n - 1; start >= max(0, n-utf8.UTFMax); start-- {
		if utf8.RuneStart(p[start]) && !utf8.FullRune(p[start:n]) {
			return start
		}
	}
	return n
}

// Expect allocates the buffer for an answer of about this length, if that is large but not too
// large. Nothing may be written meanwhile.
func (s *Stream) Expect(total int64) {
	if total <= smallAnswer || total > lastStep || s.keep <= lastStep {
		return
	}
	if more := int(total+total/16) - 2*s.head.Cap(); more > 0 {
		s.head.Grow(more) // it adds this to twice of what there is
	}
}

// Kept returns how many bytes are kept.
func (s *Stream) Kept() int { return s.head.Len() + len(s.tail) }

// Cut reports whether something was dropped.
func (s *Stream) Cut() bool { return s.Total > int64(s.Kept()) }

// Text returns what was kept, in little more space than that, and where the gap is, 0 when there is none.
func (s *Stream) Text() (text string, gap int) {
	if s.Cut() && s.gap == 0 {
		s.gap = s.head.Len()
	}
	first := s.next
	for n := 1; s.Cut() && n < min(utf8.UTFMax, len(s.tail)) && !utf8.RuneStart(s.tail[first]); n++ {
		first = (first + 1) % len(s.tail) // half a character
	}
	if first >= s.next {
		s.head.Write(s.tail[first:]) // within the space that there is, where it is much
		s.head.Write(s.tail[:s.next])
	} else {
		s.head.Write(s.tail[first:s.next])
	}
	s.tail = nil
	s.next = 0
	if size := s.head.Len(); size > smallAnswer && size < s.head.Cap()/2 {
		// The space that was not written to costs no memory, and counts as such all the
		// same: with a few answers kept, the collector would run all the time.
		return strings.Clone(s.head.String()), s.gap
	}
	return s.head.String(), s.gap
}
