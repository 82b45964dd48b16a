package vault

import (
	"slices"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/note"
	"vaultwicket/cmd/internal/vault/outcome"
)

func dailyCommands() []command {
	pane := param{name: "paneType", oneOf: []string{"tab", "split", "window"}, about: "Has no effect without the app"}
	added := []param{
		{name: "content", hint: "text", kind: content, required: true, about: "Text to add"},
		{name: "inline", kind: flag, about: "Add no line break"},
		{name: "open", kind: flag, about: "Has no effect without the app"},
		pane,
	}
	return []command{
		{
			name: "daily", about: "Make today's note if it is missing, and name it",
			params: []param{pane}, plan: daily, meant: meansDaily(appendedDaily),
		},
		{name: "daily:path", about: "Show the path of today's note", params: dayParams(), run: dailyPath},
		{name: "daily:read", about: "Read today's note", params: dayParams(), run: dailyRead},
		{
			name: "daily:range", about: "Read the daily notes of several days",
			params: []param{
				{name: "from", hint: "YYYY-MM-DD", required: true, about: "The first day"},
				{name: "to", hint: "YYYY-MM-DD", about: "The last day, today if it is left out"},
			},
			run: dailyRange,
		},
		{
			name: "daily:append", about: "Add text at the end of today's note, or below a heading of it",
			params: slices.Concat(added, []param{underHeading()}), plan: dailyEdit(note.Append), meant: meansDaily(appendedDaily),
		},
		{
			name: "daily:prepend", about: "Add text at the start of today's note",
			params: added, plan: dailyEdit(note.Prepend), meant: meansDaily(prepended),
		},
	}
}

// daily makes today's note if it is missing. The app shows it then; nothing
// can be shown here, so the path is the answer.
func daily(v *vault, _ params) (proposal, error) {
	today, err := v.today()
	if err != nil {
		return proposal{}, err
	}
	return v.dailyNote(today, today.path.String(), func(text []byte) ([]byte, error) { return text, nil })
}

// dailyNote returns the proposal to change today's note. If it is missing it is
// made from its template, already changed, so that no half of the work can be
// seen.
func (v *vault) dailyNote(today dailyNote, said string, edit func([]byte) ([]byte, error)) (proposal, error) {
	before, err := v.current(today.path)
	if err != nil {
		return proposal{}, unwritten(today.path.String(), err)
	}
	if before.there {
		after, err := edit(before.text)
		if err != nil {
			return proposal{}, err
		}
		return changing(today.path, before.text, after, said), nil
	}
	text, err := today.fresh(v)
	if err != nil {
		return proposal{}, err
	}
	if text, err = edit(text); err != nil {
		return proposal{}, err
	}
	return proposal{steps: []step{{path: today.path, after: holding(text)}}, said: said, note: today.path}, nil
}

func dailyPath(v *vault, p params) (reply, error) {
	today, err := v.day(p)
	return reply{text: today.path.String(), note: today.path}, err
}

// dailyRead never makes the note, although the app does: a command that reads
// must not write.
func dailyRead(v *vault, p params) (reply, error) {
	today, err := v.day(p)
	if err != nil {
		return reply{}, err
	}
	return v.show(target{today.path, today.path.String()})
}

// maxRange is how many days one answer covers: a year and a day.
const maxRange = 367

// dailyRange reads the notes of several days, oldest first. Days without a
// note are listed as missing.
func dailyRange(v *vault, p params) (reply, error) {
	first, err := v.day(params{"date": p["from"]})
	if err != nil {
		return reply{}, err
	}
	last, err := v.today()
	if p.has("to") {
		last, err = v.day(params{"date": p["to"]})
	}
	if err != nil {
		return reply{}, err
	}
	if last.now.Before(first.now) {
		return reply{}, misuse("Invalid range: %s is after %s.", first.now.Format(time.DateOnly), last.now.Format(time.DateOnly))
	}
	var notes []disk.Path
	for day := first.now; !day.After(last.now); day = day.AddDate(0, 0, 1) {
		if len(notes) == maxRange {
			return reply{}, misuse("Invalid range: more than %d days.", maxRange)
		}
		note, err := v.noteOf(day)
		if err != nil {
			return reply{}, err
		}
		notes = append(notes, note.path)
	}
	return say(v.several(slices.Compact(notes))), nil
}

// dailyEdit returns the command that adds text to today's note in one way.
func dailyEdit(add adding) func(*vault, params) (proposal, error) {
	return func(v *vault, p params) (proposal, error) {
		today, err := v.today()
		if err != nil {
			return proposal{}, err
		}
		return v.dailyNote(today, "Added to: "+today.path.String(), add.of(p))
	}
}

// meansDaily judges today's note, which the app makes from its template if it is
// missing.
func meansDaily(add func(before, now []byte, p params) outcome.Verdict) meaning {
	return func(v *vault, p params, c appChange) (outcome.Verdict, error) {
		if c.before.there {
			return add(c.before.text, c.now.text, p), nil
		}
		today, err := v.today()
		if err != nil {
			return outcome.Verdict{}, err
		}
		fresh, err := today.fresh(v)
		if err != nil {
			return outcome.Verdict{}, err
		}
		verdict := add(fresh, c.now.text, p)
		if !verdict.Done && len(fresh) > 0 && outcome.AddsOnce(c.now.text, fresh, p["content"]) {
			return outcome.Verdict{Done: true, Style: "the app has made the note from the daily template"}, nil
		}
		return verdict, nil
	}
}

func appendedDaily(before, now []byte, p params) outcome.Verdict {
	return outcome.Pieces(now, p.has("inline"), before, []byte(p["content"]))
}
