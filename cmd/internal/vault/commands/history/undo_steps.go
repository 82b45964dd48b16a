package history

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/difference"
	"vaultwicket/gateway/state/journal"
)

// undoing returns the proposal to take entries back, the newest first.
func undoing(v *session.Vault, j *journal.Journal, entries []journal.Entry) (command.Proposal, error) {
	p := command.Proposal{Undoes: entries[0].ID, OwnChange: true}
	ahead := outlook{v, map[disk.Path]command.FileState{}}
	var said []string
	for i, e := range entries {
		if err := ahead.takeBack(j, e, &p); err != nil {
			return command.Proposal{}, err
		}
		p.OwnChange = p.OwnChange && e.Caller != "" && e.Caller == v.Caller && e.Undoes == ""
		if i > 0 {
			p.Also = append(p.Also, e.ID)
		}
		var note disk.Path
		if len(e.Steps) > 0 {
			// What cannot be a path was refused with its step.
			note, _ = command.StepPath(v, e.Steps[0].Source())
		}
		if p.Note == (disk.Path{}) {
			p.Note = note
		}
		line := fmt.Sprintf("Undone: %s %s %s", e.ID, e.Command, note)
		if more := len(e.Steps) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		said = append(said, line)
	}
	p.Message = strings.Join(said, "\n")
	return p, nil
}

// outlook is the vault as it will be when the steps so far are done.
type outlook struct {
	v     *session.Vault
	ahead map[disk.Path]command.FileState
}

func (o outlook) current(path disk.Path) (command.FileState, error) {
	if h, known := o.ahead[path]; known {
		return h, nil
	}
	return command.CurrentState(o.v, path)
}

func (o outlook) do(s command.Step) {
	if s.IsMove() {
		o.ahead[s.From] = command.FileState{}
	}
	o.ahead[s.Path] = s.After
}

// takeBack adds to a proposal what takes an entry back.
func (o outlook) takeBack(j *journal.Journal, e journal.Entry, p *command.Proposal) error {
	trash := undoneTrash(j, e)
	for _, kept := range slices.Backward(e.Steps) {
		back, err := o.back(j, e, kept)
		if err != nil {
			return err
		}
		for _, s := range back {
			s.Trash = trash && !s.After.Exists
			o.do(s)
			p.Steps = append(p.Steps, s)
		}
	}
	return nil
}

// undoneTrash reports whether e brought back what had been put into the trash,
// so that what it takes away goes there again.
func undoneTrash(j *journal.Journal, e journal.Entry) bool {
	return slices.ContainsFunc(e.TakesBack(), func(id string) bool {
		first, err := j.Entry(id)
		return err == nil && strings.HasPrefix(first.Note, command.TrashRemark)
	})
}

// trace is what is found of one step of an entry.
type trace struct {
	was, is   disk.Path         // where the file was before, and where it was left; mostly the same
	then, now command.FileState // what is there
}

func (t trace) isMove() bool { return t.was != t.is }

func (o outlook) trace(e journal.Entry, kept journal.Step) (t trace, err error) {
	if t.is, err = command.StepPath(o.v, kept.Path); err == nil {
		if t.was, err = command.ParseStepPath(kept.Source()); err == nil {
			t.was, err = o.v.Disk.Renamed(t.is, t.was)
		}
	}
	if err != nil {
		return t, answer.Failure("Change %s cannot be undone: %v", e.ID, err)
	}
	if t.now, err = o.current(t.is); err != nil {
		return t, answer.ReadError(t.is.String(), err)
	}
	if t.then = t.now; t.isMove() {
		if t.then, err = o.current(t.was); err != nil {
			return t, answer.ReadError(t.was.String(), err)
		}
	}
	return t, nil
}

// back returns what takes back one step of an entry: mostly one step, none where
// nothing is to be done.
func (o outlook) back(j *journal.Journal, e journal.Entry, kept journal.Step) ([]command.Step, error) {
	t, err := o.trace(e, kept)
	if err != nil {
		return nil, err
	}
	if e.State != journal.Done {
		if steps, known := t.brokenOff(kept); known {
			return steps, nil
		}
	}
	switch {
	case command.ImageOf(t.now) != kept.After:
		return nil, conflict(o.v, j, t.is, kept, t.now)
	case t.isMove() && t.then.Exists && !strings.EqualFold(t.is.String(), t.was.String()): // else it may be the file itself
		return nil, answer.UndoConflict.Failure("Conflict: there is another file at %q. Nothing was undone.", answer.Verbatim(t.was.String()))
	}
	s := command.Step{Path: t.was, Before: t.now}
	if t.isMove() {
		s.From = t.is
	}
	if name, trashed := strings.CutPrefix(e.Note, command.TrashRemark); trashed {
		s.TrashName = name
	}
	if s.After, err = keptBefore(o.v, j, kept, t.now); err != nil {
		return nil, answer.Failure("Change %s cannot be undone: %v", e.ID, err)
	}
	return []command.Step{s}, nil
}

// brokenOff returns what takes back a step of which only a part may have been
// done. It reports false if all of it was, or if nothing is known.
func (t trace) brokenOff(kept journal.Step) (steps []command.Step, known bool) {
	unchanged := command.ImageOf(t.now) == kept.Before
	switch {
	case !t.isMove():
		return nil, unchanged
	case command.ImageOf(t.then) == kept.Before && !t.now.Exists:
		return nil, true
	case command.ImageOf(t.then) == kept.Before && (unchanged || t.now.IsEmpty()): // the file had both names, or took the second with an empty file
		return []command.Step{{Path: t.is, Before: t.now}}, true
	case unchanged && !t.then.Exists:
		return []command.Step{{Path: t.was, From: t.is, Before: t.now, After: t.now}}, true
	}
	return nil, false
}

// keptBefore returns what a file was before a step. Of a file that was moved as it was,
// nothing is kept but where it was.
func keptBefore(v *session.Vault, j *journal.Journal, s journal.Step, now command.FileState) (command.FileState, error) {
	switch {
	case !s.Before.Exists:
		return command.FileState{}, nil
	case s.Before == s.After:
		return now, nil
	}
	text, err := j.Object(s.Before.Hash)
	return command.Existing(text), err
}

// How much of the difference in a conflict is shown.
const (
	maxShown     = 16 << 10
	maxShownRows = 400
)

// conflict refuses to undo over what somebody else has written since, and shows
// that.
func conflict(v *session.Vault, j *journal.Journal, at disk.Path, kept journal.Step, now command.FileState) error {
	const refused = "Conflict: %q was changed since. Nothing was undone.\n%s"
	if keptBack(v, at, func() bool { return goneByUs(j, at.String()) }) {
		return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), "It is not where it was.")
	}
	var left []byte
	if kept.After.Exists {
		text, err := j.Object(kept.After.Hash)
		if err != nil {
			return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), "The text that the change wrote is not kept.")
		}
		left = text
	}
	changes := difference.Fit([]difference.Change{difference.Of(left, now.Text)}, difference.Extent{Rows: maxShownRows, Bytes: maxShown, Line: maxShown / 8})
	from, to := "a/"+at.String(), "b/"+at.String()
	switch {
	case !kept.After.Exists:
		from = "/dev/null"
	case !now.Exists:
		to = "/dev/null"
	}
	shown := changes[0].Unified(from, to)
	return answer.UndoConflict.Failure(refused, answer.Verbatim(at.String()), strings.TrimSuffix(shown, "\n"))
}
