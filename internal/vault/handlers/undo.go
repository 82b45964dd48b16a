package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// undo takes a change back as a whole or not at all. It is a change itself, so
// to undo it does the first one again.
func undo(v *call.Vault, p call.Values) (change.Proposal, error) {
	j, err := v.Journal()
	if err != nil {
		return change.Proposal{}, err
	}
	entries, left, err := named(v, j, p)
	if err != nil {
		return change.Proposal{}, err
	}
	of := journal.Filter{Caller: v.Caller, Undoable: true}
	if agent := ownerfiles.AgentOf(v.Caller); agent != "" { // in whichever session
		of = journal.Filter{Agent: agent, Undoable: true}
	}
	own := func(e journal.Entry) bool { return e.Caller == v.Caller || isOwn(v, e) }
	// The last change that is the caller's own and undoable, but one that failed and left nothing. A batch is one change.
	var latest []journal.Entry // the newest first
	var undone change.Proposal
	var refused error // why it cannot be undone
	passed := map[string]bool{}
	for e, err := range newestFirst(v, j, of) {
		if err != nil {
			return change.Proposal{}, err
		}
		if !own(e) || !e.SeenBy(v.SeesPlace) || passed[e.Batch] {
			continue
		}
		together := []journal.Entry{e}
		if e.Batch != "" {
			passed[e.Batch] = true
			together, _, err = undoable(
				v,
				j,
				journal.Filter{Batch: e.Batch},
				func(other journal.Entry) bool { return other.Caller == e.Caller },
			)
			if err != nil {
				continue // a part of it is hidden: it is not there
			}
		}
		if entries != nil && e.State == journal.Done { // it is not this one that is worked out
			latest = together
			break
		}
		undone, refused = undoing(v, j, together, 0, refuseConflicts)
		if refused != nil || len(undone.Steps) > 0 || e.State == journal.Done {
			latest = together
			break
		}
	}
	switch {
	case entries == nil && latest == nil:
		return change.Proposal{}, answer.Failure("Nothing to undo.")
	case entries == nil:
		undone.Latest = true
		undone.Outdated = own // then another change is the last one
		return undone, refused
	}
	conflicts := refuseConflicts
	if p.Has("session") || strings.Contains(p["id"], ",") {
		conflicts = skipConflicts
	}
	made, err := undoing(v, j, entries, left, conflicts)
	made.Outdated = own
	made.Latest = latest != nil && !slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return !slices.ContainsFunc(latest, func(mine journal.Entry) bool { return mine.ID == e.ID })
	})
	return made, err
}

// named returns the entries that a request names, the newest first, nil if it names none; and how many older ones it names that
// are too many for now.
func named(v *call.Vault, j *journal.Journal, p call.Values) (entries []journal.Entry, left int, err error) {
	given := p.Given("id", "batch", "session")
	switch {
	case len(given) == 0:
		return nil, 0, nil
	case len(given) > 1:
		return nil, 0, answer.Misuse("Use %s=<id> or %s=<id>, not both.", given[0], given[1])
	}
	name := given[0]
	if name == "batch" {
		entries, left, err := undoable(
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
		return undoable(v, j, journal.Filter{Batch: e.Batch}, nil)
	}
	return undoable(v, j, journal.Filter{Session: e.Session}, func(other journal.Entry) bool {
		return other.Session == e.Session && other.Caller == e.Caller
	})
}

// entryOf returns the entry with an id, if all that it concerns may be seen.
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

// ofOtherAgent reports whether the caller is an agent, and the change is not one of that agent:
// then it does not exist for the caller.
func ofOtherAgent(v *call.Vault, e journal.Entry) bool {
	agent := ownerfiles.AgentOf(v.Caller)
	return agent != "" && ownerfiles.AgentOf(e.Caller) != agent
}

// maxTogether is how many changes are taken back together, which has all their texts in memory. Of more the newest are, and the
// same request goes on with the others. maxLooked is how many are looked at for that: some may be left as they are.
const (
	maxTogether = 1000
	maxLooked   = 4 * maxTogether
)

// undoable returns the newest changes of a filter that can be taken back: those that are not
// undone, and are no undo themselves; and how many older ones there are. same says which of them are meant, nil for all. If one of
// them concerns what is hidden, all of them are unknown.
func undoable(
	v *call.Vault,
	j *journal.Journal,
	of journal.Filter,
	same func(journal.Entry) bool,
) (entries []journal.Entry, left int, err error) {
	of.Undoable = true
	for e, err := range newestFirst(v, j, of) {
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

// newestFirst are the entries of a filter, and an error where the journal cannot be read.
func newestFirst(v *call.Vault, j *journal.Journal, of journal.Filter) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		isDone := false
		_, err := j.Each(v.Ctx, of, func(e journal.Entry) bool {
			isDone = !yield(e, nil)
			return !isDone
		})
		if err != nil && !isDone {
			yield(journal.Entry{}, answer.NoJournal.Failure("Cannot use the journal: %v", err))
		}
	}
}

// isOwn reports whether the caller made a change, or another session of its agent.
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

// conflictRule says what happens to an entry whose notes were changed since, or of which a text is not kept any more.
type conflictRule int

const (
	refuseConflicts conflictRule = iota // nothing is taken back
	skipConflicts                       // it is left as it is, and named, unless none is left
)

// undoing returns the proposal to take entries back, the newest first. left is how many older ones are asked for.
func undoing(
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
	var said []string
	var conflicting error
	changed := 0
	unkept := 0
	undone := 0
	for i, e := range entries {
		if undone == maxTogether {
			left += len(entries) - i
			break
		}
		var note disk.Path
		if len(e.Steps) > 0 {
			// What cannot be a path was refused with its step.
			note, _ = change.StepPath(v, e.Steps[0].Source())
		}
		line := fmt.Sprintf("%s %s %s", e.ID, e.Command, note)
		if more := len(e.Steps) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		steps := p.Steps
		known := maps.Clone(ahead.ahead)
		if err := ahead.takeBack(j, e, &p); err != nil {
			isUnkept := errors.As(err, new(*unkeptText))
			isChanged := answer.Explain(err).Kind == answer.UndoConflict
			isConflict := isUnkept || isChanged
			if conflicts != skipConflicts || !isConflict {
				return change.Proposal{}, err
			}
			conflicting = cmp.Or(conflicting, err)
			p.Steps = steps
			ahead.ahead = known
			why := "it was changed since"
			if isUnkept {
				why = "its text is no longer kept"
				unkept++
			} else {
				changed++
			}
			said = append(said, "Not undone, because "+why+": "+line)
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
		said = append(said, "Undone: "+line)
	}
	if p.Undoes == "" {
		return change.Proposal{}, conflicting
	}
	slices.SortStableFunc(said, func(a, b string) int { // what was done first: it confirms the command
		return cmp.Compare(b[:1], a[:1])
	})
	p.Message = strings.Join(said, "\n")
	p.Notice = countUndone(undone, changed, unkept, left)
	return p, nil
}

// countUndone says how many of several changes are undone and how many are not, "" if all are.
func countUndone(undone, changed, unkept, left int) string {
	if changed+unkept+left == 0 {
		return ""
	}
	said := []string{fmt.Sprintf("%d of %s are undone", undone, answer.Count(undone+changed+unkept+left, "change"))}
	if changed > 0 {
		said = append(said, fmt.Sprintf("%d are left as they are, because their notes were changed since", changed))
	}
	if unkept > 0 {
		said = append(said, fmt.Sprintf("%d are left as they are, because their texts are no longer kept", unkept))
	}
	if left > 0 {
		said = append(said, fmt.Sprintf("%d older ones are left, which the same call takes back next", left))
	}
	return strings.Join(said, "; ")
}

// outlook is the vault as it will be when the steps so far are done.
type outlook struct {
	v     *call.Vault
	kept  *journal.Reader
	ahead map[disk.Path]change.FileState
	texts *int // bytes of the files that are in memory
}

func (o outlook) current(path disk.Path, kept string) (change.FileState, error) {
	if h, known := o.ahead[path]; known {
		return h, nil
	}
	return change.StateAt(o.v, path, kept)
}

// takeBack adds to a proposal what takes an entry back.
func (o outlook) takeBack(j *journal.Journal, e journal.Entry, p *change.Proposal) error {
	for _, kept := range slices.Backward(e.Steps) {
		back, err := o.back(j, e, kept)
		if err != nil {
			return err
		}
		for _, s := range back {
			o.countTexts(s)
			if len(p.Steps) > 0 && *o.texts > maxTexts {
				o.dropTexts(&s)
			}
			s.Trash = kept.Trash != "" && !s.After.Exists // it came out of the trash
			if s.IsMove() {
				o.ahead[s.From] = change.FileState{}
			}
			o.ahead[s.Path] = s.After
			p.Steps = append(p.Steps, s)
		}
	}
	return nil
}

// countTexts counts the bytes of the texts of a step.
func (o outlook) countTexts(s change.Step) {
	isMade := s.After.Exists && !s.After.Folder && !s.Before.Equal(s.After)
	*o.texts += s.Before.Text.Len()
	if isMade {
		*o.texts += s.After.Text.Len()
	}
}

// dropTexts drops the texts of a step. What is written comes out of the journal, then.
func (o outlook) dropTexts(s *change.Step) {
	from := s.Path
	if s.IsMove() {
		from = s.From
	}
	s.Before = s.Before.WithoutText(o.v, from)
	s.After = s.After.WithoutText(o.v, s.Path)
}

// back returns what takes back one step of an entry: mostly one step, none where
// nothing is to be done.
func (o outlook) back(j *journal.Journal, e journal.Entry, kept journal.Step) ([]change.Step, error) {
	var was disk.Path // where the file was before, and is where it was left; mostly the same
	is, err := change.StepPath(o.v, kept.Path)
	if err == nil {
		if was, err = change.ParseStepPath(kept.Source()); err == nil {
			was, err = o.v.Disk.Renamed(is, was)
		}
	}
	if err != nil {
		return nil, answer.Failure("Change %s cannot be undone: %v", e.ID, err)
	}
	now, err := o.current(is, kept.Path)
	if err != nil {
		return nil, answer.ReadError(is.String(), err)
	}
	then := now
	isMove := was != is
	if isMove {
		if then, err = o.current(was, ""); err != nil {
			return nil, answer.ReadError(was.String(), err)
		}
	}

	if kept.Before == kept.After && !isMove {
		return nil, nil // of a change that was made in part it is a step that was not
	}
	if e.State != journal.Done { // only a part of the step may have been done
		untouched := change.ImageOf(then) == kept.Before
		unchanged := change.ImageOf(now) == kept.Before
		isEmpty := now.Exists && !now.Folder && change.ImageOf(now).Size == 0
		hasBothNames := unchanged || isEmpty // the file had both names, or took the second with an empty file
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
	folder := strings.HasSuffix(kept.Path, "/")
	switch {
	case folder && now.Exists == kept.Before.Exists: // others may have made it, or removed it
		return nil, nil
	case folder && !now.Exists:
		return []change.Step{{Path: is, After: change.ExistingFolder, Modified: kept.Modified}}, nil
	case change.ImageOf(now) != kept.After:
		return nil, conflict(o.v, j, is, e.ID, kept, now)
	case isMove && then.Exists && !strings.EqualFold(is.String(), was.String()): // else it may be the file itself
		return nil, answer.UndoConflict.Failure(
			"Conflict: there is another file at %q. Nothing was undone.",
			answer.Verbatim(was.String()),
		)
	}
	s := change.Step{Path: was, Before: now, Modified: kept.Modified}
	if isMove {
		s.From = is
	}
	s.TrashName = kept.Trash
	s.Mode = kept.Mode
	switch {
	case !kept.Before.Exists:
	case kept.Before == kept.After: // of a file that was moved as it was, nothing is kept but where it was
		s.After = now
	default:
		text, err := o.kept.Object(o.v.Ctx, kept.Before.Hash)
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

// unkeptText is the error of a change that cannot be taken back, because a text that it replaced is not in the journal.
type unkeptText struct{ error }

// Unwrap returns what is answered.
func (u *unkeptText) Unwrap() error { return u.error }

// How much of the difference in a conflict is shown.
const (
	maxShown     = 16 << 10
	maxShownRows = 400
)

// conflict refuses to undo what was overwritten since, and shows
// that.
func conflict(
	v *call.Vault,
	j *journal.Journal,
	at disk.Path,
	id string,
	kept journal.Step,
	now change.FileState,
) error {
	const refused = "Conflict: %q was changed since. Nothing was undone.\n%s"
	isElsewhere := false
	if v.Hides() {
		now, err := j.WhereaboutsOf(v.Ctx, kept.Path, id)
		isElsewhere = err != nil || now.Path != kept.Path && !seesNoteOf(v, j, now)
	}
	if isElsewhere || isWithheld(v, at, func() bool { return isRemovedByUs(v, j, at.String()) }) {
		return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), "It is not where it was.")
	}
	var left guard.Unjudged
	if kept.After.Exists {
		text, err := j.Object(v.Ctx, kept.After.Hash)
		if err != nil {
			return answer.UndoConflict.Failure(
				refused,
				answer.Verbatim(at.String()),
				"The text that the change wrote is not kept.",
			)
		}
		left = text
	}
	changes := difference.Fit(
		[]difference.Change{difference.Of(v.Judged(left).Bytes(), v.Judged(now.Text).Bytes())},
		difference.Extent{Rows: maxShownRows, Bytes: maxShown, Line: maxShown / 8},
	)
	from := "a/" + at.String()
	to := "b/" + at.String()
	switch {
	case !kept.After.Exists:
		from = "/dev/null"
	case !now.Exists:
		to = "/dev/null"
	}
	shown := changes[0].Unified(from, to)
	return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), strings.TrimSuffix(shown, "\n"))
}
