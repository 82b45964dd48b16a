package gateway

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/approvals"
)

// PlannedFile is a file that would change. Hashes are those of [Result]; an empty
// one stands for no file.
type PlannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // where it is before a move
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func (f PlannedFile) row() string {
	switch {
	case f.From != "":
		return row("moves", f.From, f.Path)
	case f.Before == "":
		return row("makes", f.Path)
	case f.After == "":
		return row("removes", f.Path)
	}
	return row("changes", f.Path)
}

// places are the paths that a planned change touches.
func (f PlannedFile) places() []string {
	if f.From == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.From}
}

// row shows a label and its values, with the word "to" between two. What is too
// long for one row of a terminal is broken behind bars: where a terminal breaks it,
// text that somebody else has chosen would begin a row.
func row(label string, values ...string) string {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = quoted(value)
	}
	line := label + ": " + strings.Join(shown, " to ")
	if strings.Count(clean.Excerpt(line, 2, len(line)), "\n") == 1 {
		return line + "\n"
	}
	var b strings.Builder
	b.WriteString(label + ":\n")
	for i, value := range shown {
		if i > 0 {
			b.WriteString("to:\n")
		}
		b.WriteString(clean.Excerpt(value, maxShownLines, 2*maxShownName))
	}
	return b.String()
}

// quoted shows a name or a short value on one line. Of a long one it shows the
// ends: the first folders and the name of the note.
func quoted(s string) string {
	s = clean.Line(s)
	if len(s) > maxShownName {
		end := len(s) - maxShownName/2
		for !utf8.RuneStart(s[end]) {
			end++
		}
		s = quote.Clip(s, maxShownName/2) + s[end:]
	}
	return `"` + strings.ReplaceAll(s, `"`, `'`) + `"`
}

// How much a person is shown before they decide. More is not read.
const (
	maxShownLines = 24
	briefLines    = 10 // of the question in a dialog, where it can be told in so many
	briefFiles    = 3
	maxShownBytes = 2 << 10
	maxShownFiles = 8
	maxShownName  = 512      // bytes of a path, of which the ends say most
	maxQuestion   = 16 << 10 // what the store takes
)

// Question is what a person is asked before a call.
type Question struct {
	Vault, Command string
	// Path is the note or file that the call is about, "" if it is not known.
	Path string
	// Folder holds all that the call would change, and [YesHere] is a yes to it.
	// It is "" where there is no such folder, what would change is not known, or no
	// session of the caller's could end it.
	Folder string
	// Text is the whole question, fit to be shown: rows from notes begin with a
	// bar, so that nothing in them can pose as ours.
	Text string
	// Brief is Text in about ten lines, for a dialog: it shows less of the difference.
	Brief string
	// Digest is that of the exact call, and of the notes as they were when it was
	// asked about. A yes is good for nothing else.
	Digest [sha256.Size]byte
	// Destructive says that the call removes, replaces or publishes: a yes to it
	// stands for no other call.
	Destructive bool
	Caller      string

	files []PlannedFile // that the call would change, as far as is known
	// identity is that of the vault, call that of the call in it.
	identity string
	call     callDigest
	// change is the digest of the change, "" where the embedded program does not
	// know it. Then spelled are the hashes of the notes that the call names.
	change  string
	spelled map[string]string
}

// binding is what a call must still be when it is carried out, for an approval to
// be one of it. The zero value is any call.
type binding struct {
	change  string
	spelled map[string]string
}

func (q Question) binding() binding { return binding{q.change, q.spelled} }

// calls are what a question is recognised by when it is asked again: the call, and
// the change that it would make, which can be spelled in more than one way.
func (q Question) calls() []callDigest {
	if q.change == "" {
		return []callDigest{q.call}
	}
	return []callDigest{q.call, callDigest(sha256.Sum256([]byte("change " + q.change + q.identity)))}
}

// Reply is what came of a question.
type Reply uint8

const (
	// NoWay is the zero value: the person cannot be asked in this way.
	NoWay Reply = iota
	// No: the person declined, or did not answer, or the answer was none.
	No
	// Later: the person is being asked, and the caller sends the call again with
	// the answer.
	Later
	// Yes to this call.
	Yes
	// YesHere to this call, and to those that change notes in the same folder
	// until the session ends, but for destructive ones.
	YesHere
	// Void: what came is no answer to this question, so the user has not declined.
	Void
)

// Asker asks a person and waits for the answer, no longer than ctx lasts.
type Asker func(ctx context.Context, q Question) Reply

// ApprovalsFolder returns where questions wait in the state folder for a person
// who answers them in a terminal.
func ApprovalsFolder(state string) string { return filepath.Join(state, "approvals") }

// consent is how a person is asked.
type consent struct {
	store     *approvals.Store // nil where there is no place for it
	standing  *approvals.Standing
	attention *attention
}

func newConsent(state string) *consent {
	c := &consent{standing: approvals.NewStanding(time.Now), attention: newAttention(time.Now)}
	if state != "" {
		c.store = approvals.Open(ApprovalsFolder(state), time.Now)
	}
	return c
}

// standingYes is how long a yes for a folder lasts at most, should the session.
const standingYes = 8 * time.Hour

// approved says how a call that needs approval may be carried out: by a question
// that the user said yes to. The zero value asks.
type approved struct {
	question *Question
	// inBatch says that the user was asked about the whole batch: what they were
	// not shown there is not asked about in the midst of it.
	inBatch bool
	// takesBack is for undoing what an operation of the batch has just done.
	takesBack bool
}

// changedSince says that a call is not carried out because notes are others than
// the user was shown.
func changedSince(command string) error {
	return failure.New(failure.CodeConflict, "read the notes again; the same call asks the user again, with the notes as they are now",
		"command %q: notes were changed after the user was asked", command)
}

// sameAs returns an error unless a yes to q is one to again.
func (q Question) sameAs(again Question) error {
	if q.Digest == again.Digest {
		return nil
	}
	return changedSince(q.Command)
}
