// Package answer has the results of the commands of the embedded vault CLI: a [Reply] with a text, with rows in one of
// several formats, or with an open note; or a [Fault], whose text is what the app would print and whose [Kind] is for
// programs.
package answer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// Reply is the result of a command. Its text can only be a constant of the program, a text that the guard has judged,
// or text made from what was read through a folder that replaces secrets by marks: there are no other constructors.
type Reply struct {
	Status int
	Kind   Kind // the kind of a failure
	text   string
	rows   rows // printed after text
	tight  rows // the rows in compact JSON, if there is such a form
	// Body is printed after the text. It is an open note, so that an answer of any size passes through a
	// small buffer.
	Body   io.ReadCloser
	Notice Notice
	// Truncated reports that the answer is incomplete for the reason in Notice, which is then printed on
	// standard error unless a report is requested.
	Truncated bool

	Note      disk.Path // the note that the answer is about, if there is exactly one
	Change    *Change   // the change of the note, nil if it was not written
	Entry     string    // id of the journal entry that can undo the change
	Overtaken bool      // another program has changed the note since
	Part      Part      // of a change that was made in part
	Nothing   bool      // the change does not change a byte
	Stale     bool      // the batch must be planned again: nothing of it was made
	Unread    int       // number of notes and folders that could not be read for the answer; the notice mentions it
	LineEnds  bool      // the text was converted to the line ends of the note
	// Image is the media type of an image, whose bytes are the last line of the text in base64; "" for other
	// answers.
	Image string
	facts *protocol.Facts // receives the hash of the body when it is printed; nil if the facts are not requested
	hash  string          // hash of the note as it was read for the text, "" if none was read
	part  string          // hash of the part of the note that is the text, "" for other texts
}

// Change describes the change of a note, and the lines that all files of the change gained and lost.
type Change struct {
	Before, After string // hashes of the note
	Lines         edit.LineCounts
	Destructive   bool // the change removes so much that it is destructive
}

// words is the type of constant texts: other packages can only pass constants as values of it.
type words string

// Text returns a successful reply with a constant text.
func Text(text words) Reply { return Reply{text: string(text)} }

// Number returns a successful reply with a number.
func Number(n int) Reply { return Reply{text: strconv.Itoa(n)} }

// Judged returns a successful reply with a text that the guard has judged.
func Judged(text guard.Judged) Reply { return Reply{text: text.String()} }

// From returns a successful reply with a text made from files read through a folder, from its names, and from the
// request. The folder replaces secrets by marks unless the caller may see them; any other way to read gives a
// [guard.Unjudged] instead of a string. Without a folder the text is empty.
func From(read *disk.Folder, text string) Reply { return Reply{}.Saying(read, text) }

// Saying returns the reply with its text replaced, see [From].
func (r Reply) Saying(read *disk.Folder, text string) Reply {
	r.text = ""
	if read != nil {
		r.text = text
	}
	return r
}

// About returns the reply with the note that it is about.
func (r Reply) About(note disk.Path) Reply {
	r.Note = note
	return r
}

// Text returns the text that is printed before the rows and the body.
func (r Reply) Text() string { return r.text }

// Nothing returns a successful reply that has nothing to show, with the reason in its notice. sentence is what the app
// prints in this case, possibly "".
func Nothing(sentence, reason words, args ...any) Reply {
	return Reply{text: string(sentence), Notice: Remark(reason, args...)}
}

// FromNote is [From] for a reply made from the text of a note as the caller reads it.
func FromNote(read *disk.Folder, note disk.Path, text []byte, answer string) Reply {
	r := From(read, answer).About(note)
	r.hash = Digest(text)
	return r
}

// FromPart returns a reply with a part of a note, and with the hashes of the note and of the part.
func FromPart(read *disk.Folder, note disk.Path, text, part []byte) Reply {
	r := FromNote(read, note, text, string(part))
	r.part = Digest(part)
	return r
}

// WithoutUnread returns the reply with the remark that count notes and folders could not be read for it. A "not found"
// becomes [Unread], because one of them may contain what was not found. For count 0 the reply is unchanged.
func (r Reply) WithoutUnread(count int) Reply {
	switch {
	case count > 0 && r.Status == ExitFailed && r.Kind.Code == protocol.CodeNotFound:
		r.Kind = Unread
		r.text = strings.TrimRight(r.text, "\n") + " It may be in " + NotesOrFolders(count) + " that could not be read."
		return r
	case count == 0 || r.Status != ExitDone:
		return r
	}
	r = r.Noting(Remark("%s could not be read, and the answer is without what they contain", NotesOrFolders(count)))
	r.Unread = count
	r.Truncated = true
	return r
}

// NotesOrFolders formats a number of notes or folders.
func NotesOrFolders(count int) string {
	if count == 1 {
		return "1 note or folder"
	}
	return strconv.Itoa(count) + " notes or folders"
}

// Compact makes a JSON listing print without space between its tokens. Other replies are unchanged.
func (r *Reply) Compact() {
	if r.tight.row != nil {
		r.rows = r.tight
	}
}

// Rows returns the number of rows of a listing, 0 for another reply.
func (r *Reply) Rows() int {
	if r.text != "" {
		return 0
	}
	return r.rows.count
}

// Close closes the body of the reply. It may be called before or after Print.
func (r *Reply) Close() {
	if r.Body != nil {
		r.Body.Close()
	}
}

// PrintBuffer is how many bytes of an answer are in memory at once.
const PrintBuffer = 64 << 10

// Print writes the reply and returns the exit status. Like the app, it adds a line break unless the text ends with one
// or is empty.
func (r *Reply) Print(stdout io.Writer) int {
	out := &lastByte{to: bufio.NewWriterSize(stdout, PrintBuffer)}
	_, _ = out.WriteString(r.text)
	b := out.to.AvailableBuffer()
	longest := usualRow
	for place := range r.rows.count { // rows are appended directly to the free space of the writer's buffer
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
		var dest io.Writer = out
		hash := sha256.New()
		if r.facts != nil {
			dest = io.MultiWriter(out, hash)
		}
		buf := copies.Get().(*[copyBuffer]byte)
		_, err := io.CopyBuffer(dest, io.LimitReader(r.Body, disk.MaxNote), buf[:])
		copies.Put(buf)
		if r.facts != nil {
			r.facts.Hash = hex.EncodeToString(hash.Sum(nil)[:8])
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

// copies pools the buffers for copying a note to its reader.
var copies = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

const copyBuffer = 32 << 10

// lastByte is a writer that records whether the last line is still open.
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

// Digest returns the short hash that identifies the content of a note: the first 16 hex digits of its SHA-256.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Failure returns why a request failed, so that the gateway need not parse the answer. It is zero for a successful
// reply.
func (r *Reply) Failure() protocol.Failure {
	if r.Status == ExitDone {
		return protocol.Failure{}
	}
	return protocol.NewFailure(r.Kind.Code, r.Kind.Hint, r.text)
}

// Facts returns the note that a reply is about and the hash of its text as the caller reads it, so that the gateway
// need not parse the answer. It is not the hash of the file if secrets are replaced by marks: that would confirm
// guesses of a secret. The hash of a body is set when the body has been printed; the hash of a missing note is empty.
// hashOf computes a hash that the reply does not contain. Facts returns nil if the reply is about no note and has no
// notice.
func (r *Reply) Facts(hashOf func(note disk.Path) string) *protocol.Facts {
	switch {
	case r.Status != ExitDone, r.Note == (disk.Path{}) && r.Notice == (Notice{}):
		return nil
	case r.Note == (disk.Path{}):
		return &protocol.Facts{Notice: r.Notice.String(), Nothing: r.Nothing, Unread: r.Unread}
	}
	f := &protocol.Facts{
		Notice:    r.Notice.String(),
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
