package command

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// Reply is what a command has to say.
type Reply struct {
	Status int
	Kind   Kind // of a failure
	Text   string
	rows   rows // follow text
	tight  rows // the same in JSON without space between its tokens, if there are any
	// Body follows the text. It is an open note, so that an answer of any size passes through a
	// small buffer.
	Body io.ReadCloser
	// Notice is a remark on the answer, such as why it is empty: one line without text of a note,
	// for the gateway.
	Notice string
	// Truncated says that the answer is incomplete as the notice says, which is printed on
	// standard error unless a report is requested.
	Truncated bool

	Note      disk.Path // the one note that the answer concerns, if any
	Change    *Change   // of the note, nil if it was not written
	Entry     string    // of the journal, which can undo the change
	Overtaken bool      // another program has changed the note since
	LineEnds  bool      // the text got the line ends of the note
	// Image is the media type of an image, whose bytes are the last line of Text in base64; ""
	// for other answers.
	Image string
	facts *protocol.Facts // get the hash of the body when it is printed; nil where no one asks for it
	hash  string          // of the note as it was read for the text, "" if it was not
}

// Change is a note before and after a write, and how many lines all files together
// got and lost.
type Change struct {
	Before, After string
	Lines         edit.LineCounts
	Destructive   bool // so much that it is destructive
}

// Text returns a reply of success.
func Text(text string) Reply { return Reply{Text: text} }

// Nothing returns a reply of success that has nothing to show, and why. sentence is
// what the app prints then, which may be "".
func Nothing(sentence, reason string, args ...any) Reply {
	return Reply{Text: sentence, Notice: fmt.Sprintf(reason, args...)}
}

// FromNote returns a reply of success that was made from the text of a note as the caller reads it.
func FromNote(note disk.Path, text []byte, answer string) Reply {
	return Reply{Text: answer, Note: note, hash: Digest(text)}
}

// Compact has a listing in JSON printed without the space between its tokens. Other replies
// stay as they are.
func (r *Reply) Compact() {
	if r.tight.row != nil {
		r.rows = r.tight
	}
}

// Close releases what the reply has open. A reply that was printed may be closed too.
func (r *Reply) Close() {
	if r.Body != nil {
		r.Body.Close()
	}
}

// PrintBuffer is what of an answer is in memory at once.
const PrintBuffer = 64 << 10

// Print writes the reply and returns the exit status. Like the app it ends
// every text with a line break and adds none to a text that has one; no text
// at all stays nothing.
func (r *Reply) Print(stdout io.Writer) int {
	out := &lastByte{to: bufio.NewWriterSize(stdout, PrintBuffer)}
	_, _ = out.WriteString(r.Text)
	b, longest := out.to.AvailableBuffer(), usualRow
	for place := range r.rows.count { // many at a time, made where they are written from
		before := len(b)
		b = r.rows.row(b, place)
		longest = max(longest, min(len(b)-before, PrintBuffer/2))
		if cap(b)-len(b) >= longest {
			continue
		}
		_, _ = out.Write(b)
		if err := out.to.Flush(); err != nil {
			return ExitFailed // the reader has gone
		}
		b = out.to.AvailableBuffer()
	}
	_, _ = out.Write(b)
	if r.Body != nil {
		out.endLine()
		var to io.Writer = out
		seen := sha256.New()
		if r.facts != nil {
			to = io.MultiWriter(out, seen)
		}
		buffer := copies.Get().(*[copyBuffer]byte)
		_, err := io.CopyBuffer(to, io.LimitReader(r.Body, disk.MaxNote), buffer[:])
		copies.Put(buffer)
		if r.facts != nil {
			r.facts.Hash = hex.EncodeToString(seen.Sum(nil)[:8])
		}
		if err != nil {
			out.endLine()
			why := Explain(err)
			r.Status, r.Kind, r.Text = ExitFailed, why.Kind, "Error: reading stopped: "+strings.TrimPrefix(why.Text, "Error: ")
			_, _ = out.WriteString(r.Text)
		}
	}
	out.endLine()
	if err := out.to.Flush(); err != nil {
		return ExitFailed // the reader has gone
	}
	return r.Status
}

// copies are the buffers between a note and its reader, kept for the next call.
var copies = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

const copyBuffer = 32 << 10

// lastByte remembers whether the text written so far ends its line.
type lastByte struct {
	to   *bufio.Writer
	open bool
}

func (l *lastByte) Write(text []byte) (int, error) {
	if len(text) > 0 {
		l.open = text[len(text)-1] != '\n'
	}
	return l.to.Write(text)
}

func (l *lastByte) WriteString(text string) (int, error) {
	if text != "" {
		l.open = text[len(text)-1] != '\n'
	}
	return l.to.WriteString(text)
}

func (l *lastByte) endLine() {
	if l.open {
		_, _ = l.Write([]byte("\n"))
	}
}

// Digest returns a short hash, by which the bytes of a note are known, too: the first 16 hex
// digits of their SHA-256.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Facts tells the gateway which note a reply concerns and the hash of its text as the caller reads it, so
// that it need not parse the answer. Of a text with marks in place of its secrets it is not that of the
// file, which would tell whether a guess of a secret is right. The hash of a body is in the facts once it
// is printed; that of a note that does not exist is empty. They are nil if the reply concerns no note and
// has no notice.
func (r *Reply) Facts(v *Vault) *protocol.Facts {
	switch {
	case r.Status != ExitDone, r.Note == (disk.Path{}) && r.Notice == "":
		return nil
	case r.Note == (disk.Path{}):
		return &protocol.Facts{Notice: r.Notice}
	}
	f := &protocol.Facts{Notice: r.Notice, Path: r.Note.String(), Change: r.Entry, Overtaken: r.Overtaken, LineEnds: r.LineEnds, Image: r.Image}
	switch {
	case r.Change != nil:
		f.Before, f.Hash, f.Loses = &r.Change.Before, r.Change.After, r.Change.Destructive
		f.Added, f.Removed = r.Change.Lines.Added, r.Change.Lines.Removed
	case r.Body != nil:
		r.facts = f
	case r.hash != "":
		f.Hash = r.hash
	default: // nothing if it cannot be read
		if note, err := v.Show(Target{Path: r.Note}); err == nil {
			defer note.Close()
			sum := sha256.New()
			if _, err := io.Copy(sum, note.Body); err == nil {
				f.Hash = hex.EncodeToString(sum.Sum(nil)[:8])
			}
		}
	}
	return f
}

// Part says how much of a long answer is printed. The zero Part is all of it.
type Part struct {
	Bytes int  // at least; the part ends with the row in which it is reached, or a few rows later
	Lines bool // every line is a row; otherwise only a listing with rows of its own is divided
}

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
func (r *Reply) Divide(p Part) (whole Whole, ok bool) {
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
