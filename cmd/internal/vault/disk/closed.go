package disk

import (
	"io"
	"strings"
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// Judge decides about notes by their text. It is safe for concurrent use.
type Judge struct {
	closes   func(text []byte) bool
	suspects func(text io.Reader) bool
	mu       sync.Mutex
	known    map[Path]judged
}

// judged is what was decided about a note in a settled state.
type judged struct {
	stamp  system.Stamp
	closed bool
}

// NewJudge returns the judge by a test whether a text closes its note. A long text is only tested if
// suspects, which reads all of it, says so.
func NewJudge(closes func(text []byte) bool, suspects func(text io.Reader) bool) *Judge {
	return &Judge{closes: closes, suspects: suspects, known: map[Path]judged{}}
}

// Judging returns the same open folder, of which the notes that j closes do not exist, as if a
// [View] did not see them. Only one of the two is to be closed.
func (f *Folder) Judging(j *Judge) *Folder {
	g := *f
	g.judge = j
	return &g
}

// Judges reports whether a note may be closed by its text.
func (f *Folder) Judges() bool { return f.judge != nil }

// IsClosed reports whether there is a note at p that its text closes.
func (f *Folder) IsClosed(p Path) bool {
	if !f.judge.judges(p) {
		return false
	}
	at, err := f.place(p.parents())
	if err != nil {
		return false
	}
	defer at.close()
	return f.judge.refuse(at, p) != nil
}

func (j *Judge) judges(p Path) bool { return j != nil && IsNote(p) }

// IsNote reports whether a file is a note by its extension, in any case: one that a [Judge] looks at.
func IsNote(p Path) bool { return strings.EqualFold(p.Ext(), "md") }

// refuse returns the error of a note that its text closes, which is that of a missing one. The
// text is read unless the note was judged in the same state before. One that is not on the disk
// counts as closed: it is not fetched to be judged.
func (j *Judge) refuse(at place, p Path) error {
	if !j.judges(p) {
		return nil
	}
	now := time.Now()
	stamp, err := at.stamp(p.base())
	if err != nil {
		return nil // the caller finds the same
	}
	j.mu.Lock()
	known, ok := j.known[p]
	j.mu.Unlock()
	if !ok || known.stamp != stamp {
		if system.HasCloudFiles {
			if info, err := at.info(p.base()); err == nil && system.IsElsewhere(info) {
				return missing(p)
			}
		}
		text, read, err := at.read(p.base(), nil)
		if err != nil {
			return nil // no caller can read it
		}
		known = judged{read, j.closes(text)}
		if read.Settled(now) {
			j.mu.Lock()
			j.known[p] = known
			j.mu.Unlock()
		}
	}
	if known.closed {
		return missing(p)
	}
	return nil
}

// longNote is the size in bytes up to which a text that is judged is read into memory at once.
const longNote = 1 << 20

// read judges an open note, with the error of a missing one if it is closed.
func (j *Judge) read(file *File, p Path) error {
	if file.Info.Size() > longNote && !j.suspects(file) {
		_, err := file.Seek(0, io.SeekStart)
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	text, err := readAll(file, MaxNote)
	if err != nil {
		return err
	}
	if j.closes(text) {
		return missing(p)
	}
	if file.Judged = text; len(text) > longNote {
		file.Judged = nil
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

// passes returns the text of a file that was read, with its secrets replaced, and instead of that
// of a closed note the error that it is missing.
func (f *Folder) passes(p Path, text []byte, stamp system.Stamp, err error) ([]byte, system.Stamp, error) {
	switch {
	case err != nil:
	case f.judge.judges(p) && f.judge.closes(text):
		return nil, stamp, missing(p)
	case f.redact != nil:
		text, err = f.redact(p, text)
	}
	return text, stamp, err
}
