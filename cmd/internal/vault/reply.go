package vault

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/lines"
)

// reply is what a command has to say.
type reply struct {
	status int
	kind   failureKind // of a failure
	text   string
	// body follows text. It is an open note, so that an answer of any size
	// passes through a small buffer.
	body *disk.File
	// remark is what the user or the agent has to know of the answer, and goes to
	// standard error.
	remark string

	// note is the path of the one note that the answer concerns, if it concerns
	// one; change says what became of it, if it was written.
	note   disk.Path
	change *change
	entry  string // of the journal, which can take the change back
	// overtaken says that the note is not any more what the change made of it.
	overtaken bool
	// lineEnds says that the text got the line ends of the note.
	lineEnds bool
	// seen is the hash of body while it is printed.
	seen hash.Hash
	// hash is that of the note as it was read for the text, "" if it was not.
	hash string
}

// change is a note before and after a write, and how many lines all files together
// got and lost.
type change struct {
	before, after string
	lines         lines.Counts
	loses         bool // so much that it is destructive
}

// say returns a reply of success.
func say(text string) reply { return reply{text: text} }

// tell returns a reply of success that was made from the text of a note.
func tell(note disk.Path, text []byte, answer string) reply {
	return reply{text: answer, note: note, hash: digest(text)}
}

func (r *reply) close() {
	if r.body != nil {
		r.body.Close()
	}
}

// printBuffer is what of an answer is in memory at once.
const printBuffer = 64 << 10

// print writes the reply and returns the exit status. Like the app it ends
// every text with a line break and adds none to a text that has one; no text
// at all stays nothing.
func (r *reply) print(stdout io.Writer) int {
	out := &lastByte{to: bufio.NewWriterSize(stdout, printBuffer)}
	fmt.Fprint(out, r.text)
	if r.body != nil {
		out.endLine()
		if err := r.stream(out); err != nil {
			out.endLine()
			r.status, r.kind, r.text = failed, otherFailure, fmt.Sprintf("Error: reading stopped: %v", err)
			fmt.Fprint(out, r.text)
		}
	}
	out.endLine()
	if err := out.to.Flush(); err != nil {
		return failed // nobody reads any more; there is no place left to say so
	}
	return r.status
}

// stream copies the body, hashing it on the way if that is asked for.
func (r *reply) stream(out io.Writer) error {
	if r.seen != nil {
		out = io.MultiWriter(out, r.seen)
	}
	buffer := copies.Get().(*[copyBuffer]byte)
	defer copies.Put(buffer)
	_, err := io.CopyBuffer(out, io.LimitReader(r.body, disk.MaxNote), buffer[:])
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

func (l *lastByte) endLine() {
	if l.open {
		_, _ = l.Write([]byte("\n"))
	}
}

// digest returns the hash by which a note's bytes are known: the first 16 hex
// digits of their SHA-256.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
