package vault

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/note"
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
			params: []param{pane}, writes: true, run: daily,
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
			name: "daily:append", about: "Add text at the end of today's note",
			params: added, writes: true, run: dailyEdit(note.Append),
		},
		{
			name: "daily:prepend", about: "Add text at the start of today's note",
			params: added, writes: true, run: dailyEdit(note.Prepend),
		},
	}
}

// daily makes today's note if it is missing. The app shows it then; nothing
// can be shown here, so the path is the answer.
func daily(v *vault, _ params) (reply, error) {
	today, err := v.today()
	if err != nil {
		return reply{}, err
	}
	said := reply{text: today.path.String(), note: today.path}
	_, err = v.disk.Stat(today.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return said, unwritten(today.path.String(), err)
	}
	text, err := today.fresh(v)
	if err != nil {
		return reply{}, err
	}
	err = v.disk.Make(today.path, text)
	if errors.Is(err, fs.ErrExist) {
		return said, nil // somebody else was faster, and that is as good
	}
	said.change = &change{after: digest(text)}
	return said, unwritten(today.path.String(), err)
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
func dailyEdit(add func(text []byte, content string, inline bool) []byte) func(*vault, params) (reply, error) {
	return func(v *vault, p params) (reply, error) {
		today, err := v.today()
		if err != nil {
			return reply{}, err
		}
		made, err := v.editOrMake(today, func(text []byte) []byte { return add(text, p["content"], p.has("inline")) })
		if err != nil {
			return reply{}, unwritten(today.path.String(), err)
		}
		return reply{text: "Added to: " + today.path.String(), note: today.path, change: made}, nil
	}
}

// editOrMake changes today's note. If it is missing it is made from its
// template, already changed, so that no half of the work can be seen. If
// somebody else makes it in between, theirs is changed.
func (v *vault) editOrMake(today dailyNote, edit func([]byte) []byte) (*change, error) {
	before, after, err := v.disk.Edit(today.path, edit)
	if errors.Is(err, fs.ErrNotExist) {
		var text []byte
		if text, err = today.fresh(v); err != nil {
			return nil, err
		}
		text = edit(text)
		err = v.disk.Make(today.path, text)
		if err == nil {
			return &change{after: digest(text)}, nil
		}
		if errors.Is(err, fs.ErrExist) {
			before, after, err = v.disk.Edit(today.path, edit)
		}
	}
	if err != nil {
		return nil, err
	}
	return &change{before: digest(before), after: digest(after)}, nil
}
