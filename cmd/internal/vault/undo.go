package vault

import (
	"errors"
	"slices"

	"vaultwicket/gateway/state/journal"
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

func unknownChange(id string) error { return notFound.failure("Change %q not found.", verbatim(id)) }

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
