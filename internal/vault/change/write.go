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

// SessionVariable is the environment variable with the ID of the session on whose behalf this program writes.
// The journal records it.
const SessionVariable = "VAULTWICKET_SESSION"

// Command is a command of the embedded CLI that may change the vault.
type Command struct {
	Name string
	// Plan works out the effect of a request. It must not change anything.
	Plan      func(*call.Vault, call.Values) (Proposal, error)
	OnlyReads func(call.Values) bool // reports whether a request only reads; nil for never
	Verify    Verifier               // judges a file that the app left unlike the plan; nil rejects it
	// Elsewhere returns the other paths at which the app may create the new note if time passes after the plan;
	// nil for none.
	Elsewhere func(*call.Vault, call.Values) ([]disk.Path, error)
}

// Write carries out a command that may change the vault, in the way that how asks for: planned only, as part of
// a batch, with the app as the writer, or at once. A change is made while no other process of this program
// writes, recorded in the journal before any file is touched, and verified afterwards.
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

// Limits of the attempts to plan and make a change while others write.
const (
	// maxPlans is how often it is planned without the lock of the journal. After that it is planned under the lock.
	maxPlans = 3
	// maxAttempts is how often it is attempted in all. Programs that do not use the same journal can prevent it also
	// under the lock: other programs than this one, and this one with another state folder.
	maxAttempts = 30
)

// carryOut plans and makes the change that a call asks for. It plans without the lock of the journal, so that
// no other writer has to wait, and plans again if a file has changed meanwhile.
func carryOut(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	how.Entry = cmp.Or(how.Entry, journal.NewID(v.Host.Now())) // all attempts are one change in the journal
	for n := 1; ; n++ {
		reply, err := attempt(v, j, row, values, how, n > maxPlans)
		var overtaken *overtakenError
		switch {
		case errors.As(err, &overtaken):
			if n >= maxAttempts {
				return answer.Reply{}, overtaken.conflict
			}
		case !errors.Is(err, errStale):
			return reply, err
		}
	}
}

// overtakenError is returned if another program changed the file of a change before it was made. Nothing of the
// change is made.
type overtakenError struct{ conflict error }

func (e *overtakenError) Error() string { return e.conflict.Error() }

// errStale is returned if files changed after the change was planned on them.
var errStale = errors.New("was changed while the change was worked out")

// attempt plans a change and makes it, under the lock of the journal. With alone, it also plans under the lock.
// It returns errStale or an *overtakenError if the change should be planned again.
func attempt(
	v *call.Vault,
	j *journal.Journal,
	row Command,
	values call.Values,
	how protocol.Write,
	alone bool,
) (answer.Reply, error) {
	var p Proposal
	extent := j.Extent()
	if !alone {
		var err error
		if p, err = propose(v, row, values, how); err != nil || p.ReadAnswer != nil {
			return p.answer(), err
		}
	}
	isOutdated := func(since journal.Extent) bool {
		mayRestOnOthers := !alone && len(p.Steps) > 1
		return mayRestOnOthers && p.isOutdated(v, j, since)
	}
	plannedOn := basis{journal: j, since: extent, isOutdated: isOutdated}
	if err := plannedOn.check(); err != nil { // before other writers have to wait
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
	// The turn is not lent for a change that may depend on any note: while another process keeps writing, such a
	// change would always be outdated.
	isLent := !alone && p.Outdated != nil && turn.lend(len(p.Steps))
	if err := plannedOn.check(); err != nil {
		return answer.Reply{}, err
	}
	if err := checkExpected(v, p, how); err != nil {
		return answer.Reply{}, err
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	reply := p.successReply(v)
	if len(p.Steps) == 0 {
		return p.unchangedReply(v, reply), endUndone(j, p.takesBack())
	}
	requiresExactState := how.Approved != "" || how.Expect != "" // the user approved it, or the caller named the hash
	t, err := newTransaction(v, j, turn, p, entry(v, row, values, how, p))
	if err == nil {
		defer t.close()
		t.mergesAppends = !requiresExactState
		err = t.compare(alone)
	}
	if err == nil && isLent {
		err = t.endLending(&plannedOn)
	}
	if isConflict(err) && how.Approved == "" && !alone {
		return answer.Reply{}, errStale
	}
	mayRepeat := how.Approved == "" && len(p.Steps) == 1 && p.Steps[0].changesOneText()
	if isConflict(err) && mayRepeat {
		return answer.Reply{}, &overtakenError{err}
	}
	if err != nil {
		return answer.Reply{}, err
	}
	end, err := t.run()
	isUnmade := end.state == unmade && !end.isLeft()
	if isConflict(err) && isUnmade && mayRepeat {
		return answer.Reply{}, &overtakenError{err}
	}
	reply.Entry = t.entry.ID
	reply.Overtaken = end.overtaken
	reply.Notice = reply.Notice.And(end.beside...)
	if end.isLeft() {
		return reply, partlyApplied(t.entry.ID, end, err)
	}
	if end.state == made && err == nil {
		reply.Change = Proposal{Steps: t.steps, Note: p.Note, loses: p.loses}.change(v)
	}
	return reply, err
}

// basis is the state of the journal on which a change was planned.
type basis struct {
	journal    *journal.Journal
	since      journal.Extent // of the journal, at the last check
	isOutdated func(since journal.Extent) bool
}

// check returns errStale if other changes since the last check make the plan outdated.
func (b *basis) check() error {
	now := b.journal.Extent()
	if b.isOutdated(b.since) {
		return errStale
	}
	b.since = now
	return nil
}

// maxSince limits the changes by others that are examined. With more, the change is planned again instead.
const maxSince = 1000

// isOutdated reports whether planning again could give another proposal, because of changes since the journal
// had the extent: a proposal may depend on notes that it does not change.
func (p Proposal) isOutdated(v *call.Vault, j *journal.Journal, since journal.Extent) bool {
	if since == j.Extent() {
		return false
	}
	if p.Outdated == nil {
		return true
	}
	changes, isComplete, err := j.Since(v.Ctx, since, maxSince)
	return err != nil || !isComplete || slices.ContainsFunc(changes, p.Outdated)
}

// successReply returns the reply for a proposal that is carried out.
func (p Proposal) successReply(v *call.Vault) answer.Reply {
	notice := v.Origin.Left.And(p.Notice)
	if broken := p.Broken.breaks(); broken != "" {
		notice = notice.And(answer.Remark("the change %s", broken))
	}
	reply := answer.From(v.Disk, p.Message).About(p.Note)
	reply.Notice = notice.And(answer.Remark("%s", p.leadElsewhere()))
	reply.Change = p.change(v)
	reply.LineEnds = p.lineEnds
	return reply
}

// endUndone records that nothing remains of the entries with these IDs.
func endUndone(j *journal.Journal, ids []string) error {
	for _, id := range ids {
		if err := j.End(id, journal.Outcome{State: journal.Undone}); err != nil {
			return unjournaled(err)
		}
	}
	return nil
}

// unchangedReply returns the reply for a proposal without steps. reply is that of a proposal that is carried
// out.
func (p Proposal) unchangedReply(v *call.Vault, reply answer.Reply) answer.Reply {
	if p.Undoes != "" || p.Ensures { // the state that was asked for is reached
		return reply
	}
	reason := p.Already
	switch {
	case reason != "":
	case p.Note == (disk.Path{}):
		reason = "no note differs from what the call asks for"
	default:
		reason = fmt.Sprintf("%q is as the call asks for already", quotable(p.Note.String()))
	}
	reply = reply.Saying(v.Disk, "Nothing was changed: "+reason+".")
	reply.Nothing = true
	reply.Notice = answer.Remark("nothing was changed: %s", reason).And(reply.Notice)
	return reply
}

// isConflict reports whether an error means that another program changed a file.
func isConflict(err error) bool {
	return err != nil && (errors.Is(err, fs.ErrExist) || answer.Explain(err).Kind.Code == protocol.CodeConflict)
}

// isLeft reports whether some of the change remains on the disk, or may remain.
func (e ending) isLeft() bool { return len(e.made) > 0 || e.unseen && e.unsettled }

// partlyApplied returns the error for a change that can neither be completed nor undone, because of other
// programs or the disk. It lists which files are changed and which are not.
func partlyApplied(id string, end ending, cause error) error {
	reason := ""
	if cause != nil {
		reason = " " + strings.TrimPrefix(answer.Explain(cause).Text(), "Error: ")
	}
	if end.unsettled && end.unseen {
		return answer.Unsettled.InPart(
			answer.Part{},
			"The disk let the change neither be completed nor be taken back, and does not tell how much of it is made.%s",
			reason,
		)
	}
	kind := answer.PartlyApplied.Advise("undo id=" + id + " takes back what was made")
	state := "The change is made in part, because other programs changed notes at the same time."
	if end.unsettled {
		kind = answer.Unwritable.Advise(answer.Unsettled.Hint)
		state = "The change is made in part for now, and the disk let it neither be completed nor be taken back."
	}
	if len(end.made) > 0 {
		state += " Changed: " + listed(end.made) + "."
	}
	if len(end.unmade) > 0 {
		state += " Not changed by it: " + listed(end.unmade) + "."
	}
	if len(end.moved) > 0 {
		state += " Only moved, with the old text: " + listed(end.moved) + "."
	}
	return kind.InPart(answer.Part{Made: end.made, Moved: end.moved, Unmade: end.unmade}, "%s%s", state, reason)
}

// listed returns the first of some names, and how many more there are.
func listed(names []string) string {
	return answer.AndMore(answer.List(names, maxBrokenNamed), len(names)-maxBrokenNamed)
}

// propose plans a change and checks it against the rules.
func propose(v *call.Vault, row Command, values call.Values, how protocol.Write) (Proposal, error) {
	v.Taken = nil
	p, err := row.Plan(v, values)
	names := v.AmbiguousName()
	isChange := err == nil && p.ReadAnswer == nil
	if isChange && names != (answer.Notice{}) {
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
		p.recordOrigins(v)
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
			checkAccess(v, p),
			p.checkFileKinds(v),
		)
	}
	if err != nil {
		return Proposal{}, err
	}
	return p, nil
}

// refuseUnread returns an error if one of the notes that planning the change needed cannot be read: a link, a
// tag or a text in it would be left unchanged. If the texts of notes decide who may see them, the names of
// unreadable notes are not revealed.
func refuseUnread(v *call.Vault) error {
	unread := v.Unread()
	if len(unread) == 0 {
		return nil
	}
	names := answer.NotesOrFolders(len(unread))
	if !v.Disk.Judges() {
		names = listed(unread)
	}
	return answer.Unread.Failure(
		"Nothing was changed: the change concerns notes that cannot be read (%s), so that a part of it would be missing.",
		names,
	)
}

// MarkCut is the error for a change that would leave only a part of a secret's mark.
var MarkCut = answer.BadValue.Advise("leave the mark whole, or replace all of it").
	Failure("By this change a part of the mark of a secret would be left, and the secret lost.")

// restore puts the secrets back into texts that were derived from texts with marks in place of secrets. An undo
// has the texts of the journal, which contain no marks.
func (p *Proposal) restore(v *call.Vault) error {
	if !v.Disk.IsRedacted() || p.Undoes != "" {
		return nil
	}
	visible := make([][]byte, len(p.Steps)) // texts before the change, as the caller sees them
	var texts [][]byte
	for i := range p.Steps {
		s := &p.Steps[i]
		visible[i] = s.Before.Text.ForProgram()
		if guard.HasMark(visible[i]) {
			now, err := CurrentState(v, s.source())
			if err != nil {
				return err
			}
			isUnchanged := bytes.Equal(v.Judged(now.Text).Bytes(), visible[i]) || now.Equal(s.Before)
			if !isUnchanged {
				return answer.Conflict.Failure(
					"Conflict: %q was changed while the change was worked out.",
					quotable(s.source().String()),
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
		mayCutMark := isStep && guard.HasMark(visible[i])
		if err == nil && mayCutMark && guard.Cuts(visible[i], marked) {
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

// takesBack returns the IDs of the entries that a proposal undoes.
func (p Proposal) takesBack() []string {
	return journal.Entry{Undoes: p.Undoes, Also: p.Also}.TakesBack()
}

func (p Proposal) answer() answer.Reply {
	if p.ReadAnswer != nil {
		return *p.ReadAnswer
	}
	return answer.Reply{}
}

// entry returns the journal entry of a call. It has the names of the parameters, but never their values.
func entry(v *call.Vault, row Command, values call.Values, how protocol.Write, p Proposal) journal.Entry {
	now := v.Host.Now()
	id := how.Entry
	if id == "" {
		id = journal.NewID(now)
	}
	e := journal.Entry{
		ID:       id,
		Time:     now,
		Session:  v.Host.Env(SessionVariable),
		Caller:   how.Caller,
		Client:   how.Client,
		Command:  row.Name,
		Backend:  embedded,
		Batch:    how.Batch,
		Grant:    how.Grant,
		Proposal: how.Proposal,
		Undoes:   p.Undoes,
		Also:     p.Also,
	}
	for name := range values {
		e.Params = append(e.Params, name)
	}
	slices.Sort(e.Params)
	return e
}

// ImageOf returns the hash and size of a state, as the journal records them.
func ImageOf(c FileState) journal.Image {
	if !c.Exists {
		return journal.Image{}
	}
	if c.Image.Exists {
		return c.Image
	}
	return journal.ImageOf(c.Text.ForProgram()) // a folder has the image of an empty file
}

// journalPath returns the path of the step in the journal. The path of a folder ends with a slash.
func (s Step) journalPath() string {
	if s.Before.Folder || s.After.Folder {
		return s.Path.String() + "/"
	}
	return s.Path.String()
}

// StepPath returns the path of a journal step, as the file is spelled on the disk.
func StepPath(v *call.Vault, text string) (disk.Path, error) {
	at, err := ParseStepPath(text)
	if err != nil {
		return at, err
	}
	return v.NameOnDisk(at)
}

// ParseStepPath parses the path of a journal step. It applies the checks for untrusted paths.
func ParseStepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(strings.TrimSuffix(text, "/")) // the path of a folder ends with a slash
}

// change returns the part of the answer that describes what happened to the note of the proposal, nil if no
// step concerns it.
func (p Proposal) change(v *call.Vault) *answer.Change {
	var result *answer.Change
	for _, s := range p.Steps {
		if s.Path != p.Note {
			continue
		}
		if result == nil {
			var total edit.LineCounts
			for _, s := range p.Steps {
				counts := s.lines()
				total.Added += counts.Added
				total.Removed += counts.Removed
			}
			result = &answer.Change{Before: hashAt(v, s.source(), s.Before), Lines: total, Destructive: p.loses != ""}
		}
		result.After = hashAt(v, s.Path, s.After)
	}
	return result
}

// checkExpected refuses a proposal that is not the one that the caller approved or expects. An unapproved
// destructive one is refused if how.Sparing is set, and always if it adds an address that may carry text of
// another note.
func checkExpected(v *call.Vault, p Proposal, how protocol.Write) error {
	if how.Approved != "" && how.Approved != digestOf(v, p) {
		return answer.Conflict.Failure(
			"Conflict: the change is not the one that was approved, because notes were changed since.",
		)
	}
	if err := p.expects(v, how.Expect); err != nil {
		return err
	}
	needsApproval := how.Sparing || p.carried.asks && how.Approved == ""
	if needsApproval && p.loses != "" {
		return answer.Unapproved.Failure("Approval required: the change %s. Nothing was changed.", p.loses)
	}
	return nil
}

// expects returns a conflict unless the note of the proposal has the hash; "" accepts any state.
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

// digestOf returns the digest of a change: of the states of the files before and after it, and of the steps
// between them. A user who was shown a plan approves the change by its digest; any other change has another
// digest.
//
// A template that inserts the time makes another text every minute. For such a change, the text of the template
// is hashed in place of the result.
func digestOf(v *call.Vault, p Proposal) string {
	hash := sha256.New()
	item := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	state := func(c FileState) { // avoids a copy of the text
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
