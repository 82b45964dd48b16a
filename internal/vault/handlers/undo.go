package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// undo plans to undo a change as a whole. The undo is a change itself, so undoing it makes the first change again.
func undo(v *call.Vault, p call.Values) (change.Proposal, error) {
	j, err := v.Journal()
	if err != nil {
		return change.Proposal{}, err
	}
	entries, left, err := requestedEntries(v, j, p)
	if err != nil {
		return change.Proposal{}, err
	}
	own := func(e journal.Entry) bool { return e.Caller == v.Caller || isOwn(v, e) }
	if entries == nil {
		last, err := latestUndo(v, j, own, func(journal.Entry) bool { return false })
		if err != nil {
			return change.Proposal{}, err
		}
		if last.entries == nil {
			return change.Proposal{}, answer.Failure("Nothing to undo.")
		}
		last.proposal.Latest = true
		last.proposal.Outdated = own // after another change of the caller, that one is the last
		return last.proposal, last.refusal
	}
	// The request names entries, so a change that was made needs no proposal to count as the last one.
	last, err := latestUndo(v, j, own, func(e journal.Entry) bool { return e.State == journal.Done })
	if err != nil {
		return change.Proposal{}, err
	}
	conflicts := refuseConflicts
	if p.Has("session") || strings.Contains(p["id"], ",") {
		conflicts = skipConflicts
	}
	proposal, err := planUndo(v, j, entries, left, conflicts)
	proposal.Outdated = own
	proposal.Latest = last.hasAll(entries)
	return proposal, err
}

// latest is the last undoable change of the caller.
type latest struct {
	entries  []journal.Entry // newest first; nil if there is no such change
	proposal change.Proposal // to undo it, unless it was found without one
	refusal  error           // why it cannot be undone
}

// hasAll reports whether there is a last change, and it contains all of some entries.
func (l latest) hasAll(entries []journal.Entry) bool {
	if l.entries == nil {
		return false
	}
	ids := answer.Map(l.entries, func(e journal.Entry) string { return e.ID })
	isOther := func(e journal.Entry) bool { return !slices.Contains(ids, e.ID) }
	return !slices.ContainsFunc(entries, isOther)
}

// latestUndo finds the caller's last undoable change, except failed changes that left no trace. A batch counts as one
// change. The undo is not planned for an entry for which isEnough is true.
func latestUndo(
	v *call.Vault, j *journal.Journal, own, isEnough func(journal.Entry) bool,
) (latest, error) {
	filter := journal.Filter{Caller: v.Caller, Undoable: true}
	if agent := ownerfiles.AgentOf(v.Caller); agent != "" { // changes of all sessions of the agent
		filter = journal.Filter{Agent: agent, Undoable: true}
	}
	isBatchSeen := map[string]bool{}
	for e, err := range newestFirst(v, j, filter) {
		if err != nil {
			return latest{}, err
		}
		if !own(e) || !e.SeenBy(v.SeesPlace) || isBatchSeen[e.Batch] {
			continue
		}
		together := []journal.Entry{e}
		if e.Batch != "" {
			isBatchSeen[e.Batch] = true
			isOfCaller := func(other journal.Entry) bool { return other.Caller == e.Caller }
			together, _, err = undoableEntries(v, j, journal.Filter{Batch: e.Batch}, isOfCaller)
			if err != nil {
				continue // a part of it is hidden, so it does not exist for the caller
			}
		}
		if isEnough(e) {
			return latest{entries: together}, nil
		}
		proposal, refusal := planUndo(v, j, together, 0, refuseConflicts)
		if refusal != nil || len(proposal.Steps) > 0 || e.State == journal.Done {
			return latest{entries: together, proposal: proposal, refusal: refusal}, nil
		}
	}
	return latest{}, nil
}

// requestedEntries returns the entries that a request names, newest first, nil if it names none; and how many older
// ones exceed the limit of one call.
func requestedEntries(v *call.Vault, j *journal.Journal, p call.Values) (entries []journal.Entry, left int, err error) {
	names := p.Given("id", "batch", "session")
	switch {
	case len(names) == 0:
		return nil, 0, nil
	case len(names) > 1:
		return nil, 0, answer.Misuse("Use %s=<id> or %s=<id>, not both.", names[0], names[1])
	}
	name := names[0]
	if name == "batch" {
		entries, left, err := undoableEntries(
			v,
			j,
			journal.Filter{Batch: p[name]},
			func(e journal.Entry) bool { return e.Batch != "" },
		)
		if err == nil {
			return entries, left, nil
		}
	}
	if name == "id" {
		ids := strings.Split(p[name], ",")
		slices.Sort(ids) // by time
		ids = slices.Compact(ids)
		left := max(0, len(ids)-maxLooked)
		for _, id := range slices.Backward(ids[left:]) {
			e, err := entryOf(v, j, id)
			if err == nil && e.State == journal.Undone {
				err = answer.Failure("Change %s is already undone.", e.ID)
			}
			if err != nil {
				return nil, 0, err
			}
			entries = append(entries, e)
		}
		return entries, left, nil
	}
	e, err := entryOf(v, j, p[name])
	switch {
	case err != nil:
		return nil, 0, err
	case name == "batch" && e.Batch == "":
		return nil, 0, answer.Failure("Change %s belongs to no batch.", e.ID)
	}
	if name == "batch" {
		return undoableEntries(v, j, journal.Filter{Batch: e.Batch}, nil)
	}
	return undoableEntries(v, j, journal.Filter{Session: e.Session}, func(other journal.Entry) bool {
		return other.Session == e.Session && other.Caller == e.Caller
	})
}

// entryOf returns the entry with an id, if the caller may see all notes that it changed.
func entryOf(v *call.Vault, j *journal.Journal, id string) (journal.Entry, error) {
	if _, err := journal.ParseID(id); err != nil {
		return journal.Entry{}, answer.MisuseWithHint(
			answer.NotFoundID.Hint,
			"Invalid value for id: %s",
			answer.Verbatim(id),
		)
	}
	e, err := j.Entry(v.Ctx, id)
	_, unknown := errors.AsType[*journal.Unknown](err)
	switch {
	case err != nil && !unknown:
		return e, answer.NoJournal.Failure("Cannot use the journal: %v", err)
	case unknown, !e.SeenBy(v.SeesPlace), ofOtherAgent(v, e):
		return e, answer.NotFoundID.Failure("Change %q not found.", answer.Verbatim(id))
	}
	return e, nil
}

// ofOtherAgent reports whether the caller is an agent and the change is not one of that agent, so that it does not
// exist for the caller.
func ofOtherAgent(v *call.Vault, e journal.Entry) bool {
	agent := ownerfiles.AgentOf(v.Caller)
	return agent != "" && ownerfiles.AgentOf(e.Caller) != agent
}

// maxTogether is how many changes one call undoes, the newest first, because all their texts are in memory. Repeating
// the request continues with the older ones. maxLooked is how many entries are examined for that, as some may be
// skipped.
const (
	maxTogether = 1000
	maxLooked   = 4 * maxTogether
)

// undoableEntries returns the newest changes of a filter that can be undone: neither undone already nor an undo. left
// is the number of older ones beyond maxLooked. same selects among them, nil selects all. If one of them changed a
// hidden note, it returns the same error as for none.
func undoableEntries(
	v *call.Vault,
	j *journal.Journal,
	filter journal.Filter,
	same func(journal.Entry) bool,
) (entries []journal.Entry, left int, err error) {
	filter.Undoable = true
	for e, err := range newestFirst(v, j, filter) {
		switch {
		case err != nil:
			return nil, 0, err
		case same != nil && !same(e):
			continue
		case !e.SeenBy(v.SeesPlace) || ofOtherAgent(v, e):
			return nil, 0, answer.Failure("Nothing to undo.")
		case len(entries) == maxLooked:
			left++
			continue
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil, 0, answer.Failure("Nothing to undo.")
	}
	return entries, left, nil
}

// newestFirst iterates over the entries of a filter, newest first. If the journal cannot be read, it ends with an
// error.
func newestFirst(v *call.Vault, j *journal.Journal, filter journal.Filter) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		isDone := false
		_, err := j.Each(v.Ctx, filter, func(e journal.Entry) bool {
			isDone = !yield(e, nil)
			return !isDone
		})
		if err != nil && !isDone {
			yield(journal.Entry{}, answer.NoJournal.Failure("Cannot use the journal: %v", err))
		}
	}
}

// isOwn reports whether the caller, or another session of its agent, made a change.
func isOwn(v *call.Vault, e journal.Entry) bool {
	if e.Caller == "" {
		return false
	}
	if e.Caller == v.Caller {
		return true
	}
	agent := ownerfiles.AgentOf(v.Caller)
	return agent != "" && ownerfiles.AgentOf(e.Caller) == agent
}

// conflictRule is what happens if the notes of an entry were changed since, or if the journal no longer keeps a text.
type conflictRule int

const (
	refuseConflicts conflictRule = iota // undo nothing
	skipConflicts                       // skip the entry and report it; an error if no entry remains
)

// planUndo returns the proposal to undo entries, which are newest first. left is the number of older entries that the
// request also means.
func planUndo(
	v *call.Vault,
	j *journal.Journal,
	entries []journal.Entry,
	left int,
	conflicts conflictRule,
) (change.Proposal, error) {
	p := change.Proposal{OwnChange: true}
	kept, err := j.Reader()
	if err != nil {
		return p, answer.Failure("Cannot use the journal: %v", err)
	}
	defer kept.Close()
	ahead := outlook{v: v, kept: kept, ahead: map[disk.Path]change.FileState{}, texts: new(int)}
	var lines []string
	var firstConflict error
	changed := 0
	withoutText := 0
	undone := 0
	for i, e := range entries {
		if undone == maxTogether {
			left += len(entries) - i
			break
		}
		var note disk.Path
		if len(e.Steps) > 0 {
			// takeBack reports an invalid path.
			note, _ = change.StepPath(v, e.Steps[0].Source())
		}
		line := fmt.Sprintf("%s %s %s", e.ID, e.Command, note)
		if more := len(e.Steps) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		steps := p.Steps
		aheadBefore := maps.Clone(ahead.ahead)
		if err := ahead.takeBack(j, e, &p); err != nil {
			isUnkept := errors.As(err, new(*unkeptText))
			isChanged := answer.Explain(err).Kind == answer.UndoConflict
			isConflict := isUnkept || isChanged
			if conflicts != skipConflicts || !isConflict {
				return change.Proposal{}, err
			}
			firstConflict = cmp.Or(firstConflict, err)
			p.Steps = steps
			ahead.ahead = aheadBefore
			why := "it was changed since"
			if isUnkept {
				why = "its text is no longer kept"
				withoutText++
			} else {
				changed++
			}
			lines = append(lines, "Not undone, because "+why+": "+line)
			continue
		}
		undone++
		for _, folder := range slices.Backward(e.Folders) {
			if path, err := disk.ParseFolder(folder); err == nil {
				p.Emptied = append(p.Emptied, path)
			}
		}
		p.OwnChange = p.OwnChange && isOwn(v, e) && e.Undoes == ""
		if p.Undoes == "" {
			p.Undoes = e.ID
		} else {
			p.Also = append(p.Also, e.ID)
		}
		if p.Note == (disk.Path{}) {
			p.Note = note
		}
		lines = append(lines, "Undone: "+line)
	}
	if p.Undoes == "" {
		return change.Proposal{}, firstConflict
	}
	slices.SortStableFunc(lines, func(a, b string) int { // lines with "Undone" before those with "Not undone"
		return cmp.Compare(b[:1], a[:1])
	})
	p.Message = strings.Join(lines, "\n")
	p.Notice = countUndone(undone, changed, withoutText, left)
	return p, nil
}

// countUndone describes how many of several changes are undone and how many are not. There is no remark if all are
// undone.
func countUndone(undone, changed, withoutText, left int) (counts answer.Notice) {
	if changed+withoutText+left == 0 {
		return answer.Notice{}
	}
	counts = answer.Remark("%d of %s are undone", undone, answer.Count(undone+changed+withoutText+left, "change"))
	if changed > 0 {
		counts = counts.And(answer.Remark("%d are left as they are, because their notes were changed since", changed))
	}
	if withoutText > 0 {
		counts = counts.And(answer.Remark("%d are left as they are, because their texts are no longer kept", withoutText))
	}
	if left > 0 {
		counts = counts.And(answer.Remark("%d older ones are left, which the same call takes back next", left))
	}
	return counts
}

// outlook is the vault as it will be after the steps planned so far.
type outlook struct {
	v     *call.Vault
	kept  *journal.Reader
	ahead map[disk.Path]change.FileState // the files that the steps change
	texts *int                           // bytes of the texts in memory
}

// current returns the state of a file after the planned steps. read returns it as it is on the disk.
func (o outlook) current(path disk.Path, read func() (change.FileState, error)) (change.FileState, error) {
	if h, ok := o.ahead[path]; ok {
		return h, nil
	}
	return read()
}

// located is where the file of a step of the journal was, and what is there now.
type located struct {
	journal.Step
	was, is disk.Path // before and after the step, usually the same
	now     change.FileState
	err     error // of the paths
	nowErr  error // of reading now
}

// Limits of the steps that are looked at concurrently: bytes of texts, which one file may exceed, and steps.
const (
	maxLocatedTexts = 1 << 20
	maxLocated      = 1024
)

// locateSome returns the first of some steps with their places. It looks at several concurrently, because each waits for
// the disk.
func (o outlook) locateSome(steps []journal.Step) []located {
	var some []located
	var texts int64
	for _, step := range steps[:min(len(steps), maxLocated)] {
		texts += step.After.Size
		if len(some) > 0 && texts > maxLocatedTexts {
			break
		}
		some = append(some, located{Step: step})
	}
	_, _ = budget.WaitForEach(len(some), func(i int) error {
		o.locate(&some[i])
		return o.v.Ctx.Err()
	})
	return some
}

// locate finds the paths of a step, and reads the file.
func (o outlook) locate(l *located) {
	if l.is, l.err = change.StepPath(o.v, l.Path); l.err != nil {
		return
	}
	if l.was, l.err = change.ParseStepPath(l.Source()); l.err != nil {
		return
	}
	if l.was, l.err = o.v.Disk.Renamed(l.is, l.was); l.err != nil {
		return
	}
	if _, isPlanned := o.ahead[l.is]; !isPlanned {
		l.now, l.nowErr = change.StateAt(o.v, l.is, l.Path)
	}
}

// takeBack adds the steps that undo an entry to a proposal.
func (o outlook) takeBack(j *journal.Journal, e journal.Entry, p *change.Proposal) error {
	steps := slices.Clone(e.Steps)
	slices.Reverse(steps)
	for len(steps) > 0 {
		some := o.locateSome(steps)
		if err := o.v.Ctx.Err(); err != nil {
			return err
		}
		for _, step := range some {
			if err := o.takeBackStep(j, e, step, p); err != nil {
				return err
			}
		}
		steps = steps[len(some):]
	}
	return nil
}

// takeBackStep adds the steps that undo a step of an entry to a proposal.
func (o outlook) takeBackStep(j *journal.Journal, e journal.Entry, step located, p *change.Proposal) error {
	back, err := o.back(j, e, step)
	if err != nil {
		return err
	}
	for _, s := range back {
		o.countTexts(s)
		if len(p.Steps) > 0 && *o.texts > maxTexts {
			o.dropTexts(&s)
		}
		s.Trash = step.Trash != "" && !s.After.Exists // it came from the trash and returns there
		if s.IsMove() {
			o.ahead[s.From] = change.FileState{}
		}
		o.ahead[s.Path] = s.After
		p.Steps = append(p.Steps, s)
	}
	return nil
}

// countTexts adds the bytes of the texts of a step.
func (o outlook) countTexts(s change.Step) {
	isMade := s.After.Exists && !s.After.Folder && !s.Before.Equal(s.After)
	*o.texts += s.Before.Text.Len()
	if isMade {
		*o.texts += s.After.Text.Len()
	}
}

// dropTexts drops the texts of a step from memory. They are read from the journal when the step is made.
func (o outlook) dropTexts(s *change.Step) {
	from := s.Path
	if s.IsMove() {
		from = s.From
	}
	s.Before = s.Before.WithoutText(o.v, from)
	s.After = s.After.WithoutText(o.v, s.Path)
}

// back returns the steps that undo a step of an entry: usually one, none if there is nothing to undo.
func (o outlook) back(j *journal.Journal, e journal.Entry, step located) ([]change.Step, error) {
	is := step.is
	was := step.was
	if step.err != nil {
		return nil, answer.Failure("Change %s cannot be undone: %v", e.ID, step.err)
	}
	now, err := o.current(is, func() (change.FileState, error) { return step.now, step.nowErr })
	if err != nil {
		return nil, answer.ReadError(is.String(), err)
	}
	then := now
	isMove := was != is
	if isMove {
		then, err = o.current(was, func() (change.FileState, error) { return change.CurrentState(o.v, was) })
		if err != nil {
			return nil, answer.ReadError(was.String(), err)
		}
	}

	if step.Before == step.After && !isMove {
		return nil, nil // a step that a partly made change did not reach
	}
	if e.State != journal.Done { // the step may have been made in part
		untouched := change.ImageOf(then) == step.Before
		unchanged := change.ImageOf(now) == step.Before
		isEmpty := now.Exists && !now.Folder && change.ImageOf(now).Size == 0
		hasBothNames := unchanged || isEmpty // the file has both names, or an empty file reserves the second
		switch {
		case !isMove && unchanged,
			isMove && untouched && !now.Exists:
			return nil, nil
		case isMove && untouched && hasBothNames:
			return []change.Step{{Path: is, Before: now}}, nil
		case isMove && unchanged && !then.Exists:
			return []change.Step{{Path: was, From: is, Before: now, After: now}}, nil
		}
	}
	folder := strings.HasSuffix(step.Path, "/")
	switch {
	case folder && now.Exists == step.Before.Exists: // another program may have created or removed it
		return nil, nil
	case folder && !now.Exists:
		return []change.Step{{Path: is, After: change.ExistingFolder, Modified: step.Modified}}, nil
	case change.ImageOf(now) != step.After:
		return nil, conflict(o.v, j, is, e.ID, step.Step, now)
	case isMove && then.Exists && !strings.EqualFold(is.String(), was.String()): // equal names may be the file itself
		return nil, answer.UndoConflict.Failure(
			"Conflict: there is another file at %q. Nothing was undone.",
			answer.Verbatim(was.String()),
		)
	}
	s := change.Step{Path: was, Before: now, Modified: step.Modified}
	if isMove {
		s.From = is
	}
	s.TrashName = step.Trash
	s.Mode = step.Mode
	switch {
	case !step.Before.Exists:
	case step.Before == step.After: // an unchanged file was moved; the journal keeps no text of it
		s.After = now
	default:
		text, err := o.kept.Object(o.v.Ctx, step.Before.Hash)
		isGone := errors.As(err, new(*journal.Unknown)) || errors.As(err, new(*journal.Damaged))
		switch {
		case isGone:
			return nil, &unkeptText{answer.Failure("Change %s cannot be undone: %v", e.ID, err)}
		case err != nil:
			return nil, answer.Failure("Change %s cannot be undone: %v", e.ID, err)
		}
		s.After = change.FileState{Exists: true, Text: text}
	}
	return []change.Step{s}, nil
}

// unkeptText is the error of a change that cannot be undone, because the journal no longer has a text that it replaced.
type unkeptText struct{ error }

// Unwrap returns the error for the caller.
func (u *unkeptText) Unwrap() error { return u.error }

// Limits of the difference that a conflict shows.
const (
	maxShown     = 16 << 10
	maxShownRows = 400
)

// conflict returns the error for a file that was changed since, with the difference.
func conflict(
	v *call.Vault,
	j *journal.Journal,
	at disk.Path,
	id string,
	step journal.Step,
	now change.FileState,
) error {
	const refused = "Conflict: %q was changed since. Nothing was undone.\n%s"
	isElsewhere := false
	if v.Hides() {
		now, err := j.WhereaboutsOf(v.Ctx, step.Path, id)
		isElsewhere = err != nil || now.Path != step.Path && !seesNoteOf(v, j, now)
	}
	if isElsewhere || isWithheld(v, at, func() bool { return isRemovedByUs(v, j, at.String()) }) {
		return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), "It is not where it was.")
	}
	var written guard.Unjudged
	if step.After.Exists {
		text, err := j.Object(v.Ctx, step.After.Hash)
		if err != nil {
			return answer.UndoConflict.Failure(
				refused,
				answer.Verbatim(at.String()),
				"The text that the change wrote is not kept.",
			)
		}
		written = text
	}
	changes := difference.Fit(
		[]difference.Change{difference.Of(v.Judged(written).Bytes(), v.Judged(now.Text).Bytes())},
		difference.Extent{Rows: maxShownRows, Bytes: maxShown, Line: maxShown / 8},
	)
	from := "a/" + at.String()
	to := "b/" + at.String()
	switch {
	case !step.After.Exists:
		from = "/dev/null"
	case !now.Exists:
		to = "/dev/null"
	}
	shown := changes[0].Unified(from, to)
	return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), strings.TrimSuffix(shown, "\n"))
}
