package change

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// What the app carries out is worked out and kept here beforehand, and looked at
// afterwards: so a change is in the journal and can be undone, whoever made
// it. The caller has the lock of the journal meanwhile.

// begin keeps what a call is going to change, and shows it as a plan does.
func begin(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	settle := Recover
	if how.Alone { // what is marked as a batch is that of the caller
		settle = recoverChanges
	}
	if err := settle(v, j); err != nil {
		return answer.Reply{}, err
	}
	p, err := propose(v, row, values, how)
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := cmp.Or(p.AppDoesLess, fits(v, p, how)); err != nil {
		return answer.Reply{}, err
	}
	if p.lineEnds { // the app does not convert them
		p.Steps[0].After = Existing(p.asGiven)
		p.lineEnds = false
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	if len(p.Steps) > 0 {
		e := entry(v, row, values, how, p)
		e.Backend = "obsidian"
		e.Steps = answer.Map(p.Steps, func(s Step) journal.Step { return keptStep(v.Disk, s) })
		if e.Free, err = freePaths(v, row, values, e.Steps[0].Path); err != nil {
			return answer.Reply{}, err
		}
		if err := j.Begin(e, contentOf(v, p.Steps, e.Steps)); err != nil {
			return answer.Reply{}, unjournaled(err)
		}
	}
	return showPlan(v, p)
}

// The answers of end. They are for the gateway.
const (
	applied   = "applied"   // all files say what they were meant to say
	untouched = "untouched" // all files are as they were
	otherwise = "otherwise" // some are neither
	inPart    = "partly"    // some files are changed, and others could not be, nor could those be taken back
)

// endings are the states of a change of the embedded CLI by how its entry in the journal ended.
var endings = map[journal.State]string{journal.Done: applied, journal.Undone: untouched, journal.Failed: inPart}

// end looks at the files of an entry and notes how it ended. One that is
// untouched is not noted yet if it may still be carried out.
func end(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	e, err := j.Entry(v.Ctx, how.Entry)
	if err == nil && e.Backend == embedded { // it may have been broken off
		if e, err = afterRecovery(v, j, how); err != nil {
			return answer.Reply{}, err
		}
	}
	if err != nil {
		return answer.Reply{}, answer.NotFound.Failure("Change %q not found.", answer.Verbatim(how.Entry))
	}
	found, err := lookAtEnd(v, j, row, values, e)
	if err != nil {
		return answer.Reply{}, err
	}
	reply, err := found.reply(v, j)
	if err != nil {
		return answer.Reply{}, err
	}
	if found.entry.State == journal.Begun && found.state != untouched {
		if err := found.note(j); err != nil {
			return answer.Reply{}, err
		}
	}
	return reply, nil
}

// foundEnd is what was found of the files of an entry.
type foundEnd struct {
	entry  journal.Entry
	seen   []traced
	images []journal.Image // of the files as they are
	state  string
	moved  string // that the note is another one than the planned one, "" mostly
}

// lookAtEnd looks at the files of an entry, and for a note that the app may have made elsewhere.
func lookAtEnd(
	v *call.Vault, j *journal.Journal, row Command, values call.Values, e journal.Entry,
) (found foundEnd, err error) {
	look := lookBack
	if mayBeWriting := e.Backend != embedded && e.State == journal.Begun; mayBeWriting {
		look = settled
	}
	if found.seen, err = look(v, j, row, values, e); err != nil {
		return found, err
	}
	found.state = stateOf(found.seen)
	if found.state == untouched && e.State == journal.Begun && row.Elsewhere != nil {
		planned := e.Steps[0].Path
		if e, err = followElsewhere(v, j, row, values, e); err != nil {
			return found, err
		}
		if made := e.Steps[0].Path; made != planned {
			if found.seen, err = settled(v, j, row, values, e); err != nil {
				return found, err
			}
			found.state = stateOf(found.seen)
			found.moved = "the note is " + made + " and not " + planned + ": time has passed until the app made it"
		}
	}
	if e.Backend == embedded {
		found.state = endings[e.State]
	}
	found.entry = e
	found.images = answer.Map(found.seen, func(t traced) journal.Image { return ImageOf(t.now) })
	return found, nil
}

// endVerdict is what the gateway is told of an end.
type endVerdict struct {
	State   string   `json:"state"`
	Path    string   `json:"path,omitempty"` // of the first file, unless it is one of the settings of the app
	Before  string   `json:"before,omitempty"`
	After   string   `json:"after,omitempty"`
	Notices []string `json:"notices,omitempty"`
	// Made and Unmade are the files of a change that is made in part.
	Made   []string `json:"made,omitempty"`
	Unmade []string `json:"unmade,omitempty"`
	// Added and Removed count lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// reply returns the answer of end.
func (f foundEnd) reply(v *call.Vault, j *journal.Journal) (answer.Reply, error) {
	verdict := endVerdict{State: f.state}
	if f.state == inPart {
		verdict.Made, verdict.Unmade = sidesOf(v, j, f.entry)
	}
	if f.state == applied {
		for _, t := range f.seen {
			if t.style != "" && !slices.Contains(verdict.Notices, t.style) {
				verdict.Notices = append(verdict.Notices, t.style)
			}
		}
	}
	if f.moved != "" {
		verdict.Notices = append(verdict.Notices, f.moved)
	}
	for i, t := range f.seen {
		was := t.now // also of a file that was moved as it was, of which nothing is kept
		if !t.step.Before.Exists {
			was = FileState{}
		} else if t.step.Before != f.images[i] {
			if text, err := j.Object(context.WithoutCancel(v.Ctx), t.step.Before.Hash); err == nil {
				was = FileState{Exists: true, Text: text}
			}
		}
		made := edit.CountLines(was.Text.ForProgram(), t.now.Text.ForProgram())
		verdict.Added += made.Added
		verdict.Removed += made.Removed
		if at, err := StepPath(v, t.step.Path); err == nil && i == 0 {
			verdict.Before, verdict.After = hashAt(v, at, was), hashAt(v, at, t.now)
			if at != disk.Bookmarks() {
				verdict.Path = at.String()
			}
		}
	}
	text, err := json.Marshal(verdict)
	return answer.From(v.Disk, string(text)), err
}

// note writes to the journal that the entry is done, with the texts of its files.
func (f foundEnd) note(j *journal.Journal) error {
	for i, t := range f.seen[:min(len(f.seen), maxKept)] {
		if t.now.Exists && f.images[i] != t.step.Before {
			_ = j.Put(f.entry.Caller, t.step.Path, f.images[i], bytes.NewReader(t.now.Text.ForProgram()))
		}
	}
	if err := j.End(f.entry.ID, journal.Outcome{State: journal.Done, After: f.images}); err != nil {
		return unjournaled(err)
	}
	return nil
}

// followElsewhere looks for a new note that the app has made under another name than the planned one: where none was when
// the entry was begun there is one now, with the text that was asked for. The times of files say nothing of it, as they are
// coarse on some file systems. The entry is then about that note; otherwise it stays as it is.
func followElsewhere(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	e journal.Entry,
) (journal.Entry, error) {
	for _, name := range e.Free {
		at, err := v.PathOf(name)
		if err != nil {
			return e, err
		}
		isMade, err := isMadeAt(v, row, values, at)
		if err != nil {
			return e, err
		}
		if !isMade {
			continue
		}
		if err := j.End(e.ID, journal.Outcome{State: journal.Undone, Note: "made as " + name}); err != nil {
			return e, unjournaled(err)
		}
		e.Steps = []journal.Step{{Path: name, After: e.Steps[0].After, Of: e.Steps[0].Of}}
		if err := j.Begin(e, nil); err != nil {
			return e, unjournaled(err)
		}
		return e, nil
	}
	return e, nil
}

// freePaths returns the paths without a file at which the app may make the note of an entry in place of the planned one.
func freePaths(v *call.Vault, row Command, values call.Values, planned string) (free []string, err error) {
	if row.Elsewhere == nil {
		return nil, nil
	}
	paths, err := row.Elsewhere(v, values)
	if err != nil {
		return nil, err
	}
	for _, at := range paths {
		_, err := v.Disk.Stat(at)
		if at.String() != planned && errors.Is(err, fs.ErrNotExist) {
			free = append(free, at.String())
		}
	}
	return free, nil
}

// isMadeAt reports whether a note has the text that was asked for. The app does not write it in one piece.
func isMadeAt(v *call.Vault, row Command, values call.Values, at disk.Path) (bool, error) {
	for range settleLooks {
		if _, err := v.Disk.Stat(at); err != nil {
			return false, nil
		}
		now, err := CurrentState(v, at)
		if err != nil {
			return false, err
		}
		verdict, err := row.Verify(v, values, AppChange{Now: now})
		if err != nil || verdict.Done {
			return verdict.Done, err
		}
		v.Host.Pause(v.Ctx, settleEvery)
	}
	return false, nil
}

// afterRecovery settles what was broken off, once no other process changes the vault, and returns an entry.
func afterRecovery(v *call.Vault, j *journal.Journal, how protocol.Write) (journal.Entry, error) {
	turn, err := takeTurn(v, j, how)
	if err != nil {
		return journal.Entry{}, err
	}
	defer turn.end()
	return j.Entry(v.Ctx, how.Entry)
}

// sidesOf returns which files of a change that is made in part it has changed, and which not.
func sidesOf(v *call.Vault, j *journal.Journal, e journal.Entry) (changed, unchanged []string) {
	s := newSettler(v, j, journal.Mark{}, e)
	for i, kept := range e.Steps {
		isMade := kept.Before != kept.After
		if kept.From != "" {
			seen, err := s.look(i)
			isMade = err == nil && (seen.position == after || seen.position == moved)
		}
		switch {
		case isFolderStep(kept):
		case isMade:
			changed = append(changed, kept.Path)
		default:
			unchanged = append(unchanged, kept.Source())
		}
	}
	return changed, unchanged
}

// unjournaled says that nothing was done because it could not be kept.
func unjournaled(err error) error {
	var busy *journal.Busy
	var changed *journal.Changed
	switch {
	case errors.As(err, &busy):
		return answer.Conflict.Failure("Conflict: another program changes notes of the vault. Nothing was changed.")
	case errors.As(err, &changed):
		return answer.Conflict.Failure(
			"Conflict: %q was changed by another program at the same time. Nothing was changed.",
			answer.Verbatim(changed.Path),
		)
	}
	return answer.NoJournal.Failure("Nothing was changed, because the journal cannot keep it: %v", err)
}

// traced is what is found of one file that the app was to change.
type traced struct {
	step  journal.Step
	now   FileState
	old   FileState // what is where the file was before a move
	state string
	more  bool // see [Verdict]
	style string
}

// AppChange is one file before and after the app has carried out a call, for a
// command to judge.
type AppChange struct {
	Step        journal.Step
	Before, Now FileState
}

// Verifier judges a file that is not byte for byte what was planned.
type Verifier func(v *call.Vault, p call.Values, c AppChange) (Verdict, error)

// The app does not write a note in one piece: for a moment the file is empty, or
// holds a part. So a note that is neither old nor what was asked for is looked at
// again, until it has stayed the same for a while.
const (
	settleEvery = 50 * time.Millisecond
	settleLooks = 5  // as many in a row have to be the same
	settleMost  = 20 // of all
)

// settled is lookBack once the files have stayed the same, or are right.
func settled(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	e journal.Entry,
) (seen []traced, err error) {
	same := 0
	for range settleMost {
		before := seen
		if seen, err = lookBack(v, j, row, values, e); err != nil || isCertain(seen) {
			return seen, err
		}
		if same++; !slices.EqualFunc(
			before,
			seen,
			func(a, b traced) bool { return a.now.Equal(b.now) && a.old.Equal(b.old) },
		) {
			same = 1
		}
		if same == settleLooks {
			break
		}
		v.Host.Pause(v.Ctx, settleEvery)
	}
	return seen, nil
}

// isCertain reports whether files are as they were, or as they were meant to be and nothing more.
func isCertain(seen []traced) bool {
	return stateOf(seen) != otherwise && !slices.ContainsFunc(seen, func(t traced) bool { return t.more })
}

// lookBack looks at the files of an entry and says of each what became of it.
func lookBack(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	e journal.Entry,
) (seen []traced, err error) {
	for _, s := range e.Steps {
		t := traced{step: s, state: otherwise}
		if t.now, err = heldAt(v, s.Path); err != nil {
			return nil, err
		}
		now := ImageOf(t.now)
		source := ImageOf(t.now)
		if s.From != "" {
			if t.old, err = heldAt(v, s.From); err != nil {
				return nil, err
			}
			source = ImageOf(t.old)
		}
		switch {
		case s.From != "" && t.old.Exists && !strings.EqualFold(s.From, s.Path): // with the same letters it may be the file itself
			if source == s.Before && !t.now.Exists {
				t.state = untouched
			}
		case now == s.After:
			t.state = applied
		case source == s.Before:
			t.state = untouched
		case row.Verify != nil && t.now.Exists:
			before := FileState{}
			if s.Before.Exists {
				text, err := j.Object(context.WithoutCancel(v.Ctx), s.Before.Hash)
				if err != nil {
					break // it was not kept, because nothing of it was to change
				}
				before = FileState{Exists: true, Text: text}
			}
			verdict, err := row.Verify(v, values, AppChange{s, before, t.now})
			if err != nil {
				return nil, err
			}
			if verdict.Done {
				t.state = applied
				t.style = verdict.Style
				t.more = verdict.More
			}
		}
		seen = append(seen, t)
	}
	return seen, nil
}

// heldAt returns the content of the file at a path of an entry.
func heldAt(v *call.Vault, path string) (FileState, error) {
	at, err := StepPath(v, path)
	if err != nil {
		return FileState{}, nil // nothing can be there
	}
	return StateAt(v, at, path)
}

// stateOf says what became of the change as a whole.
func stateOf(seen []traced) string {
	count := map[string]int{}
	for _, t := range seen {
		count[t.state]++
	}
	switch len(seen) {
	case count[untouched]:
		return untouched
	case count[applied]:
		return applied
	}
	return otherwise
}

// Verdict says what became of a note. The zero Verdict is that of a change that is
// not the one that was asked for.
type Verdict struct {
	// Done says that the note says what it was to say.
	Done bool
	// More says that more was changed than that: the note is looked at again until it stays the same.
	More bool
	// Style says in what the note differs all the same, "" in nothing.
	Style string
}

// Exact is the verdict on a note that is what it was to be, byte for byte.
var Exact = Verdict{Done: true}

const (
	lineBreaks   = "the line breaks around the text are those of the app"
	rewritten    = "the app has written the properties anew, in its own form and without comments"
	endsInBreaks = "the app has added a line break at the end"
)

// maxBreaks is how many line breaks in a row the app may put where it adds text: it
// ends the line before, and leaves one empty line.
const maxBreaks = 2

// IsComposedOf judges a note that was to consist of pieces of text, each of which begins
// a line, or with [edit.Inline] goes on in the line of the one before.
// The app may put line breaks between them and at the end.
func IsComposedOf(now []byte, joint edit.Joint, pieces ...[]byte) Verdict {
	rest := now
	at := 0
	for i, piece := range pieces {
		if i > 0 && len(piece) > 0 {
			breaks := 0
			begun := rest // the line breaks in front of the piece
			for ; !bytes.HasPrefix(begun, piece); breaks++ {
				shorter := bytes.TrimPrefix(bytes.TrimPrefix(begun, []byte("\r")), []byte("\n"))
				if len(shorter) == len(begun) {
					break
				}
				begun = shorter
			}
			before := pieces[i-1]
			// The app needs no line break between the two.
			endsBefore := len(before) == 0 || bytes.HasSuffix(before, []byte("\n"))
			beginsPiece := bytes.HasPrefix(piece, []byte("\n")) || bytes.HasPrefix(piece, []byte("\r\n"))
			isApart := endsBefore || beginsPiece
			goesOn := breaks == 0
			isInline := joint == edit.Inline
			if breaks > maxBreaks || !isApart && goesOn != isInline {
				return Verdict{}
			}
			rest = begun
		}
		after, found := bytes.CutPrefix(rest, piece)
		if !found {
			return Verdict{}
		}
		at = at + len(piece)
		rest = after
	}
	if bytes.Count(rest, []byte("\n")) > maxBreaks || len(bytes.Trim(rest, "\r\n")) > 0 {
		return Verdict{}
	}
	if len(now) == at {
		return Exact
	}
	return Verdict{Done: true, Style: lineBreaks}
}

// Ending judges a note that was to be wanted. The app may end it with a line break.
func Ending(wanted, now []byte) Verdict {
	rest, found := bytes.CutPrefix(now, wanted)
	switch {
	case !found:
		return Verdict{}
	case len(rest) == 0:
		return Exact
	case len(bytes.TrimLeft(rest, "\r\n")) == 0 && bytes.Count(rest, []byte("\n")) <= 1:
		return Verdict{Done: true, Style: endsInBreaks}
	}
	return Verdict{}
}

// Properties judges a note whose properties were to be those of wanted, and whose
// body is not concerned. A note without a block that can be read has none.
func Properties(wanted, now []byte) Verdict {
	if bytes.Equal(wanted, now) {
		return Exact
	}
	if !bytes.Equal(wanted[markdown.BodyStart(wanted):], now[markdown.BodyStart(now):]) {
		return Verdict{}
	}
	a, err := PropertiesIn(wanted)
	b, unread := PropertiesIn(now)
	differs := func(p frontmatter.Property) bool { // in any order
		i := slices.IndexFunc(b, func(q frontmatter.Property) bool { return q.Key == p.Key })
		return i < 0 || !p.Value.Equal(b[i].Value)
	}
	if err != nil || unread != nil || len(a) != len(b) || slices.ContainsFunc(a, differs) {
		return Verdict{}
	}
	return Verdict{Done: true, Style: rewritten}
}

// PropertiesIn reads those of a note. The error is that of a block that is not YAML.
func PropertiesIn(text []byte) (frontmatter.Properties, error) {
	block := markdown.Scan(text).Frontmatter
	return frontmatter.Parse(text[block.Start:block.End])
}

// maxRepeated is how many bytes of text are searched for a repetition.
const maxRepeated = 1 << 20

// AddsOnce reports whether text contains what exactly once more than before
// does. It is false for a text of more than a megabyte.
func AddsOnce(text, before []byte, what string) bool {
	return len(text) <= maxRepeated &&
		(what == "" || bytes.Count(text, []byte(what)) == bytes.Count(before, []byte(what))+1)
}
