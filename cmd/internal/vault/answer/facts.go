package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/exec/frame"
)

// Facts tell the gateway which note an answer concerned and what its bytes
// were, so that it need not guess either from the text.
type Facts struct {
	path string
	// before is nil if nothing was written, and empty if the note was made.
	before      *string
	lines       edit.LineCounts
	destructive bool
	entry       string // of the journal, "" if nothing was written
	// overtaken says that somebody changed what was written right after it was.
	overtaken bool
	// lineEnds says that the text got the line ends of the note.
	lineEnds bool
	image    string // the media type of an image in the answer
	// hash is computed once the answer is printed, for the body streams.
	hash func() string
	// notice is a remark on the answer.
	notice string
	whole  *frame.Whole // that a worker keeps, nil where all of it is printed
	// state is that of the index; unchanged says that nothing was answered for it.
	state     string
	unchanged bool
}

// Unchanged returns the facts of a reply that is left out, because the state that it would
// be made from is the one that was asked about.
func Unchanged(state string) *Facts {
	return &Facts{state: state, unchanged: true, hash: func() string { return "" }}
}

// FromState returns the facts with the state from which the reply was made. Both may be
// absent.
func (f *Facts) FromState(state string) *Facts {
	if state == "" {
		return f
	}
	f = f.orNew()
	f.state = state
	return f
}

// OfWhole returns the facts of a part with the whole that a worker keeps under an id. They may
// be absent.
func (f *Facts) OfWhole(id string, whole Whole) *Facts {
	f = f.orNew()
	f.whole = &frame.Whole{ID: id, Bytes: whole.Size, Rows: whole.Rows}
	return f
}

func (f *Facts) orNew() *Facts {
	if f == nil {
		return &Facts{hash: func() string { return "" }}
	}
	return f
}

// Line returns what is written on standard error.
func (f *Facts) Line() string {
	return frame.Facts{
		Notice: f.notice, Path: f.path, Hash: f.hash(), Before: f.before, Change: f.entry,
		Added: f.lines.Added, Removed: f.lines.Removed, Loses: f.destructive, Overtaken: f.overtaken, LineEnds: f.lineEnds, Image: f.image,
		State: f.state, Unchanged: f.unchanged, Whole: f.whole,
	}.Line()
}

// Facts returns the facts about a reply, or nil if it concerns no note and has no
// notice. The
// hash of a note that does not exist is empty.
func (r *Reply) Facts(folder *disk.Folder) *Facts {
	switch {
	case r.Status != ExitDone, r.Note == (disk.Path{}) && r.Notice == "":
		return nil
	case r.Note == (disk.Path{}):
		return &Facts{notice: r.Notice, hash: func() string { return "" }}
	}
	f := &Facts{notice: r.Notice, path: r.Note.String(), entry: r.Entry, overtaken: r.Overtaken, lineEnds: r.LineEnds, image: r.Image}
	switch {
	case r.Change != nil:
		f.before, f.hash = &r.Change.Before, func() string { return r.Change.After }
		f.lines, f.destructive = r.Change.Lines, r.Change.Destructive
	case r.Body != nil:
		r.seen = sha256.New()
		f.hash = func() string { return hex.EncodeToString(r.seen.Sum(nil)[:8]) }
	case r.hash != "":
		f.hash = func() string { return r.hash }
	default:
		known := hashOf(folder, r.Note)
		f.hash = func() string { return known }
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
