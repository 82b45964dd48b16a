package history

import (
	"errors"
	"slices"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/state/journal"
)

// undo takes a change back as a whole or not at all. It is a change itself, so
// to undo it does the first one again.
func undo(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	j, err := v.Journal()
	if err != nil {
		return command.Proposal{}, err
	}
	latest, err := latestOf(v, j)
	if err != nil {
		return command.Proposal{}, err
	}
	entries, err := named(v, j, p)
	switch {
	case err != nil:
		return command.Proposal{}, err
	case entries == nil && latest == nil:
		return command.Proposal{}, answer.Failure("Nothing to undo.")
	case entries == nil:
		return latest.undoing, latest.err
	}
	made, err := undoing(v, j, entries)
	made.Latest = latest.holds(entries)
	return made, err
}

// named returns the entries that a request names, the newest first, nil if it names
// none.
func named(v *session.Vault, j *journal.Journal, p grammar.Values) ([]journal.Entry, error) {
	var name string
	for _, param := range []string{"id", "batch", "session"} {
		switch {
		case !p.Has(param):
		case name != "":
			return nil, answer.Misuse("Use %s=<id> or %s=<id>, not both.", name, param)
		default:
			name = param
		}
	}
	if name == "" {
		return nil, nil
	}
	e, err := entryOf(v, j, p[name])
	switch {
	case err != nil:
		return nil, err
	case name == "id" && e.State == journal.Undone:
		return nil, answer.Failure("Change %s is already undone.", e.ID)
	case name == "id":
		return []journal.Entry{e}, nil
	case name == "batch" && e.Batch == "":
		return nil, answer.Failure("Change %s belongs to no batch.", e.ID)
	}
	same := func(other journal.Entry) bool { return other.Session == e.Session && other.Caller == e.Caller }
	if name == "batch" {
		same = func(other journal.Entry) bool { return other.Batch == e.Batch }
	}
	return undoable(v, j, same)
}

// entryOf returns the entry with an id, if all that it concerns may be seen.
func entryOf(v *session.Vault, j *journal.Journal, id string) (journal.Entry, error) {
	if _, err := journal.ParseID(id); err != nil {
		return journal.Entry{}, answer.MisuseWithHint(answer.NotFoundID.Hint, "Invalid value for id: %s", id)
	}
	e, err := j.Entry(id)
	switch {
	case err != nil:
		return e, unfound(id, err)
	case !e.SeenBy(v.Sees):
		return e, unknownChange(id)
	}
	return e, nil
}

// maxTogether is how many changes are taken back together. A batch has a hundred.
const maxTogether = 1000

// undoable returns the changes of a kind that can be taken back: those that are not
// undone, and are no undo themselves. If one of them concerns what is hidden, all of
// them are unknown.
func undoable(v *session.Vault, j *journal.Journal, same func(journal.Entry) bool) (entries []journal.Entry, err error) {
	err = each(v, j, func(e journal.Entry) (stop bool, err error) {
		if !same(e) || !e.Undoable() {
			return false, nil
		}
		if !e.SeenBy(v.Sees) {
			return true, answer.Failure("Nothing to undo.")
		}
		entries = append(entries, e)
		return len(entries) > maxTogether, nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, answer.Failure("Nothing to undo.")
	case len(entries) > maxTogether:
		return nil, answer.Failure("More than %d changes to undo. Undo them one by one.", maxTogether)
	}
	return entries, nil
}

// unfound says why an entry is not to be had.
func unfound(id string, err error) error {
	var unknown *journal.Unknown
	if errors.As(err, &unknown) {
		return unknownChange(id)
	}
	return answer.Failure("Cannot use the journal: %v", err)
}

func unknownChange(id string) error {
	return answer.NotFoundID.Failure("Change %q not found.", answer.Verbatim(id))
}

// page is how many entries are looked at at once.
const page = 1000

// each gives the entries to visit, the newest first.
func each(v *session.Vault, j *journal.Journal, visit func(journal.Entry) (stop bool, err error)) error {
	for behind := ""; ; {
		entries, _, err := j.Entries(journal.Filter{Limit: page, OlderThan: behind})
		if err != nil {
			return answer.Failure("Cannot use the journal: %v", err)
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

// latest is the last change of a caller that is undoable, with what takes it back. A
// batch is one change.
type latest struct {
	entries []journal.Entry // the newest first
	undoing command.Proposal
	err     error // why it cannot be taken back
}

// holds reports whether all entries are of the caller's last change.
func (l *latest) holds(entries []journal.Entry) bool {
	return l != nil && !slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return !slices.ContainsFunc(l.entries, func(mine journal.Entry) bool { return mine.ID == e.ID })
	})
}

// latestOf returns the caller's last change, nil if there is none. One that failed
// and left nothing behind is passed over.
func latestOf(v *session.Vault, j *journal.Journal) (found *latest, err error) {
	passed := map[string]bool{}
	err = each(v, j, func(e journal.Entry) (stop bool, err error) {
		if e.Caller != v.Caller || !e.Undoable() || !e.SeenBy(v.Sees) || passed[e.Batch] {
			return false, nil
		}
		l := latest{entries: []journal.Entry{e}}
		if e.Batch != "" {
			passed[e.Batch] = true
			l.entries, err = undoable(v, j, func(other journal.Entry) bool { return other.Batch == e.Batch && other.Caller == e.Caller })
			if err != nil {
				return false, nil // a part of it is hidden: it is not there
			}
		}
		l.undoing, l.err = undoing(v, j, l.entries)
		l.undoing.Latest = true
		if l.err != nil || len(l.undoing.Steps) > 0 || e.State == journal.Done {
			found = &l
		}
		return found != nil, nil
	})
	return found, err
}
