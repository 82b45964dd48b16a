package notes

import (
	"slices"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/cmd/internal/vault/session"
)

// daily makes today's note if it is missing. The app shows it then; nothing
// can be shown here, so the path is the answer.
func daily(v *session.Vault, _ grammar.Values) (command.Proposal, error) {
	today, err := Today(v)
	if err != nil {
		return command.Proposal{}, err
	}
	return dailyNote(v, today, today.Path.String(), func(text []byte) ([]byte, error) { return text, nil })
}

// dailyEnsure makes the note of a day if it is missing, and says which of the two was so. To
// ask again changes nothing.
func dailyEnsure(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	note, err := namedDay(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	proposal, err := dailyNote(v, note, "Created: "+note.Path.String(), func(text []byte) ([]byte, error) { return text, nil })
	if err == nil && proposal.Steps[0].Before.Exists {
		proposal.Message = "Exists: " + note.Path.String()
	}
	return proposal, err
}

// dailyNote returns the proposal to change today's note. If it is missing it is
// made from its template, already changed, so that no half of the work can be
// seen.
func dailyNote(v *session.Vault, today DailyNote, said string, edit func([]byte) ([]byte, error)) (command.Proposal, error) {
	before, err := command.CurrentState(v, today.Path)
	if err != nil {
		return command.Proposal{}, answer.WriteError(today.Path.String(), err)
	}
	if before.Exists {
		after, err := edit(before.Text)
		if err != nil {
			return command.Proposal{}, err
		}
		return command.ProposeChange(today.Path, before.Text, after, said), nil
	}
	text, err := today.fresh(v)
	if err != nil {
		return command.Proposal{}, err
	}
	if text, err = edit(text); err != nil {
		return command.Proposal{}, err
	}
	return command.Proposal{Steps: []command.Step{{Path: today.Path, After: command.Existing(text)}}, Message: said, Note: today.Path}, nil
}

func dailyPath(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	today, err := namedDay(v, p)
	return answer.Reply{Text: today.Path.String(), Note: today.Path}, err
}

// dailyRead never makes the note, although the app does: a command that reads
// must not write.
func dailyRead(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	today, err := namedDay(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	return v.Show(session.Target{Path: today.Path, Typed: today.Path.String()})
}

// maxRange is how many days one answer covers: a year and a day.
const maxRange = 367

// dailyRange reads the notes of several days, oldest first. Days without a
// note are listed as missing.
func dailyRange(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	first, last, err := daysOfRange(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	var notes []disk.Path
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		if len(notes) == maxRange {
			return answer.Reply{}, answer.Misuse("Invalid range: more than %d days.", maxRange)
		}
		note, err := noteOf(v, day)
		if err != nil {
			return answer.Reply{}, err
		}
		notes = append(notes, note.Path)
	}
	return answer.Text(several(v, slices.Compact(notes), p["heading"])), nil
}

// daysOfRange returns a moment of the first and one of the last day. What is a week
// or a month counts from its first day to its last.
func daysOfRange(v *session.Vault, p grammar.Values) (first, last time.Time, err error) {
	now := v.Today()
	from, err := session.Days(p["from"], now)
	if err != nil {
		return first, last, err
	}
	first, last = session.OnDay(now, from.First), now
	if p.Has("to") {
		to, err := session.Days(p["to"], now)
		if err != nil {
			return first, last, err
		}
		last = session.OnDay(now, to.Last)
	}
	if last.Before(first) {
		err = answer.Misuse("Invalid range: %s is after %s.", first.Format(time.DateOnly), last.Format(time.DateOnly))
	}
	return first, last, err
}

// dailyEdit returns the command that adds text to today's note in one way.
func dailyEdit(add adding) func(*session.Vault, grammar.Values) (command.Proposal, error) {
	return func(v *session.Vault, p grammar.Values) (command.Proposal, error) {
		today, err := Today(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return dailyNote(v, today, "Added to: "+today.Path.String(), add.of(p))
	}
}

// meansDaily judges today's note, which the app makes from its template if it is
// missing.
func meansDaily(add func(before, now []byte, p grammar.Values) outcome.Verdict) command.Verifier {
	return func(v *session.Vault, p grammar.Values, c command.AppChange) (outcome.Verdict, error) {
		if c.Before.Exists {
			return add(c.Before.Text, c.Now.Text, p), nil
		}
		today, err := Today(v)
		if err != nil {
			return outcome.Verdict{}, err
		}
		fresh, err := today.fresh(v)
		if err != nil {
			return outcome.Verdict{}, err
		}
		verdict := add(fresh, c.Now.Text, p)
		if !verdict.Done && len(fresh) > 0 && outcome.AddsOnce(c.Now.Text, fresh, p["content"]) {
			return outcome.Verdict{Done: true, Style: "the app has made the note from the daily template"}, nil
		}
		return verdict, nil
	}
}

func appendedDaily(before, now []byte, p grammar.Values) outcome.Verdict {
	return outcome.Pieces(now, p.Has("inline"), before, []byte(p["content"]))
}
