package vault

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/gateway/state/journal"
)

// undoing returns the proposal to take entries back, the newest first.
func (v *vault) undoing(j *journal.Journal, entries []journal.Entry) (proposal, error) {
	p := proposal{undoes: entries[0].ID, own: true}
	ahead := outlook{v, map[disk.Path]held{}}
	var said []string
	for i, e := range entries {
		if err := ahead.takeBack(j, e, &p); err != nil {
			return proposal{}, err
		}
		p.own = p.own && e.Caller != "" && e.Caller == v.caller && e.Undoes == ""
		if i > 0 {
			p.also = append(p.also, e.ID)
		}
		var note disk.Path
		if len(e.Steps) > 0 {
			// What cannot be a path was refused with its step.
			note, _ = v.stepPath(e.Steps[0].Source())
		}
		if p.note == (disk.Path{}) {
			p.note = note
		}
		said = append(said, fmt.Sprintf("Undone: %s %s %s", e.ID, e.Command, note))
	}
	p.said = strings.Join(said, "\n")
	return p, nil
}

// outlook is the vault as it will be when the steps so far are done.
type outlook struct {
	v     *vault
	ahead map[disk.Path]held
}

func (o outlook) current(path disk.Path) (held, error) {
	if h, known := o.ahead[path]; known {
		return h, nil
	}
	return o.v.current(path)
}

func (o outlook) do(s step) {
	if s.isMove() {
		o.ahead[s.from] = held{}
	}
	o.ahead[s.path] = s.after
}

// takeBack adds to a proposal what takes an entry back.
func (o outlook) takeBack(j *journal.Journal, e journal.Entry, p *proposal) error {
	trash := undoneTrash(j, e)
	for _, kept := range slices.Backward(e.Steps) {
		back, err := o.back(j, e, kept)
		if err != nil {
			return err
		}
		for _, s := range back {
			s.trash = trash && !s.after.there
			o.do(s)
			p.steps = append(p.steps, s)
		}
	}
	return nil
}

// undoneTrash reports whether e brought back what had been put into the trash,
// so that what it takes away goes there again.
func undoneTrash(j *journal.Journal, e journal.Entry) bool {
	return slices.ContainsFunc(e.TakesBack(), func(id string) bool {
		first, err := j.Entry(id)
		return err == nil && strings.HasPrefix(first.Note, inTrash)
	})
}

// trace is what is found of one step of an entry.
type trace struct {
	was, is   disk.Path // where the file was before, and where it was left; mostly the same
	then, now held      // what is there
}

func (t trace) isMove() bool { return t.was != t.is }

func (o outlook) trace(e journal.Entry, kept journal.Step) (t trace, err error) {
	if t.is, err = o.v.stepPath(kept.Path); err == nil {
		if t.was, err = stepPath(kept.Source()); err == nil {
			t.was, err = o.v.disk.Renamed(t.is, t.was)
		}
	}
	if err != nil {
		return t, failure("Change %s cannot be undone: %v", e.ID, err)
	}
	if t.now, err = o.current(t.is); err != nil {
		return t, unreadable(t.is.String(), err)
	}
	if t.then = t.now; t.isMove() {
		if t.then, err = o.current(t.was); err != nil {
			return t, unreadable(t.was.String(), err)
		}
	}
	return t, nil
}

// back returns what takes back one step of an entry: mostly one step, none where
// nothing is to be done.
func (o outlook) back(j *journal.Journal, e journal.Entry, kept journal.Step) ([]step, error) {
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
	case imageOf(t.now) != kept.After:
		return nil, o.v.conflict(j, t.is, kept, t.now)
	case t.isMove() && t.then.there && !strings.EqualFold(t.is.String(), t.was.String()): // else it may be the file itself
		return nil, conflict.failure("Conflict: there is another file at %q. Nothing was undone.", verbatim(t.was.String()))
	}
	s := step{path: t.was, before: t.now}
	if t.isMove() {
		s.from = t.is
	}
	if name, trashed := strings.CutPrefix(e.Note, inTrash); trashed {
		s.trashed = name
	}
	if s.after, err = o.v.kept(j, kept, t.now); err != nil {
		return nil, failure("Change %s cannot be undone: %v", e.ID, err)
	}
	return []step{s}, nil
}

// brokenOff returns what takes back a step of which only a part may have been
// done. It reports false if all of it was, or if nothing is known.
func (t trace) brokenOff(kept journal.Step) (steps []step, known bool) {
	unchanged := imageOf(t.now) == kept.Before
	switch {
	case !t.isMove():
		return nil, unchanged
	case imageOf(t.then) == kept.Before && !t.now.there:
		return nil, true
	case imageOf(t.then) == kept.Before && (unchanged || t.now.isEmpty()): // the file had both names, or took the second with an empty file
		return []step{{path: t.is, before: t.now}}, true
	case unchanged && !t.then.there:
		return []step{{path: t.was, from: t.is, before: t.now, after: t.now}}, true
	}
	return nil, false
}

// kept returns what a file was before a step. Of a file that was moved as it was,
// nothing is kept but where it was.
func (v *vault) kept(j *journal.Journal, s journal.Step, now held) (held, error) {
	switch {
	case !s.Before.Exists:
		return held{}, nil
	case s.Before == s.After:
		return now, nil
	}
	text, err := j.Object(s.Before.Hash)
	return holding(text), err
}

// maxShown is how much of the difference in a conflict is shown.
const maxShown = 16 << 10

// conflict refuses to undo over what somebody else has written since, and shows
// that.
func (v *vault) conflict(j *journal.Journal, at disk.Path, kept journal.Step, now held) error {
	const refused = "Conflict: %q was changed since. Nothing was undone.\n%s"
	left := held{}
	if kept.After.Exists {
		text, err := j.Object(kept.After.Hash)
		if err != nil {
			return conflict.failure(refused, verbatim(at.String()), "What the change left there is not kept.")
		}
		left = holding(text)
	}
	shown := step{path: at, before: left, after: now}.diff()
	if len(shown) > maxShown {
		cut := strings.LastIndexByte(shown[:maxShown], '\n') + 1
		shown = strings.ToValidUTF8(shown[:max(cut, 1)], "") + fmt.Sprintf("# and %d more bytes\n", len(shown)-cut)
	}
	return conflict.failure(refused, verbatim(at.String()), strings.TrimSuffix(shown, "\n"))
}
