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
		name: "undo", about: "Take back a change of this program, or a whole batch; the caller's last one if none is named",
		params: []param{
			{name: "id", hint: "id", about: "The change, as the journal names it; the word alone will do"},
			{name: "batch", hint: "id", about: "The whole batch that this change belongs to"},
			{name: "session", hint: "id", about: "All changes of the session that made this change"},
		},
		bare: "id",
		plan: undo,
	}}
}

// undo takes a change back as a whole or not at all. It is a change itself, so
// to undo it does the first one again.
func undo(v *vault, p params) (proposal, error) {
	j, err := v.journal()
	if err != nil {
		return proposal{}, err
	}
	latest, err := v.latest(j)
	if err != nil {
		return proposal{}, err
	}
	entries, err := v.named(j, p)
	switch {
	case err != nil:
		return proposal{}, err
	case entries == nil && latest == nil:
		return proposal{}, failure("Nothing to undo.")
	case entries == nil:
		return latest.undoing, latest.err
	}
	made, err := v.undoing(j, entries)
	made.latest = latest.holds(entries)
	return made, err
}

// named returns the entries that a request names, the newest first, nil if it names
// none.
func (v *vault) named(j *journal.Journal, p params) ([]journal.Entry, error) {
	var name string
	for _, param := range []string{"id", "batch", "session"} {
		switch {
		case !p.has(param):
		case name != "":
			return nil, misuse("Use %s=<id> or %s=<id>, not both.", name, param)
		default:
			name = param
		}
	}
	if name == "" {
		return nil, nil
	}
	e, err := v.entryOf(j, p[name])
	switch {
	case err != nil:
		return nil, err
	case name == "id" && e.State == journal.Undone:
		return nil, failure("Change %s is undone already.", e.ID)
	case name == "id":
		return []journal.Entry{e}, nil
	case name == "batch" && e.Batch == "":
		return nil, failure("Change %s belongs to no batch.", e.ID)
	}
	same := func(other journal.Entry) bool { return other.Session == e.Session && other.Caller == e.Caller }
	if name == "batch" {
		same = func(other journal.Entry) bool { return other.Batch == e.Batch }
	}
	return v.standing(j, same)
}

// entryOf returns the entry with an id, if all that it concerns may be seen.
func (v *vault) entryOf(j *journal.Journal, id string) (journal.Entry, error) {
	if _, err := journal.ParseID(id); err != nil {
		return journal.Entry{}, misuse("Invalid value for id: %s", id)
	}
	e, err := j.Entry(id)
	switch {
	case err != nil:
		return e, unfound(id, err)
	case !v.seesAll(e):
		return e, unknownChange(id)
	}
	return e, nil
}

// maxTogether is how many changes are taken back together. A batch has a hundred.
const maxTogether = 1000

// standing returns the changes of a kind that can be taken back: those that are not
// undone, and are no undo themselves. If one of them concerns what is hidden, all of
// them are unknown.
func (v *vault) standing(j *journal.Journal, same func(journal.Entry) bool) (entries []journal.Entry, err error) {
	err = v.each(j, func(e journal.Entry) (stop bool, err error) {
		if !same(e) || !stands(e) {
			return false, nil
		}
		if !v.seesAll(e) {
			return true, failure("Nothing to undo.")
		}
		entries = append(entries, e)
		return len(entries) > maxTogether, nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, failure("Nothing to undo.")
	case len(entries) > maxTogether:
		return nil, failure("There are more than %d changes to undo. Undo them one by one.", maxTogether)
	}
	return entries, nil
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

// each gives the entries to visit, the newest first.
func (v *vault) each(j *journal.Journal, visit func(journal.Entry) (stop bool, err error)) error {
	for behind := ""; ; {
		entries, _, err := j.Entries(journal.Filter{Limit: page, OlderThan: behind})
		if err != nil {
			return failure("Cannot use the journal: %v", err)
		}
		for _, e := range entries {
			behind = e.ID
			if stop, err := visit(e); stop || err != nil {
				return err
			}
		}
		if len(entries) < page {
			return nil
		}
	}
}

// stands reports whether a change can be taken back without being named: it is not
// undone, and is no undo.
func stands(e journal.Entry) bool { return e.State != journal.Undone && e.Undoes == "" }

// latest is the last change of a caller that stands, with what takes it back. A
// batch is one change.
type latest struct {
	entries []journal.Entry // the newest first
	undoing proposal
	err     error // why it cannot be taken back
}

// holds reports whether all entries are of the caller's last change.
func (l *latest) holds(entries []journal.Entry) bool {
	return l != nil && !slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return !slices.ContainsFunc(l.entries, func(mine journal.Entry) bool { return mine.ID == e.ID })
	})
}

// latest returns the caller's last change, nil if there is none. One that failed
// and left nothing behind is passed over.
func (v *vault) latest(j *journal.Journal) (found *latest, err error) {
	passed := map[string]bool{}
	err = v.each(j, func(e journal.Entry) (stop bool, err error) {
		if e.Caller != v.caller || !stands(e) || !v.seesAll(e) || passed[e.Batch] {
			return false, nil
		}
		l := latest{entries: []journal.Entry{e}}
		if e.Batch != "" {
			passed[e.Batch] = true
			l.entries, err = v.standing(j, func(other journal.Entry) bool { return other.Batch == e.Batch && other.Caller == e.Caller })
			if err != nil {
				return false, nil // a part of it is hidden: it is not there
			}
		}
		l.undoing, l.err = v.undoing(j, l.entries)
		l.undoing.latest = true
		if l.err != nil || len(l.undoing.steps) > 0 || e.State == journal.Done {
			found = &l
		}
		return found != nil, nil
	})
	return found, err
}

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

// stepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func stepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(text)
}

// stepPath returns a path in an entry as the disk has it.
func (v *vault) stepPath(text string) (disk.Path, error) {
	at, err := stepPath(text)
	if err != nil {
		return at, err
	}
	return v.asListed(at)
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
		return nil, failure("Conflict: there is another file at %q. Nothing was undone.", verbatim(t.was.String()))
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
