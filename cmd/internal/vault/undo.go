package vault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/gateway/journal"
)

func undoCommands() []command {
	return []command{{
		name: "undo", about: "Take back a change of this program, the last one if none is named",
		params: []param{{name: "id", hint: "id", about: "The change, as the journal names it; the word alone will do"}},
		bare:   "id",
		plan:   undo,
	}}
}

// undo takes a change back as a whole or not at all. It is a change itself, so
// to undo it does the first one again.
func undo(v *vault, p params) (proposal, error) {
	j, err := v.journal()
	if err != nil {
		return proposal{}, err
	}
	if !p.has("id") {
		return v.undoLast(j)
	}
	if _, err := journal.ParseID(p["id"]); err != nil {
		return proposal{}, misuse("Invalid value for id: %s", p["id"])
	}
	e, err := j.Entry(p["id"])
	if err != nil {
		return proposal{}, unfound(p["id"], err)
	}
	if !v.seesAll(e) {
		return proposal{}, unknownChange(p["id"])
	}
	if e.State == journal.Undone {
		return proposal{}, failure("Change %s is undone already.", e.ID)
	}
	return v.undoing(j, e)
}

// unfound says why an entry is not to be had.
func unfound(id string, err error) error {
	var unknown *journal.Unknown
	if errors.As(err, &unknown) {
		return unknownChange(id)
	}
	return failure("Cannot use the journal: %v", err)
}

func unknownChange(id string) error { return failure("Change %q not found.", verbatim(id)) }

// seesAll reports whether all that an entry concerns may be named. One that
// concerns more is not there.
func (v *vault) seesAll(e journal.Entry) bool {
	return !slices.ContainsFunc(e.Steps, func(s journal.Step) bool { return !v.sees(s.Path) || !v.sees(s.Source()) })
}

// page is how many entries are looked at at once.
const page = 1000

// undoLast takes back the newest change that is not undone and no undo. One that
// failed and left nothing behind is passed over.
func (v *vault) undoLast(j *journal.Journal) (proposal, error) {
	for behind := ""; ; {
		entries, _, err := j.Entries(journal.Filter{Limit: page, OlderThan: behind})
		if err != nil {
			return proposal{}, failure("Cannot use the journal: %v", err)
		}
		for _, e := range entries {
			behind = e.ID
			if e.State == journal.Undone || e.Undoes != "" || !v.seesAll(e) {
				continue
			}
			p, err := v.undoing(j, e)
			if err != nil || len(p.steps) > 0 || e.State == journal.Done {
				return p, err
			}
		}
		if len(entries) < page {
			return proposal{}, failure("Nothing to undo.")
		}
	}
}

// undoing returns the proposal to take an entry back.
func (v *vault) undoing(j *journal.Journal, e journal.Entry) (proposal, error) {
	trash := undoneTrash(j, e)
	p := proposal{undoes: e.ID, own: e.Session != "" && e.Session == v.host.env(sessionVariable)}
	for _, kept := range slices.Backward(e.Steps) {
		back, err := v.back(j, e, kept)
		if err != nil {
			return proposal{}, err
		}
		for _, s := range back {
			s.trash = trash && !s.after.there
			p.steps = append(p.steps, s)
		}
	}
	if len(e.Steps) > 0 {
		// What cannot be a path was refused with its step.
		p.note, _ = stepPath(e.Steps[0].Source())
	}
	p.said = fmt.Sprintf("Undone: %s %s %s", e.ID, e.Command, p.note)
	return p, nil
}

// undoneTrash reports whether e brought back what had been put into the trash,
// so that what it takes away goes there again.
func undoneTrash(j *journal.Journal, e journal.Entry) bool {
	if e.Undoes == "" {
		return false
	}
	first, err := j.Entry(e.Undoes)
	return err == nil && strings.HasPrefix(first.Note, inTrash)
}

// stepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func stepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(text)
}

// trace is what is found of one step of an entry.
type trace struct {
	was, is   disk.Path // where the file was before, and where it was left; mostly the same
	then, now held      // what is there
}

func (t trace) isMove() bool { return t.was != t.is }

func (v *vault) trace(e journal.Entry, kept journal.Step) (t trace, err error) {
	if t.was, err = stepPath(kept.Source()); err == nil {
		t.is, err = stepPath(kept.Path)
	}
	if err != nil {
		return t, failure("Change %s cannot be undone: %v", e.ID, err)
	}
	if t.now, err = v.current(t.is); err != nil {
		return t, unreadable(t.is.String(), err)
	}
	if t.then = t.now; t.isMove() {
		if t.then, err = v.current(t.was); err != nil {
			return t, unreadable(t.was.String(), err)
		}
	}
	return t, nil
}

// back returns what takes back one step of an entry: mostly one step, none where
// nothing is to be done.
func (v *vault) back(j *journal.Journal, e journal.Entry, kept journal.Step) ([]step, error) {
	t, err := v.trace(e, kept)
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
		return nil, v.conflict(j, t.is, kept, t.now)
	case t.isMove() && t.then.there && !strings.EqualFold(t.is.String(), t.was.String()): // else it may be the file itself
		return nil, failure("Conflict: there is another file at %q. Nothing was undone.", verbatim(t.was.String()))
	}
	s := step{path: t.was, before: t.now}
	if t.isMove() {
		s.from = t.is
	}
	if name, trashed := strings.CutPrefix(e.Note, inTrash); trashed {
		s.trashed = name
	}
	if s.after, err = v.kept(j, kept, t.now); err != nil {
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
			return failure(refused, verbatim(at.String()), "What the change left there is not kept.")
		}
		left = holding(text)
	}
	shown := step{path: at, before: left, after: now}.diff()
	if len(shown) > maxShown {
		cut := strings.LastIndexByte(shown[:maxShown], '\n') + 1
		shown = strings.ToValidUTF8(shown[:max(cut, 1)], "") + fmt.Sprintf("# and %d more bytes\n", len(shown)-cut)
	}
	return failure(refused, verbatim(at.String()), strings.TrimSuffix(shown, "\n"))
}
