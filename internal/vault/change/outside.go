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

// A change that the app carries out is planned and recorded here beforehand, and verified afterwards, so that
// the journal has it and it can be undone. The caller has the lock of the journal in the meantime.

// begin records what a call is going to change, and returns its plan.
func begin(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	settle := Recover
	if how.Alone { // a marked batch is the caller's own
		settle = recoverChanges
	}
	if err := settle(v, j); err != nil {
		return answer.Reply{}, err
	}
	p, err := propose(v, row, values, how)
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := cmp.Or(p.AppDoesLess, checkExpected(v, p, how)); err != nil {
		return answer.Reply{}, err
	}
	if p.lineEnds { // the app does not convert line ends
		p.Steps[0].After = Existing(p.asGiven)
		p.lineEnds = false
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	if len(p.Steps) > 0 {
		e := entry(v, row, values, how, p)
		e.Backend = "obsidian"
		e.Steps = answer.Map(p.Steps, func(s Step) journal.Step { return journalStep(v.Disk, s) })
		if e.Free, err = freePaths(v, row, values, e.Steps[0].Path); err != nil {
			return answer.Reply{}, err
		}
		if err := j.Begin(e, contentOf(v, p.Steps, e.Steps)); err != nil {
			return answer.Reply{}, unjournaled(err)
		}
	}
	return showPlan(v, p)
}

// States of a change in the answer of end, which only the gateway reads.
const (
	applied   = "applied"   // all files are as they were meant to be
	untouched = "untouched" // all files are as they were before
	otherwise = "otherwise" // some files are neither
	inPart    = "partly"    // some files are changed; the others could not be, and these could not be undone
)

// endings maps the state of a journal entry of the embedded CLI to the state in the answer.
var endings = map[journal.State]string{journal.Done: applied, journal.Undone: untouched, journal.Failed: inPart}

// end examines the files of an entry and records its outcome. No outcome is recorded for an untouched change
// that the app may still carry out.
func end(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	e, err := j.Entry(v.Ctx, how.Entry)
	if err == nil && e.Backend == embedded { // it may have been interrupted
		if e, err = afterRecovery(v, j, how); err != nil {
			return answer.Reply{}, err
		}
	}
	if err != nil {
		return answer.Reply{}, answer.NotFound.Failure("Change %q not found.", answer.Verbatim(how.Entry))
	}
	result, err := examineEnd(v, j, row, values, e)
	if err != nil {
		return answer.Reply{}, err
	}
	reply, err := result.reply(v, j)
	if err != nil {
		return answer.Reply{}, err
	}
	if result.entry.State == journal.Begun && result.state != untouched {
		if err := result.record(j); err != nil {
			return answer.Reply{}, err
		}
	}
	return reply, nil
}

// endResult is the state of the files of an entry.
type endResult struct {
	entry  journal.Entry
	seen   []fileResult
	images []journal.Image // of the files now
	state  string
	moved  string // notice that the note is not the planned one; usually ""
}

// examineEnd examines the files of an entry. It also looks for a note that the app may have created elsewhere.
func examineEnd(
	v *call.Vault, j *journal.Journal, row Command, values call.Values, e journal.Entry,
) (result endResult, err error) {
	examine := inspectFiles
	if mayBeWriting := e.Backend != embedded && e.State == journal.Begun; mayBeWriting {
		examine = inspectSettled
	}
	if result.seen, err = examine(v, j, row, values, e); err != nil {
		return result, err
	}
	result.state = stateOf(result.seen)
	if result.state == untouched && e.State == journal.Begun && row.Elsewhere != nil {
		planned := e.Steps[0].Path
		if e, err = followElsewhere(v, j, row, values, e); err != nil {
			return result, err
		}
		if made := e.Steps[0].Path; made != planned {
			if result.seen, err = inspectSettled(v, j, row, values, e); err != nil {
				return result, err
			}
			result.state = stateOf(result.seen)
			result.moved = "the note is " + made + " and not " + planned + ": time has passed until the app made it"
		}
	}
	if e.Backend == embedded {
		result.state = endings[e.State]
	}
	result.entry = e
	result.images = answer.Map(result.seen, func(t fileResult) journal.Image { return ImageOf(t.now) })
	return result, nil
}

// endVerdict is the answer of end to the gateway.
type endVerdict struct {
	State   string   `json:"state"`
	Path    string   `json:"path,omitempty"` // of the first file, unless that belongs to the settings of the app
	Before  string   `json:"before,omitempty"`
	After   string   `json:"after,omitempty"`
	Notices []string `json:"notices,omitempty"`
	// Made, Moved and Unmade are the files of a change that is partly made, see [answer.Part].
	Made   []string `json:"made,omitempty"`
	Moved  []string `json:"moved,omitempty"`
	Unmade []string `json:"unmade,omitempty"`
	// Added and Removed count lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// reply returns the answer of end.
func (f endResult) reply(v *call.Vault, j *journal.Journal) (answer.Reply, error) {
	verdict := endVerdict{State: f.state}
	if f.state == inPart {
		part := partialFiles(v, j, f.entry)
		verdict.Made = part.Made
		verdict.Moved = part.Moved
		verdict.Unmade = part.Unmade
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
		previous := t.now // also for a file that was moved unchanged, whose text the journal does not have
		switch {
		case !t.step.Before.Exists:
			previous = FileState{}
		case t.step.Before != f.images[i]:
			if text, err := j.Object(context.WithoutCancel(v.Ctx), t.step.Before.Hash); err == nil {
				previous = FileState{Exists: true, Text: text}
			}
		}
		counts := edit.CountLines(previous.Text.ForProgram(), t.now.Text.ForProgram())
		verdict.Added += counts.Added
		verdict.Removed += counts.Removed
		if at, err := StepPath(v, t.step.Path); err == nil && i == 0 {
			verdict.Before = hashAt(v, at, previous)
			verdict.After = hashAt(v, at, t.now)
			if at != disk.Bookmarks() {
				verdict.Path = at.String()
			}
		}
	}
	text, err := json.Marshal(verdict)
	return answer.From(v.Disk, string(text)), err
}

// record records in the journal that the entry is done, with the texts of its files.
func (f endResult) record(j *journal.Journal) error {
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

// followElsewhere looks for a new note that the app created at another path than planned: one that was free
// when the entry was begun and now has a note with the requested text. The times of files are not used, because
// they are coarse on some file systems. The returned entry is about that note, or is unchanged if there is
// none.
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

// freePaths returns the paths without a file at which the app may create the note instead of the planned path.
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

// isMadeAt reports whether a note has the requested text. It looks several times, because the app does not
// write a note at once.
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

// afterRecovery settles interrupted changes once no other process changes the vault, and returns the entry.
func afterRecovery(v *call.Vault, j *journal.Journal, how protocol.Write) (journal.Entry, error) {
	turn, err := takeTurn(v, j, how)
	if err != nil {
		return journal.Entry{}, err
	}
	defer turn.end()
	return j.Entry(v.Ctx, how.Entry)
}

// partialFiles returns the changed and the unchanged files of a change that is partly made.
func partialFiles(v *call.Vault, j *journal.Journal, e journal.Entry) (part answer.Part) {
	s := newSettler(v, j, journal.Mark{}, e)
	for i, recorded := range e.Steps {
		isMade := recorded.Before != recorded.After
		if recorded.From != "" {
			seen, err := s.observe(i)
			isMoved := err == nil && seen.position == moved
			isMade = isMoved || err == nil && seen.position == after
			if isMoved {
				part.Moved = append(part.Moved, recorded.Path)
			}
		}
		switch {
		case isFolderStep(recorded):
		case isMade:
			part.Made = append(part.Made, recorded.Path)
		default:
			part.Unmade = append(part.Unmade, recorded.Source())
		}
	}
	return part
}

// unjournaled returns the error for a change that was not made because the journal could not record it.
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

// fileResult is the state of one file that the app was to change.
type fileResult struct {
	step  journal.Step
	now   FileState
	old   FileState // the state of the path from which the file was moved
	state string
	more  bool // see [Verdict.More]
	style string
}

// AppChange is the state of one file before and after the app carried out a call, for the [Verifier] of the
// command.
type AppChange struct {
	Step        journal.Step
	Before, Now FileState
}

// Verifier judges a file that differs from what was planned.
type Verifier func(v *call.Vault, p call.Values, c AppChange) (Verdict, error)

// The app does not write a note at once: for a moment, the file is empty or has only a part. So a note that is
// in neither its old nor its requested state is examined again, until it has not changed for a while.
const (
	settleEvery    = 50 * time.Millisecond
	settleLooks    = 5  // number of consecutive equal states
	maxSettleLooks = 20 // in total
)

// inspectSettled is inspectFiles once the files are stable, or are certain to be final.
func inspectSettled(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	e journal.Entry,
) (seen []fileResult, err error) {
	same := 0
	for range maxSettleLooks {
		before := seen
		if seen, err = inspectFiles(v, j, row, values, e); err != nil || isConclusive(seen) {
			return seen, err
		}
		isUnchanged := slices.EqualFunc(before, seen, func(a, b fileResult) bool {
			return a.now.Equal(b.now) && a.old.Equal(b.old)
		})
		same++
		if !isUnchanged {
			same = 1
		}
		if same == settleLooks {
			break
		}
		v.Host.Pause(v.Ctx, settleEvery)
	}
	return seen, nil
}

// isConclusive reports whether the files are in their old state, or in the requested one without further
// changes.
func isConclusive(seen []fileResult) bool {
	return stateOf(seen) != otherwise && !slices.ContainsFunc(seen, func(t fileResult) bool { return t.more })
}

// inspectFiles returns the state of each file of an entry.
func inspectFiles(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	e journal.Entry,
) (seen []fileResult, err error) {
	for _, s := range e.Steps {
		t := fileResult{step: s, state: otherwise}
		if t.now, err = stateOnDisk(v, s.Path); err != nil {
			return nil, err
		}
		now := ImageOf(t.now)
		source := ImageOf(t.now)
		if s.From != "" {
			if t.old, err = stateOnDisk(v, s.From); err != nil {
				return nil, err
			}
			source = ImageOf(t.old)
		}
		// If only the case of the path changes, both paths may be the same file.
		hasOtherPath := s.From != "" && !strings.EqualFold(s.From, s.Path)
		switch {
		case hasOtherPath && t.old.Exists:
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
					break // the journal does not have it, because it was not to be changed
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

// stateOnDisk returns the state of the file at a path of an entry.
func stateOnDisk(v *call.Vault, path string) (FileState, error) {
	at, err := StepPath(v, path)
	if err != nil {
		return FileState{}, nil // no file can have this path
	}
	return StateAt(v, at, path)
}

// stateOf returns the state of the change as a whole.
func stateOf(seen []fileResult) string {
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

// Verdict is the judgement on a note. The zero Verdict means that the requested change was not made.
type Verdict struct {
	// Done is set if the note has the requested content.
	Done bool
	// More is set if the note was changed in other ways, too. It is then examined again until it is stable.
	More bool
	// Style describes how the note differs from the plan nevertheless; "" if it does not.
	Style string
}

// Exact is the verdict on a note that is byte for byte as planned.
var Exact = Verdict{Done: true}

const (
	lineBreaks   = "the line breaks around the text are those of the app"
	rewritten    = "the app has written the properties anew, in its own form and without comments"
	endsInBreaks = "the app has added a line break at the end"
)

// maxBreaks limits the consecutive line breaks that the app may add around text: one ends the previous line,
// and one makes an empty line.
const maxBreaks = 2

// IsComposedOf judges a note that should consist of pieces of text, each of which starts a line or, with
// [edit.Inline], continues the line of the previous one. The app may add line breaks between the pieces and at
// the end.
func IsComposedOf(now []byte, joint edit.Joint, pieces ...[]byte) Verdict {
	rest := now
	at := 0
	for i, piece := range pieces {
		if i > 0 && len(piece) > 0 {
			begun, breaks := skipBreaks(rest, piece)
			before := pieces[i-1]
			// The app needs no line break of its own between the two.
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
		after, ok := bytes.CutPrefix(rest, piece)
		if !ok {
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

// skipBreaks returns text without the line breaks before piece, and the number of these breaks. It stops at
// anything but a line break.
func skipBreaks(text, piece []byte) (rest []byte, breaks int) {
	for !bytes.HasPrefix(text, piece) {
		shorter := bytes.TrimPrefix(bytes.TrimPrefix(text, []byte("\r")), []byte("\n"))
		if len(shorter) == len(text) {
			break
		}
		text = shorter
		breaks++
	}
	return text, breaks
}

// Ending judges a note that should equal wanted. The app may add a line break at its end.
func Ending(wanted, now []byte) Verdict {
	rest, ok := bytes.CutPrefix(now, wanted)
	switch {
	case !ok:
		return Verdict{}
	case len(rest) == 0:
		return Exact
	case len(bytes.TrimLeft(rest, "\r\n")) == 0 && bytes.Count(rest, []byte("\n")) <= 1:
		return Verdict{Done: true, Style: endsInBreaks}
	}
	return Verdict{}
}

// Properties judges a note whose properties should be those of wanted, and whose body should be unchanged. A
// note without a readable block of properties has none.
func Properties(wanted, now []byte) Verdict {
	if bytes.Equal(wanted, now) {
		return Exact
	}
	if !bytes.Equal(wanted[markdown.BodyStart(wanted):], now[markdown.BodyStart(now):]) {
		return Verdict{}
	}
	a, err := PropertiesIn(wanted)
	b, nowErr := PropertiesIn(now)
	differs := func(p frontmatter.Property) bool { // the order does not matter
		i := slices.IndexFunc(b, func(q frontmatter.Property) bool { return q.Key == p.Key })
		return i < 0 || !p.Value.Equal(b[i].Value)
	}
	if err != nil || nowErr != nil || len(a) != len(b) || slices.ContainsFunc(a, differs) {
		return Verdict{}
	}
	return Verdict{Done: true, Style: rewritten}
}

// PropertiesIn returns the properties of a note. It returns an error if they are not valid YAML.
func PropertiesIn(text []byte) (frontmatter.Properties, error) {
	block := markdown.Scan(text).Frontmatter
	return frontmatter.Parse(text[block.Start:block.End])
}

// maxRepeated limits the bytes of text in which repetitions are counted.
const maxRepeated = 1 << 20

// AddsOnce reports whether text contains what exactly once more than before does. It returns false for a text
// of more than a megabyte.
func AddsOnce(text, before []byte, what string) bool {
	return len(text) <= maxRepeated &&
		(what == "" || bytes.Count(text, []byte(what)) == bytes.Count(before, []byte(what))+1)
}
