package change

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// SessionVariable names the session on whose behalf this program writes, for
// the journal.
const SessionVariable = "VAULTWICKET_SESSION"

// Command is a command that may change the vault.
type Command struct {
	Name string
	// Plan works out what a request would do. It changes nothing itself.
	Plan      func(*call.Vault, call.Values) (Proposal, error)
	OnlyReads func(call.Values) bool // whether a request only shows something; nil for never
	Verify    Verifier               // of a file that differs from the plan after the app has changed it; nil refuses it
	// Elsewhere returns where else the app may make the new note, because time passes after the plan; nil for nowhere.
	Elsewhere func(*call.Vault, call.Values) ([]disk.Path, error)
}

// Write carries out a command that writes: alone in the vault among all
// programs of this kind, kept in the journal before anything is touched, and
// read back afterwards.
func Write(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	switch {
	case row.OnlyReads != nil && row.OnlyReads(values):
		p, err := propose(v, row, values, how)
		return p.answer(), err
	case (how.Task == protocol.Begin || how.Task == protocol.End) && how.Entry == "":
		return answer.Reply{}, answer.Misuse("A change that another program makes needs an id.")
	case how.Task == protocol.Begin:
		return begin(v, row, values, how)
	case how.Task == protocol.End:
		return end(v, row, values, how)
	case how.Task == protocol.Plan:
		p, err := propose(v, row, values, how)
		if err != nil || p.ReadAnswer != nil {
			return p.answer(), err
		}
		if err := p.expects(v, how.Expect); err != nil {
			return answer.Reply{}, err
		}
		return showPlan(v, p)
	case how.Task == protocol.Rehearse:
		return rehearse(v, row, values, how)
	case v.Batch != nil:
		return planOperation(v, row, values, how)
	}
	return carryOut(v, row, values, how)
}

// maxPlans is how often a change is worked out while others write, before it is worked out alone.
const maxPlans = 3

// carryOut makes the change that a call asks for. It is worked out without the lock of the journal, so that no other writer
// waits for it, and anew if a file is by then another one than it was worked out for.
func carryOut(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	for n := 1; ; n++ {
		reply, err := tryOut(v, j, row, values, how, n > maxPlans)
		if !errors.Is(err, errStale) {
			return reply, err
		}
	}
}

// errStale says that a change was worked out for files that have become others since.
var errStale = errors.New("was changed while the change was worked out")

// tryOut works out a change and makes it, alone in the vault among all programs of this kind. With alone it is
// also worked out so. The error is errStale if it can be worked out anew.
func tryOut(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	how protocol.Write,
	alone bool,
) (answer.Reply, error) {
	var p Proposal
	planned := j.Extent()
	if !alone {
		var err error
		if p, err = propose(v, row, values, how); err != nil || p.ReadAnswer != nil {
			return p.answer(), err
		}
	}
	rests := basis{journal: j, since: planned, isOutdated: func(since journal.Extent) bool {
		mayRestOnOthers := !alone && len(p.Steps) > 1
		return mayRestOnOthers && p.isOutdated(v, j, since)
	}}
	if err := rests.check(); err != nil { // before others have to wait
		return answer.Reply{}, err
	}
	turn, err := takeTurnFor(v, j, how, p.Steps)
	if err != nil {
		return answer.Reply{}, err
	}
	defer turn.end()
	if alone {
		if p, err = propose(v, row, values, how); err != nil || p.ReadAnswer != nil {
			return p.answer(), err
		}
	}
	// Who writes all the time would make a change that may rest on any note outdated meanwhile.
	isLent := !alone && p.Outdated != nil && turn.lend(len(p.Steps))
	if err := rests.check(); err != nil {
		return answer.Reply{}, err
	}
	if err := fits(v, p, how); err != nil {
		return answer.Reply{}, err
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	said := p.said(v)
	if len(p.Steps) == 0 {
		return p.nothing(v, said), endUndone(j, p.takesBack())
	}
	isOfOneState := how.Approved != "" || how.Expect != "" // of a note that was shown, or is named by its hash
	t, err := newTransaction(v, j, turn, p, entry(v, row, values, how, p))
	if err == nil {
		defer t.close()
		t.merges = !isOfOneState
		err = t.compare(alone)
	}
	if err == nil && isLent {
		err = t.endLending(&rests)
	}
	if isConflict(err) && how.Approved == "" && !alone {
		return answer.Reply{}, errStale
	}
	if err != nil {
		return answer.Reply{}, err
	}
	end, err := t.run()
	said.Entry = t.entry.ID
	said.Overtaken = end.overtaken
	said.Notice = noticed(append([]string{said.Notice}, end.beside...)...)
	if end.isLeft() {
		return said, partlyApplied(t.entry.ID, end, err)
	}
	if end.state == made && err == nil {
		said.Change = Proposal{Steps: t.steps, Note: p.Note, loses: p.loses}.change(v)
	}
	return said, err
}

// basis is what a change was worked out on.
type basis struct {
	journal    *journal.Journal
	since      journal.Extent // of the journal, when it was last looked at
	isOutdated func(since journal.Extent) bool
}

// check returns errStale if others have changed it since it was last looked at.
func (b *basis) check() error {
	now := b.journal.Extent()
	if b.isOutdated(b.since) {
		return errStale
	}
	b.since = now
	return nil
}

// maxSince is how many changes of others are looked at, before a change is rather worked out anew.
const maxSince = 1000

// isOutdated reports whether a proposal may be another one by now, because of what was changed since the journal had an
// extent: it may rest on notes that are none of its own.
func (p Proposal) isOutdated(v *call.Vault, j *journal.Journal, since journal.Extent) bool {
	if since == j.Extent() {
		return false
	}
	if p.Outdated == nil {
		return true
	}
	changes, all, err := j.Since(v.Ctx, since, maxSince)
	return err != nil || !all || slices.ContainsFunc(changes, p.Outdated)
}

// said is what is answered once a proposal is carried out.
func (p Proposal) said(v *call.Vault) answer.Reply {
	notices := []string{v.Origin.Left, p.Notice}
	if broken := p.Broken.breaks(); broken != "" {
		notices = append(notices, "the change "+broken)
	}
	notices = append(notices, p.leadElsewhere())
	said := answer.From(v.Disk, p.Message).About(p.Note)
	said.Notice = noticed(notices...)
	said.Change = p.change(v)
	said.LineEnds = p.lineEnds
	return said
}

// endUndone keeps of entries that are to be taken back that nothing of them is left.
func endUndone(j *journal.Journal, ids []string) error {
	for _, id := range ids {
		if err := j.End(id, journal.Outcome{State: journal.Undone}); err != nil {
			return unjournaled(err)
		}
	}
	return nil
}

// nothing says of a proposal without steps that nothing is done. said is what it would say else.
func (p Proposal) nothing(v *call.Vault, said answer.Reply) answer.Reply {
	if p.Undoes != "" || p.Ensures { // that it is so is all that was asked for
		return said
	}
	what := p.Already
	switch {
	case what != "":
	case p.Note == (disk.Path{}):
		what = "no note differs from what the call asks for"
	default:
		what = fmt.Sprintf("%q is as the call asks for already", named(p.Note.String()))
	}
	said = said.Saying(v.Disk, "Nothing was changed: "+what+".")
	said.Nothing = true
	said.Notice = noticed("nothing was changed: "+what, said.Notice)
	return said
}

// noticed returns the notice of all that is noticed, of which some may be empty.
func noticed(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(notice string) bool { return notice == "" }), "; ")
}

// isConflict reports whether an error says that another program has changed a file.
func isConflict(err error) bool {
	return err != nil && (errors.Is(err, fs.ErrExist) || answer.Explain(err).Kind.Code == protocol.CodeConflict)
}

// isLeft reports whether something of the change is left, or may be.
func (e ending) isLeft() bool { return len(e.made) > 0 || e.unseen && e.unsettled }

// partlyApplied says which files of a change are on which side, where other programs, or the disk, let it neither be completed
// nor be taken back.
func partlyApplied(id string, end ending, cause error) error {
	fault := &answer.Fault{Status: answer.ExitFailed, Made: end.made, Unmade: end.unmade}
	state := "The change is made in part"
	why := "because other programs changed notes at the same time"
	switch {
	case end.unsettled && end.unseen:
		fault.Kind = answer.Unsettled
		fault.Made = nil
		fault.Unmade = nil
		fault.Text = "Error: The disk let the change neither be completed nor be taken back, and does not tell how much of it is made."
	case end.unsettled:
		fault.Kind = answer.Unwritable.Advise(answer.Unsettled.Hint)
		state = "The change is made in part for now"
		why = "and the disk let it neither be completed nor be taken back"
	default:
		fault.Kind = answer.PartlyApplied.Advise("undo id=" + id + " takes back what was made")
	}
	if len(fault.Made) > 0 {
		fault.Text = fmt.Sprintf("Error: %s, %s. Changed: %s.", state, why, listed(end.made))
	}
	if len(fault.Unmade) > 0 {
		fault.Text += fmt.Sprintf(" Not changed by it: %s.", listed(end.unmade))
	}
	if cause != nil {
		fault.Text += " " + strings.TrimPrefix(answer.Explain(cause).Text(), "Error: ")
	}
	return fault
}

// listed names the first of some files.
func listed(names []string) string {
	return answer.AndMore(answer.List(names, maxBrokenNamed), len(names)-maxBrokenNamed)
}

// propose works out what a call would do, and refuses what the rules do not allow.
func propose(v *call.Vault, row Command, values call.Values, how protocol.Write) (Proposal, error) {
	v.Taken = nil
	p, err := row.Plan(v, values)
	if names := v.AmbiguousName(); err == nil && p.ReadAnswer == nil && names != "" {
		err = answer.Ambiguous.Failure(
			"Name %q is ambiguous: %s. Nothing was changed.",
			answer.Verbatim(values["file"]),
			names,
		)
	}
	if err == nil {
		err = refuseUnread(v)
	}
	if err == nil {
		p.noteOrigins(v)
		p.Steps, err = mergeSteps(p.Steps)
	}
	if err == nil {
		declared, _ := allowlist.Describe(row.Name)
		p.destroys = declared.DestroysNote
		err = cmp.Or(
			p.traceLinks(v),
			p.restore(v),
			p.findCarried(v, how.Addresses),
			p.assessLoss(v),
			budget.From(v.Ctx).Exceeded(),
			judge(v, p),
			p.suits(),
		)
	}
	if err != nil {
		return Proposal{}, err
	}
	return p, nil
}

// refuseUnread refuses a change for which many notes were looked at, of which one cannot be read: a link, a tag or a text
// in it would stay as it is. Where the texts of notes say who may see them, the names of such notes are not told.
func refuseUnread(v *call.Vault) error {
	unread := v.Unread()
	if len(unread) == 0 {
		return nil
	}
	which := answer.NotesOrFolders(len(unread))
	if !v.Disk.Judges() {
		which = listed(unread)
	}
	return answer.Unread.Failure(
		"Nothing was changed: the change concerns notes that cannot be read (%s), so that a part of it would be missing.",
		which,
	)
}

// MarkCut is the failure of a change that would leave a part of the mark of a secret.
var MarkCut = answer.BadValue.Advise("leave the mark whole, or replace all of it").
	Failure("By this change a part of the mark of a secret would be left, and the secret lost.")

// restore puts the secrets of the notes back into what was worked out from texts with marks.
// What takes back a change has the texts of the journal, which have none.
func (p *Proposal) restore(v *call.Vault) error {
	if !v.Disk.IsRedacted() || p.Undoes != "" {
		return nil
	}
	shown := make([][]byte, len(p.Steps)) // the texts before, as the caller sees them
	var texts [][]byte
	for i := range p.Steps {
		s := &p.Steps[i]
		shown[i] = s.Before.Text.ForProgram()
		if guard.HasMark(shown[i]) {
			now, err := CurrentState(v, s.source())
			if err != nil || !bytes.Equal(v.Judged(now.Text).Bytes(), shown[i]) && !now.Equal(s.Before) {
				return cmp.Or(
					err,
					answer.Conflict.Failure(
						"Conflict: %q was changed while the change was worked out.",
						named(s.source().String()),
					),
				)
			}
			s.Before = now
		}
		texts = append(texts, s.Before.Text.ForProgram())
	}
	secrets := v.Restorer(texts...)
	for i := 0; i <= len(p.Steps); i++ {
		isStep := i < len(p.Steps)
		text := p.asGiven
		if isStep {
			text = p.Steps[i].After.Text.ForProgram()
		}
		marked, err := secrets.Marked(text)
		if err == nil && isStep && guard.HasMark(shown[i]) && guard.Cuts(shown[i], marked) {
			return MarkCut
		}
		if err == nil {
			marked, err = secrets.Restored(marked)
		}
		var near *guard.NearMark
		switch {
		case budget.From(v.Ctx).Exceeded() != nil:
			return cmp.Or(err, budget.From(v.Ctx).Exceeded())
		case errors.As(err, &near):
			return answer.BadValue.Advise("write the mark as it was shown, with its brackets").
				Failure("Secret not recognized: %v.", err)
		case errors.Is(err, guard.ErrExposed):
			return answer.BadValue.Advise("keep the mark where it is, with the name in front of it").
				Failure("Secret not recognized: by this change %v.", err)
		case err != nil:
			return answer.BadValue.Advise("the mark of a secret can be written only into the note that has the secret").
				Failure("%v.", err)
		}
		if isStep {
			p.Steps[i].After.Text = guard.NewUnjudged(marked)
		} else {
			p.asGiven = marked
		}
	}
	return nil
}

// takesBack returns the entries that a proposal takes back.
func (p Proposal) takesBack() []string {
	return journal.Entry{Undoes: p.Undoes, Also: p.Also}.TakesBack()
}

func (p Proposal) answer() answer.Reply {
	if p.ReadAnswer != nil {
		return *p.ReadAnswer
	}
	return answer.Reply{}
}

// entry is what the journal keeps of a call: never a value, but the names of
// its parameters.
func entry(v *call.Vault, row Command, values call.Values, how protocol.Write, p Proposal) journal.Entry {
	now := v.Host.Now()
	id := how.Entry
	if id == "" {
		id = journal.NewID(now)
	}
	e := journal.Entry{
		ID: id, Time: now, Session: v.Host.Env(SessionVariable), Caller: how.Caller, Client: how.Client, Command: row.Name, Backend: embedded,
		Batch: how.Batch, Grant: how.Grant, Proposal: how.Proposal, Undoes: p.Undoes, Also: p.Also,
	}
	for name := range values {
		e.Params = append(e.Params, name)
	}
	slices.Sort(e.Params)
	return e
}

// ImageOf returns what the journal keeps of a state: the hash of its bytes.
func ImageOf(c FileState) journal.Image {
	if !c.Exists {
		return journal.Image{}
	}
	if c.Image.Exists {
		return c.Image
	}
	return journal.ImageOf(c.Text.ForProgram()) // of a folder it is that of an empty file
}

// kept is the path of the step in the journal: that of a folder ends with a slash.
func (s Step) kept() string {
	if s.Before.Folder || s.After.Folder {
		return s.Path.String() + "/"
	}
	return s.Path.String()
}

// StepPath returns a path in an entry as the disk has it.
func StepPath(v *call.Vault, text string) (disk.Path, error) {
	at, err := ParseStepPath(text)
	if err != nil {
		return at, err
	}
	return v.NameOnDisk(at)
}

// ParseStepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func ParseStepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(strings.TrimSuffix(text, "/")) // with the slash it is a folder
}

// change is what the answer says of the note that it is about.
func (p Proposal) change(v *call.Vault) *answer.Change {
	var made *answer.Change
	for _, s := range p.Steps {
		if s.Path != p.Note {
			continue
		}
		if made == nil {
			var total edit.LineCounts
			for _, s := range p.Steps {
				one := s.lines()
				total.Added += one.Added
				total.Removed += one.Removed
			}
			made = &answer.Change{Before: hashAt(v, s.source(), s.Before), Lines: total, Destructive: p.loses != ""}
		}
		made.After = hashAt(v, s.Path, s.After)
	}
	return made
}

// fits refuses a proposal that is not the one that the caller knows. One that is destructive and was not
// approved is refused if it is to be, and always if it adds an address with text of another note.
func fits(v *call.Vault, p Proposal, how protocol.Write) error {
	if how.Approved != "" && how.Approved != digestOf(v, p) {
		return answer.Conflict.Failure(
			"Conflict: the change is not the one that was approved, because notes were changed since.",
		)
	}
	if err := p.expects(v, how.Expect); err != nil {
		return err
	}
	if why := p.loses; why != "" && (how.Sparing || p.carried.asks && how.Approved == "") {
		return answer.Unapproved.Failure("Approval required: the change %s. Nothing was changed.", why)
	}
	return nil
}

// expects refuses a proposal if its note is not the one that the caller knows.
func (p Proposal) expects(v *call.Vault, hash string) error {
	if hash == "" {
		return nil
	}
	for _, s := range p.Steps {
		if s.Path != p.Note && s.From != p.Note {
			continue
		}
		if now := cmp.Or(hashAt(v, s.source(), s.Before), "none"); now != hash && !s.changesPartOf(v, hash) {
			return answer.Conflict.Failure(
				"Conflict: %q has the hash %s, not %s.",
				answer.Verbatim(p.Note.String()),
				now,
				hash,
			)
		}
		return nil
	}
	return answer.Conflict.Failure("Conflict: the call concerns no note that has a hash.")
}

// digestOf returns the digest of a change: of the files as they are, of what they
// would become and of the way there. A user who was shown a plan approves the
// change with its digest, and another change has another one.
//
// The text that a template makes at another minute is another text, so there the
// template counts in its place.
func digestOf(v *call.Vault, p Proposal) string {
	hash := sha256.New()
	item := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	state := func(c FileState) { // without a copy of the text
		fmt.Fprintf(hash, "%d:", c.Text.Len()+len(c.Image.Hash))
		hash.Write(c.Text.ForProgram())
		hash.Write([]byte(c.Image.Hash))
	}
	item(v.Origin.Text)
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		item(s.Path.String())
		item(s.From.String())
		fmt.Fprintf(hash, "%t %t %t;", s.Trash, s.Before.Exists, s.Before.Folder || s.After.Folder)
		state(s.Before)
		fmt.Fprintf(hash, "%t %t;", s.After.Exists, v.Origin.Timed)
		if !v.Origin.Timed {
			state(s.After)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
