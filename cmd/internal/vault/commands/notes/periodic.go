package notes

import (
	"slices"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// periodicNote finds out which note a request is about.
func periodicNote(v *session.Vault, p grammar.Values) (DailyNote, error) {
	at := v.Today()
	if p.Has("date") {
		days, err := session.Days(p["date"], at)
		if err != nil {
			return DailyNote{}, err
		}
		at = session.OnDay(at, days.First)
	}
	which := periodOf(p["period"])
	chosen, err := which.settings(v)
	if err != nil {
		return DailyNote{}, err
	}
	return which.noteAt(v, chosen, at)
}

func periodicPath(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	note, err := periodicNote(v, p)
	return answer.Reply{Text: note.Path.String(), Note: note.Path}, err
}

// periodicRead prints one note, or with from= the notes of all periods until to=.
func periodicRead(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	switch {
	case p.Has("from") && p.Has("date"):
		return answer.Reply{}, answer.Misuse("Use date=<date> or from=<date>, not both.")
	case p.Has("to") && !p.Has("from"):
		return answer.Reply{}, answer.Misuse("to=<date> ends a range: give from=<date> too.")
	case p.Has("from"):
		return periodicRange(v, p)
	}
	note, err := periodicNote(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	if _, err := v.Disk.Stat(note.Path); disk.IsMissing(err) {
		return answer.Reply{}, noPeriodicNote.Failure("File %q not found.", answer.Verbatim(note.Path.String()))
	}
	target := grammar.Values{"path": note.Path.String()}
	if p.Has("heading") {
		target["heading"] = p["heading"]
		return readSection(v, target)
	}
	return v.Show(session.Target{Path: note.Path, Typed: note.Path.String()})
}

// noPeriodicNote has another hint than a file that somebody has named.
var noPeriodicNote = answer.Kind{Code: answer.NotFound.Code, Hint: "periodic:append makes it, where changes are allowed; from= prints the notes of several periods"}

// periodicRange prints the notes of several periods, the missing ones named.
func periodicRange(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	first, last, err := daysOfRange(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	which := periodOf(p["period"])
	chosen, err := which.settings(v)
	if err != nil {
		return answer.Reply{}, err
	}
	var notes []disk.Path
	for begin := which.begin(first, chosen.Format); !begin.After(last); begin = which.next(begin) {
		if len(notes) == maxRange {
			return answer.Reply{}, answer.Misuse("Invalid range: more than %d notes.", maxRange)
		}
		note, err := which.noteAt(v, chosen, begin)
		if err != nil {
			return answer.Reply{}, err
		}
		notes = append(notes, note.Path)
	}
	return answer.Text(several(v, slices.Compact(notes), p["heading"])), nil
}

func periodicAppend(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	target, err := periodicNote(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	return dailyNote(v, target, "Added to: "+target.Path.String(), adding(edit.Append).of(p))
}
