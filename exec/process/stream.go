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
	smallAnswer = protocol.Window // bytes kept without asking for capacity; most answers are shorter
	// firstStep and lastStep are the sizes to which a buffer grows before all of it is allocated. Unwritten pages
	// cost nothing, but copies do.
	firstStep  = 1 << 20
	lastStep   = 4 << 20
	FloodLimit = 1 << 30 // output in bytes that ends a program; a listing of a million files is a tenth of it
)

// Stream keeps the head and the tail of the output of a program. It reads all of it, so that the program is never
// blocked and its pipe never breaks.
//
// The last eighth is a ring buffer. So at most keep bytes are in memory, plus an eighth of that while Text joins
// them.
type Stream struct {
	keep     int
	limit    int64
	Flood    func()                           // called once when more than [FloodLimit] bytes are written
	capacity func(size int64) (allowed int64) // see NewStream

	head     strings.Builder
	headFull bool   // the rest goes to the tail
	tail     []byte // ring buffer
	next     int    // index of the oldest byte in tail
	Total    int64  // bytes written
	gap      int    // offset of the dropped part in the text, set by Text
	allowed  int64  // bytes that may be written before capacity is asked again
	full     bool   // capacity refused more; everything from then on is dropped
}

// NewStream returns a stream that keeps up to keep bytes. It calls flood once when more than [FloodLimit] bytes are
// written. It calls capacity with the size of an answer that has become large. capacity returns how large the answer
// may become before it is asked again; if that is less than the size, the rest is dropped. Both functions may be
// nil.
func NewStream(keep int, flood func(), capacity func(size int64) (allowed int64)) *Stream {
	return &Stream{keep: keep, limit: FloodLimit, Flood: flood, capacity: capacity, allowed: smallAnswer}
}

// Write keeps p as far as the stream has room for it. It never fails.
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
	if s.full {
		return len(p), nil
	}
	n := s.forHead(p)
	s.growHead(n)
	s.head.Write(p[:n])
	s.writeTail(p[n:])
	return len(p), nil
}

// growHead makes room for n more bytes in the head. [strings.Builder.Grow] adds its argument to twice the
// capacity.
func (s *Stream) growHead(n int) {
	size := s.head.Len() + n
	c := s.head.Cap()
	switch {
	case size <= c || size <= smallAnswer:
	case size <= firstStep && s.keep > firstStep:
		s.head.Grow(max(firstStep-2*c, n))
	case size <= lastStep && s.keep > lastStep:
		s.head.Grow(max(lastStep-2*c, n))
	default:
		s.head.Grow(max(s.keep-2*c, n))
		// Free what the previous large answer left, and the copy that was just made. Otherwise they would stay in
		// memory, because the collector waits until garbage is half of what is in use. Next to nothing of the new
		// space is written to yet.
		debug.FreeOSMemory()
	}
}

// writeTail appends p to the tail, and overwrites its oldest bytes once it is full.
func (s *Stream) writeTail(p []byte) {
	size := s.keep - s.head.Len()
	for len(p) > 0 {
		n := min(len(p), size-len(s.tail))
		if n > 0 {
			if s.tail == nil && size > lastStep {
				s.tail = make([]byte, 0, size) // the head is full, so much more is to come
			}
			s.tail = append(s.tail, p[:n]...)
		} else {
			n = copy(s.tail[s.next:], p)
			s.next = (s.next + n) % size
		}
		p = p[n:]
	}
}

// pieces are the buffers that output is read into. They are reused: most outputs are short, and a new buffer for each
// would be most of the garbage of a call.
var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ReadFrom writes everything that it reads from out to the stream. It implements [io.ReaderFrom], so that [io.Copy]
// calls it.
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

// forHead returns how many bytes of p belong to the head. The head ends with a whole character; half of one would
// have to be cleaned from the answer later, which copies it.
func (s *Stream) forHead(p []byte) (n int) {
	if s.headFull {
		return 0
	}
	n = s.keep - s.keep/8 - s.head.Len() // an eighth is for the tail
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

// Expect allocates the buffer for an answer of about total bytes, if that is large but not too large. It must not be
// called during a Write.
func (s *Stream) Expect(total int64) {
	if total <= smallAnswer || total > lastStep || s.keep <= lastStep {
		return
	}
	if more := int(total+total/16) - 2*s.head.Cap(); more > 0 {
		s.head.Grow(more) // Grow adds this to twice the capacity
	}
}

// Kept returns how many bytes are kept.
func (s *Stream) Kept() int { return s.head.Len() + len(s.tail) }

// Cut reports whether something was dropped.
func (s *Stream) Cut() bool { return s.Total > int64(s.Kept()) }

// Text returns the kept output, in little more memory than it needs, and the offset at which something was dropped,
// 0 if nothing was.
func (s *Stream) Text() (text string, gap int) {
	if s.Cut() && s.gap == 0 {
		s.gap = s.head.Len()
	}
	first := s.next
	if s.Cut() {
		for range min(utf8.UTFMax, len(s.tail)) - 1 {
			if utf8.RuneStart(s.tail[first]) {
				break
			}
			first = (first + 1) % len(s.tail) // skip the rest of a character
		}
	}
	if first >= s.next {
		s.head.Write(s.tail[first:]) // if this is much, it fits into the allocated space
		s.head.Write(s.tail[:s.next])
	} else {
		s.head.Write(s.tail[first:s.next])
	}
	s.tail = nil
	s.next = 0
	if size := s.head.Len(); size > smallAnswer && size < s.head.Cap()/2 {
		// The unwritten space costs no memory but counts as such. With several answers kept like that, the collector
		// would run all the time.
		return strings.Clone(s.head.String()), s.gap
	}
	return s.head.String(), s.gap
}
