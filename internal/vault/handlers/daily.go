package handlers

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

func init() {
	register(
		// The app shows the note then; nothing can be shown here, so the path is the answer.
		Command{
			Name:   "daily",
			Help:   "Create today's note if it is missing, and print its path",
			Plan:   ensuring(changing(namedDay, "", unchanged)),
			Verify: meansAdded(appended),
		},
		Command{Name: "daily:ensure", Plan: dailyEnsure},
		Command{Name: "daily:path", Run: pathOf(namedDay)},
		// It never makes the note, although the app does: a command that reads must not write.
		Command{Name: "daily:read", Run: func(v *call.Vault, p call.Values) (answer.Reply, error) {
			today, err := namedDay(v, p)
			if err != nil {
				return answer.Reply{}, err
			}
			return v.Show(call.Target{Path: today.Path, Typed: today.Path.String()})
		}},
		Command{Name: "daily:range", Run: dailyRange},
		Command{
			Name:   "daily:append",
			Plan:   changing(namedDay, "Added to: ", adding(edit.Append).of),
			Verify: meansAdded(appended),
		},
		Command{
			Name:   "daily:prepend",
			Plan:   changing(namedDay, "Added to: ", adding(edit.Prepend).of),
			Verify: meansAdded(prepended),
		},
		Command{Name: "periodic:path", Run: pathOf(periodicNote)},
		Command{Name: "periodic:read", Run: periodicRead},
		Command{Name: "periodic:append", Plan: changing(periodicNote, "Added to: ", adding(edit.Append).of)},
		Command{Name: "unique", Plan: unique, Verify: filledIn(templateStyle), Elsewhere: uniqueElsewhere},
	)
}

// noteOf finds the note of a day or another period that a request means.
type noteOf func(*call.Vault, call.Values) (datedNote, error)

// pathOf returns the command that prints the path of such a note, made or not.
func pathOf(find noteOf) func(*call.Vault, call.Values) (answer.Reply, error) {
	return func(v *call.Vault, p call.Values) (answer.Reply, error) {
		note, err := find(v, p)
		return answer.From(v.Disk, note.Path.String()).About(note.Path), err
	}
}

// changing returns the command that changes such a note in one way.
func changing(
	find noteOf,
	said string,
	rewrite func(call.Values) func([]byte) ([]byte, error),
) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		note, err := find(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		return dailyNote(v, note, said+note.Path.String(), rewrite(p))
	}
}

// unchanged leaves the note as it is, once it is made.
func unchanged(call.Values) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return text, nil }
}

// dailyEnsure makes the note of a day if it is missing, and says which of the two was so. To
// ask again changes nothing.
func dailyEnsure(v *call.Vault, p call.Values) (change.Proposal, error) {
	proposal, err := ensuring(changing(namedDay, "Created: ", unchanged))(v, p)
	if err == nil && proposal.Steps[0].Before.Exists {
		proposal.Message = "Exists: " + proposal.Note.String()
	}
	return proposal, err
}

// ensuring is a plan that asks for a note to be there, and not for a change.
func ensuring(
	plan func(*call.Vault, call.Values) (change.Proposal, error),
) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		proposal, err := plan(v, p)
		proposal.Ensures = true
		return proposal, err
	}
}

// dailyNote returns the proposal to change today's note. If it is missing it is
// made from its template, already changed, so that no half of the work can be
// seen.
func dailyNote(
	v *call.Vault,
	today datedNote,
	said string,
	edit func([]byte) ([]byte, error),
) (change.Proposal, error) {
	before, err := change.ShownState(v, today.Path)
	if err != nil {
		return change.Proposal{}, answer.WriteError(today.Path.String(), err)
	}
	if before.Exists {
		after, err := edit(before.Text.ForProgram())
		if err != nil {
			return change.Proposal{}, err
		}
		return change.ProposeChange(today.Path, before.Text.ForProgram(), after, said), nil
	}
	text, err := today.fresh(v)
	if err != nil {
		return change.Proposal{}, err
	}
	if text, err = edit(text); err != nil {
		return change.Proposal{}, err
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: today.Path, After: change.Existing(text)}},
		Message: said,
		Note:    today.Path,
	}, nil
}

// maxRange is how many days one answer covers: a year and a day.
const maxRange = 367

// dailyRange reads the notes of several days, oldest first. Days without a
// note are listed as missing.
func dailyRange(v *call.Vault, p call.Values) (answer.Reply, error) {
	first, last, err := daysOfRange(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	return notesOf(
		v,
		p,
		first,
		last,
		period{days: 1},
		"days",
		func(day time.Time) (datedNote, error) { return noteOnDay(v, day) },
	)
}

// notesOf reads the notes of the periods that begin from a moment on until another.
func notesOf(
	v *call.Vault,
	p call.Values,
	begin, last time.Time,
	of period,
	things string,
	noteAt func(time.Time) (datedNote, error),
) (answer.Reply, error) {
	var notes []disk.Path
	for ; !begin.After(last); begin = begin.AddDate(0, of.months, of.days) {
		if len(notes) == maxRange {
			return answer.Reply{}, answer.Misuse("Invalid range: more than %d %s.", maxRange, things)
		}
		note, err := noteAt(begin)
		if err != nil {
			return answer.Reply{}, err
		}
		notes = append(notes, note.Path)
	}
	return answer.From(v.Disk, several(v, slices.Compact(notes), p["heading"])), nil
}

// daysOfRange returns a moment of the first and one of the last day. What is a week
// or a month counts from its first day to its last.
func daysOfRange(v *call.Vault, p call.Values) (first, last time.Time, err error) {
	now := v.Today()
	from, err := call.Days(p["from"], now)
	if err != nil {
		return first, last, err
	}
	first = call.OnDay(now, from.First)
	last = now
	if p.Has("to") {
		to, err := call.Days(p["to"], now)
		if err != nil {
			return first, last, err
		}
		last = call.OnDay(now, to.Last)
	}
	if last.Before(first) {
		err = answer.Misuse("Invalid range: %s is after %s.", first.Format(time.DateOnly), last.Format(time.DateOnly))
	}
	return first, last, err
}

// meansAdded judges text that was added to a note: to today's, too, which the app makes from its
// template if it is missing.
func meansAdded(add func(before, now []byte, p call.Values) change.Verdict) change.Verifier {
	return func(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
		if c.Before.Exists {
			return add(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), p), nil
		}
		today, err := todaysNote(v)
		if err != nil {
			return change.Verdict{}, err
		}
		fresh, err := today.fresh(v)
		if err != nil {
			return change.Verdict{}, err
		}
		verdict := add(fresh, c.Now.Text.ForProgram(), p)
		if !verdict.Done && change.AddsOnce(c.Now.Text.ForProgram(), fresh, p["content"]) {
			return change.Verdict{
				Done:  true,
				More:  true,
				Style: "the app has filled the new note by itself, from a template or by a plugin",
			}, nil
		}
		return verdict, nil
	}
}

// The app's settings files that decide about daily notes, and its defaults.
const (
	dailyConfig    = "daily-notes.json"
	templateConfig = "templates.json"

	defaultDate = "YYYY-MM-DD"
	defaultTime = "HH:mm"
)

// dailySettings is what the user chose for daily notes, or for unique ones. Each may be empty.
type dailySettings struct {
	Folder   string `json:"folder"`
	Format   string `json:"format"`
	Template string `json:"template"`
}

// templateSettings is what the user chose for templates. Each may be empty.
type templateSettings struct {
	Folder     string `json:"folder"`
	DateFormat string `json:"dateFormat"`
	TimeFormat string `json:"timeFormat"`
}

// datedNote is the note of a day or another period: where it is, and what its template
// may say.
type datedNote struct {
	Path     disk.Path
	template string // as it is set; may be empty
	// date is that of {{date}}: in the format that names the notes, folders included. So the library
	// obsidian-daily-notes-interface writes it, which follows the app, and the Periodic Notes plugin.
	date   string
	now    time.Time
	period string // "" for a daily note of the app
}

// maxDays is how far from today an offset may lead: a century.
const maxDays = 36525

// namedDay finds out which note belongs to the day that p names, today's if it
// names none. The time of day is that of now, for templates that ask for it.
func namedDay(v *call.Vault, p call.Values) (datedNote, error) {
	now := v.Today()
	switch {
	case p.Has("date") && p.Has("offset"):
		return datedNote{}, answer.Misuse("Use date=<date> or offset=<days>, not both.")
	case p.Has("date"):
		span, err := call.Days(p["date"], now)
		if err != nil {
			return datedNote{}, err
		}
		now = call.OnDay(now, span.First)
	case p.Has("offset"):
		days, err := strconv.Atoi(p["offset"])
		if err != nil || days < -maxDays || days > maxDays {
			return datedNote{}, answer.Misuse("Invalid number: %s", p["offset"])
		}
		now = now.AddDate(0, 0, days)
	}
	return noteOnDay(v, now)
}

// todaysNote finds out which note is today's.
func todaysNote(v *call.Vault) (datedNote, error) { return noteOnDay(v, v.Today()) }

// noteIn returns the path of a note by its name, with or without its extension, in a folder as it is
// set.
func noteIn(v *call.Vault, folder, name string) (disk.Path, error) {
	text := call.NormalPath(strings.TrimSpace(folder) + "/" + name)
	return v.PathOf(strings.TrimSuffix(text, ".md") + ".md")
}

// noteOnDay finds out which daily note belongs to the day of a moment.
func noteOnDay(v *call.Vault, now time.Time) (datedNote, error) {
	var settings dailySettings
	if err := v.ReadConfig(dailyConfig, &settings); err != nil {
		return datedNote{}, err
	}
	if strings.TrimSpace(settings.Format) == "" {
		settings.Format = defaultDate
	}
	date := date.Format(now, settings.Format)
	path, err := noteIn(v, settings.Folder, date)
	if err != nil {
		return datedNote{}, answer.Failure("%s leads to no note of the vault: %v", disk.ConfigPath(dailyConfig), err)
	}
	return datedNote{Path: path, template: settings.Template, date: date, now: now}, nil
}

// The app's settings file for unique notes, and its default.
const (
	uniqueConfig  = "zk-prefixer.json"
	defaultUnique = "YYYYMMDDHHmm"
)

// maxMinutes is how far a name may lie in the future: with a format without
// minutes the next free name is that of tomorrow.
const maxMinutes = 24*60 + 1

// uniqueSettings returns the settings for unique notes, with the folder that a name of p is for.
func uniqueSettings(v *call.Vault, p call.Values) (settings dailySettings, err error) {
	if err := v.ReadConfig(uniqueConfig, &settings); err != nil {
		return settings, err
	}
	settings.Folder = call.NormalPath(strings.TrimSpace(settings.Folder))
	if settings.Folder == "" {
		if settings.Folder, err = newFolder(v); err != nil {
			return settings, err
		}
	}
	if strings.ContainsAny(p["name"], `/\`) {
		return settings, answer.Misuse(
			"Invalid value for name: %s. The folder of unique notes is a setting of the vault.",
			answer.Verbatim(p["name"]),
		)
	}
	if strings.TrimSpace(settings.Format) == "" {
		settings.Format = defaultUnique
	}
	return settings, nil
}

// pathIn returns the path of the unique note of the minute that is so many minutes away.
func (s dailySettings) pathIn(v *call.Vault, p call.Values, minutes int) (disk.Path, error) {
	at := v.Clock().Add(time.Duration(minutes) * time.Minute)
	name := path.Join(s.Folder, strings.TrimSpace(date.Format(at, s.Format)+" "+p["name"]))
	if !strings.HasSuffix(name, ".md") {
		name += ".md"
	}
	made, err := v.PathOf(name)
	if err != nil {
		return made, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(name), err)
	}
	return made, nil
}

// uniqueElsewhere returns where the app may make a unique note: its name is that of the minute in which it is made, or of
// a later one where that is taken.
func uniqueElsewhere(v *call.Vault, p call.Values) (paths []disk.Path, err error) {
	settings, err := uniqueSettings(v, p)
	if err != nil {
		return nil, err
	}
	const laterMinutes = 5 // more than the longest limit of a call
	for n := range laterMinutes {
		at, err := settings.pathIn(v, p, n)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(paths, at) {
			paths = append(paths, at)
		}
	}
	return paths, nil
}

// unique makes the first note from the present minute on whose path is free. In a name, a blank
// separates the time from what is added. Text that is given follows the template's, so that
// neither is lost; as for daily notes, a template that is set but does not exist is none.
func unique(v *call.Vault, p call.Values) (change.Proposal, error) {
	settings, err := uniqueSettings(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	var made disk.Path
	for n := 0; ; n++ {
		if n == maxMinutes {
			return change.Proposal{}, answer.Failure("The names of all unique notes of a day are taken.")
		}
		if made, err = settings.pathIn(v, p, n); err != nil {
			return change.Proposal{}, err
		}
		isFree, err := v.Disk.IsFree(made)
		if err != nil {
			return change.Proposal{}, answer.ReadError(made.String(), err)
		}
		if isFree {
			break
		}
	}
	at, name, err := chosenTemplate(v, settings.Template)
	if err != nil {
		return change.Proposal{}, err
	}
	var text []byte
	if at != (disk.Path{}) {
		var settings templateSettings
		if err := v.ReadConfig(templateConfig, &settings); err != nil {
			return change.Proposal{}, err
		}
		if text, err = fill(v, at, name, settings, made.Stem()); err != nil {
			return change.Proposal{}, err
		}
	}
	if p.Has("content") {
		text = edit.Append(text, p["content"], edit.OwnLine)
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: made, After: change.Existing(text)}},
		Message: "Created: " + made.String(),
		Note:    made,
	}, nil
}
