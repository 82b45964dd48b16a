package answer

import (
	"bytes"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// Whole is an answer of which a part is printed.
type Whole struct {
	Pieces [][]byte // each ends with a row
	Size   int      // of all pieces, in bytes
	Rows   int
}

const (
	pieceSize = 2 << 10  // minimum of a piece of an answer, and so how much longer than requested a part may be
	chunkSize = 64 << 10 // allocated at once for pieces
)

// Divide leaves the first part of the answer in the reply, and returns the whole. It is not
// ok, and the same is printed as before, if nothing follows that part, if the whole is too
// large to be kept, or if the reply has no rows to be divided between.
func (r *Reply) Divide(p protocol.Part) (whole Whole, ok bool) {
	switch {
	case p.Bytes <= 0 || r.Status != ExitDone || r.Body != nil || r.Image != "":
		return Whole{}, false
	case r.rows.row != nil && r.Text == "":
		// The rows are made now, and not while they are printed.
		var chunk []byte
		begun, place := 0, 0
		for ; place < r.rows.count && whole.Size < MaxBytes; place++ {
			if chunk = r.rows.row(chunk, place); len(chunk)-begun < pieceSize {
				continue
			}
			whole.add(chunk[begun:len(chunk):len(chunk)], p.Lines)
			if begun = len(chunk); begun > chunkSize-2*pieceSize {
				chunk, begun = make([]byte, 0, chunkSize), 0
			}
		}
		if len(chunk) > begun {
			whole.add(chunk[begun:], p.Lines)
		}
		part := First(whole.Pieces, p.Bytes)
		ok = whole.Size < MaxBytes && len(part) < len(whole.Pieces) && (!p.Lines || bytes.HasSuffix(part[len(part)-1], []byte("\n")))
		if !ok {
			r.rows = r.rows.behind(whole.Pieces, place)
			return Whole{}, false
		}
		if last := whole.Pieces[len(whole.Pieces)-1]; last[len(last)-1] != '\n' {
			whole.add([]byte("\n"), p.Lines) // with which every answer ends
		}
		if !p.Lines {
			whole.Rows = r.rows.count
		}
		r.rows = rows{}.behind(part, 0)
		return whole, true
	case r.rows.row == nil && p.Lines && p.Bytes < len(r.Text) && len(r.Text) < MaxBytes:
		text := []byte(r.Text)
		if text[len(text)-1] != '\n' {
			text = append(text, '\n') // with which every answer ends
		}
		for len(text) > 0 {
			end := len(text)
			if from := pieceSize - 1; from < end {
				end = from + bytes.IndexByte(text[from:], '\n') + 1
			}
			whole.add(text[:end:end], true)
			text = text[end:]
		}
		part := First(whole.Pieces, p.Bytes)
		if len(part) == len(whole.Pieces) {
			return Whole{}, false
		}
		r.Text, r.rows = "", rows{}.behind(part, 0)
		return whole, true
	}
	return Whole{}, false
}

// add adds a piece, with its lines where these are rows.
func (w *Whole) add(piece []byte, lines bool) {
	w.Pieces, w.Size = append(w.Pieces, piece), w.Size+len(piece)
	if lines {
		w.Rows += bytes.Count(piece, []byte("\n"))
	}
}

// behind returns rows of which those before a place are made already.
func (r rows) behind(made [][]byte, place int) rows {
	return rows{len(made) + r.count - place, func(b []byte, at int) []byte {
		if at < len(made) {
			return append(b, made[at]...)
		}
		return r.row(b, place+at-len(made))
	}}
}

// TextOfPieces returns a reply of success whose text is in pieces.
func TextOfPieces(pieces [][]byte) Reply { return Reply{rows: rows{}.behind(pieces, 0)} }

const (
	MaxBytes = 8 << 20          // of all answers of a worker together; a listing of 100,000 tasks is half of it
	maxCount = 8                // answers; another one is made again
	maxAge   = 10 * time.Minute // since a part was requested, as the gateway keeps its parts
)

// Store keeps answers. It drops first those whose end was requested, then the least recently
// used ones (LRU). It is safe for concurrent use; the zero Store is empty.
type Store struct {
	mu      sync.Mutex
	answers []kept // least recently used first
	bytes   int
}

type kept struct {
	id     string
	pieces [][]byte
	size   int
	used   time.Time
	ended  bool // its end was asked for
}

// Put keeps the pieces of an answer, which must not be changed any more, and returns its id: 26
// random letters and digits. It is not ok if they are more than [MaxBytes].
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
// end. from is the offset of one of its pieces. They stay, because a
// caller that was cut off may ask again.
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
