package command

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/exec/frame"
	"vaultwicket/exec/secrets"
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
	Image  string
	seen   hash.Hash // of the body while it is printed
	source hash.Hash // of the file, where the body has marks in place of its secrets
	hash   string    // of the note as it was read for the text, "" if it was not
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

// FromNote returns a reply of success that was made from the text of a note. The hash is that
// of the file, which a text with marks does not have.
func FromNote(note disk.Path, text []byte, answer string) Reply {
	r := Reply{Text: answer, Note: note}
	if !secrets.HasMark(text) {
		r.hash = Digest(text)
	}
	return r
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
	r.rows.print(out)
	if r.Body != nil {
		out.endLine()
		if err := r.stream(out); err != nil {
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

// stream copies the body, hashing it on the way if that is asked for.
func (r *Reply) stream(out io.Writer) error {
	if r.seen != nil {
		out = io.MultiWriter(out, r.seen)
	}
	buffer := copies.Get().(*[copyBuffer]byte)
	defer copies.Put(buffer)
	_, err := io.CopyBuffer(out, io.LimitReader(r.Body, disk.MaxNote), buffer[:])
	return err
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

// Digest returns the hash by which a note's bytes are known: the first 16 hex
// digits of their SHA-256.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Facts tell the gateway which note an answer concerned and the hash of its bytes, so that it
// need not parse the answer.
type Facts struct {
	frame.Facts
	streamed hash.Hash // of the body while it is printed, nil for a known hash
}

// Unchanged returns the facts of a reply that is left out, because it would be made from the
// state that was asked about.
func Unchanged(state string) *Facts {
	return &Facts{Facts: frame.Facts{State: state, Unchanged: true}}
}

// FromState returns the facts with the state from which the reply was made, and what tells which notes
// were closed by their texts. All may be absent.
func (f *Facts) FromState(state, closed string) *Facts {
	if state+closed == "" {
		return f
	}
	if f == nil {
		f = &Facts{}
	}
	f.State, f.Closed = state, closed
	return f
}

// Line returns the line for standard error, once the answer is printed.
func (f *Facts) Line() string {
	if f.streamed != nil {
		f.Hash = hex.EncodeToString(f.streamed.Sum(nil)[:8])
	}
	return f.Facts.Line()
}

// Facts returns the facts about a reply, or nil if it concerns no note and has no notice. The
// hash of a note that does not exist is empty.
func (r *Reply) Facts(folder *disk.Folder) *Facts {
	switch {
	case r.Status != ExitDone, r.Note == (disk.Path{}) && r.Notice == "":
		return nil
	case r.Note == (disk.Path{}):
		return &Facts{Facts: frame.Facts{Notice: r.Notice}}
	}
	f := &Facts{Facts: frame.Facts{Notice: r.Notice, Path: r.Note.String(), Change: r.Entry, Overtaken: r.Overtaken, LineEnds: r.LineEnds, Image: r.Image}}
	switch {
	case r.Change != nil:
		f.Before, f.Hash, f.Loses = &r.Change.Before, r.Change.After, r.Change.Destructive
		f.Added, f.Removed = r.Change.Lines.Added, r.Change.Lines.Removed
	case r.source != nil:
		f.streamed = r.source
	case r.Body != nil:
		r.seen = sha256.New()
		f.streamed = r.seen
	case r.hash != "":
		f.Hash = r.hash
	default:
		f.Hash = hashOf(folder, r.Note)
	}
	return f
}

// hashOf returns the digest of a file, or nothing if it cannot be read.
func hashOf(folder *disk.Folder, note disk.Path) string {
	file, err := folder.Open(note)
	if err != nil {
		return ""
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
