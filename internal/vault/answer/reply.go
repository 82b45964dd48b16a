// Package answer is what a command of the embedded vault CLI answers: a [Reply] of a text, of
// rows in one of several forms, or of an open note, printed as a whole or in parts; or a [Fault],
// whose sentence is what the app would print and whose [Kind] is for programs.
package answer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// Reply is what a command has to say. Its text is a constant of the program, a text that the guard has judged, or made of what
// was read through a folder that puts marks in place of secrets: there is no other way to make one.
type Reply struct {
	Status int
	Kind   Kind // of a failure
	text   string
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
	// Made and Unmade are the files of a change that was made in part, see [Fault].
	Made, Unmade []string
	Nothing      bool // of a change that changes no byte
	Stale        bool // of a batch that is to be worked out anew: nothing of it was made
	Unread       int  // notes and folders that could not be read for the answer, which the notice counts
	LineEnds     bool // the text got the line ends of the note
	// Image is the media type of an image, whose bytes are the last line of the text in base64; ""
	// for other answers.
	Image string
	facts *protocol.Facts // get the hash of the body when it is printed; nil where no one asks for it
	hash  string          // of the note as it was read for the text, "" if it was not
	part  string          // hash of the part of the note that the text is, "" for other texts
}

// Change is a note before and after a write, and how many lines all files together
// got and lost.
type Change struct {
	Before, After string
	Lines         edit.LineCounts
	Destructive   bool // so much that it is destructive
}

// words are a constant of the program: no other package has a value of this type.
type words string

// Text returns a reply of success with a constant text.
func Text(text words) Reply { return Reply{text: string(text)} }

// Number returns a reply of success with a number.
func Number(n int) Reply { return Reply{text: strconv.Itoa(n)} }

// Judged returns a reply of success with a text that the guard has judged.
func Judged(text guard.Judged) Reply { return Reply{text: text.String()} }

// From returns a reply of success with a text that was made of what was read through a folder, of its names, and of the request.
// The files of the folder are read with marks in place of their secrets, unless the caller may see them; what is read otherwise is a
// [guard.Unjudged] and no string. Without a folder there is no text.
func From(read *disk.Folder, text string) Reply { return Reply{}.Saying(read, text) }

// Saying returns the reply with another text, see [From].
func (r Reply) Saying(read *disk.Folder, text string) Reply {
	r.text = ""
	if read != nil {
		r.text = text
	}
	return r
}

// About returns the reply as one that concerns a note.
func (r Reply) About(note disk.Path) Reply {
	r.Note = note
	return r
}

// Text returns what is printed before the rows and the body.
func (r Reply) Text() string { return r.text }

// Nothing returns a reply of success that has nothing to show, and why. sentence is
// what the app prints then, which may be "".
func Nothing(sentence words, reason string, args ...any) Reply {
	return Reply{text: string(sentence), Notice: fmt.Sprintf(reason, args...)}
}

// FromNote is [From] for a reply that was made from the text of a note as the caller reads it.
func FromNote(read *disk.Folder, note disk.Path, text []byte, answer string) Reply {
	r := From(read, answer).About(note)
	r.hash = Digest(text)
	return r
}

// FromPart returns a reply with a part of a note, with the hashes of the note and of the part.
func FromPart(read *disk.Folder, note disk.Path, text, part []byte) Reply {
	r := FromNote(read, note, text, string(part))
	r.part = Digest(part)
	return r
}

// WithoutUnread returns the reply with the remark that so many notes and folders could not be read for it; 0 is none.
// What was not found may be in one of them: that is no "not found".
func (r Reply) WithoutUnread(count int) Reply {
	switch {
	case count > 0 && r.Status == ExitFailed && r.Kind.Code == protocol.CodeNotFound:
		r.Kind = Unread
		r.text = strings.TrimRight(r.text, "\n") + " It may be in " + NotesOrFolders(count) + " that could not be read."
		return r
	case count == 0 || r.Status != ExitDone:
		return r
	}
	what := NotesOrFolders(count) + " could not be read, and the answer is without what they contain"
	if r.Notice != "" {
		what = r.Notice + "; " + what
	}
	r.Notice = what
	r.Unread = count
	r.Truncated = true
	return r
}

// NotesOrFolders counts what is a note or a folder.
func NotesOrFolders(count int) string {
	if count == 1 {
		return "1 note or folder"
	}
	return strconv.Itoa(count) + " notes or folders"
}

// Compact has a listing in JSON printed without the space between its tokens. Other replies
// stay as they are.
func (r *Reply) Compact() {
	if r.tight.row != nil {
		r.rows = r.tight
	}
}

// Rows returns how many rows a listing has, 0 for another reply.
func (r *Reply) Rows() int {
	if r.text != "" {
		return 0
	}
	return r.rows.count
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
	_, _ = out.WriteString(r.text)
	b := out.to.AvailableBuffer()
	longest := usualRow
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
			r.Status = ExitFailed
			why := Explain(Failure("reading stopped: %v", err))
			if isWorded(err) {
				why = Explain(err)
				why.text = "Error: reading stopped: " + strings.TrimPrefix(why.text, "Error: ")
			}
			r.Kind = why.Kind
			r.text = why.text
			_, _ = out.WriteString(r.text)
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

// Failure tells the gateway why a request failed, so that it need not parse the answer. It is zero for a reply
// of success.
func (r *Reply) Failure() protocol.Failure {
	if r.Status == ExitDone {
		return protocol.Failure{}
	}
	return protocol.NewFailure(r.Kind.Code, r.Kind.Hint, r.text)
}

// Facts tells the gateway which note a reply concerns and the hash of its text as the caller reads it, so
// that it need not parse the answer. Of a text with marks in place of its secrets it is not that of the
// file, which would tell whether a guess of a secret is right. The hash of a body is in the facts once it
// is printed; that of a note that does not exist is empty. What is not known of the answer is asked of
// hashOf. They are nil if the reply concerns no note and has no notice.
func (r *Reply) Facts(hashOf func(note disk.Path) string) *protocol.Facts {
	switch {
	case r.Status != ExitDone, r.Note == (disk.Path{}) && r.Notice == "":
		return nil
	case r.Note == (disk.Path{}):
		return &protocol.Facts{Notice: r.Notice, Nothing: r.Nothing, Unread: r.Unread}
	}
	f := &protocol.Facts{
		Notice:    r.Notice,
		Unread:    r.Unread,
		Path:      r.Note.String(),
		Change:    r.Entry,
		Overtaken: r.Overtaken,
		Nothing:   r.Nothing,
		LineEnds:  r.LineEnds,
		Image:     r.Image,
		Part:      r.part,
	}
	switch {
	case r.Change != nil:
		f.Before = &r.Change.Before
		f.Hash = r.Change.After
		f.Loses = r.Change.Destructive
		f.Added = r.Change.Lines.Added
		f.Removed = r.Change.Lines.Removed
	case r.Body != nil:
		r.facts = f
	case r.hash != "":
		f.Hash = r.hash
	default:
		f.Hash = hashOf(r.Note)
	}
	return f
}
