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
		// The app also opens the note. Nothing can be opened here, so the path is the answer.
		Command{
			Name:   "daily",
			Help:   "Create today's note if it is missing, and print its path",
			Plan:   ensuring(changing(namedDay, "", unchanged)),
			Verify: verifyAdded(appended),
		},
		Command{Name: "daily:ensure", Plan: dailyEnsure},
		Command{Name: "daily:path", Run: pathOf(namedDay)},
		// It never makes the note, unlike the app: a command that reads must not write.
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
			Verify: verifyAdded(appended),
		},
		Command{
			Name:   "daily:prepend",
			Plan:   changing(namedDay, "Added to: ", adding(edit.Prepend).of),
			Verify: verifyAdded(prepended),
		},
		Command{Name: "periodic:path", Run: pathOf(periodicNote)},
		Command{Name: "periodic:read", Run: periodicRead},
		Command{Name: "periodic:append", Plan: changing(periodicNote, "Added to: ", adding(edit.Append).of)},
		Command{Name: "unique", Plan: unique, Verify: filledIn(templateStyle), Elsewhere: uniqueElsewhere},
	)
}

// noteFinder finds the note of the day or other period that a request means.
type noteFinder func(*call.Vault, call.Values) (datedNote, error)

// pathOf returns the command that prints the path of such a note, whether or not it exists.
func pathOf(find noteFinder) func(*call.Vault, call.Values) (answer.Reply, error) {
	return func(v *call.Vault, p call.Values) (answer.Reply, error) {
		note, err := find(v, p)
		return answer.From(v.Disk, note.Path.String()).About(note.Path), err
	}
}

// changing returns the command that applies rewrite to such a note.
func changing(
	find noteFinder,
	message string,
	rewrite func(call.Values) func([]byte) ([]byte, error),
) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		note, err := find(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		return dailyNote(v, note, message+note.Path.String(), rewrite(p))
	}
}

// unchanged is a rewrite that changes nothing.
func unchanged(call.Values) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return text, nil }
}

// dailyEnsure creates the note of a day if it is missing, and reports whether it existed. Repeating it changes nothing.
func dailyEnsure(v *call.Vault, p call.Values) (change.Proposal, error) {
	proposal, err := ensuring(changing(namedDay, "Created: ", unchanged))(v, p)
	if err == nil && proposal.Steps[0].Before.Exists {
		proposal.Message = "Exists: " + proposal.Note.String()
	}
	return proposal, err
}

// ensuring marks the proposals of plan: the request is fulfilled if the note exists, even without a change.
func ensuring(
	plan func(*call.Vault, call.Values) (change.Proposal, error),
) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		proposal, err := plan(v, p)
		proposal.Ensures = true
		return proposal, err
	}
}

// dailyNote proposes to change the note of a day. A missing note is created from its template with the change applied,
// in one step, so that nobody sees an intermediate state.
func dailyNote(
	v *call.Vault,
	note datedNote,
	message string,
	edit func([]byte) ([]byte, error),
) (change.Proposal, error) {
	before, err := change.ShownState(v, note.Path)
	if err != nil {
		return change.Proposal{}, answer.WriteError(note.Path.String(), err)
	}
	if before.Exists {
		after, err := edit(before.Text.ForProgram())
		if err != nil {
			return change.Proposal{}, err
		}
		return change.ProposeChange(note.Path, before.Text.ForProgram(), after, message), nil
	}
	text, err := note.fresh(v)
	if err != nil {
		return change.Proposal{}, err
	}
	if text, err = edit(text); err != nil {
		return change.Proposal{}, err
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: note.Path, After: change.Existing(text)}},
		Message: message,
		Note:    note.Path,
	}, nil
}

// maxRange is how many days or other periods one answer covers: a leap year and a day.
const maxRange = 367

// dailyRange prints the notes of several days, oldest first. Days without a note are listed as missing.
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

// notesOf prints the notes of the periods of a length that start between begin and last. things names the periods in
// an error.
func notesOf(
	v *call.Vault,
	p call.Values,
	begin, last time.Time,
	length period,
	things string,
	noteAt func(time.Time) (datedNote, error),
) (answer.Reply, error) {
	var notes []disk.Path
	for ; !begin.After(last); begin = begin.AddDate(0, length.months, length.days) {
		if len(notes) == maxRange {
			return answer.Reply{}, answer.Misuse("Invalid range: more than %d %s.", maxRange, things)
		}
		note, err := noteAt(begin)
		if err != nil {
			return answer.Reply{}, err
		}
		notes = append(notes, note.Path)
	}
	return answer.From(v.Disk, joinNotes(v, slices.Compact(notes), p["heading"])), nil
}

// daysOfRange returns a time on the first and one on the last day of a range. A week or a month extends from its first
// day to its last.
func daysOfRange(v *call.Vault, p call.Values) (first, last time.Time, err error) {
	now := v.Today()
	start, err := call.Days(p["from"], now)
	if err != nil {
		return first, last, err
	}
	first = call.OnDay(now, start.First)
	last = now
	if p.Has("to") {
		end, err := call.Days(p["to"], now)
		if err != nil {
			return first, last, err
		}
		last = call.OnDay(now, end.Last)
	}
	if last.Before(first) {
		err = answer.Misuse("Invalid range: %s is after %s.", first.Format(time.DateOnly), last.Format(time.DateOnly))
	}
	return first, last, err
}

// verifyAdded returns a verifier for text that the app added to a note. If today's note was missing, the app may have
// created it from its template.
func verifyAdded(judge func(before, now []byte, p call.Values) change.Verdict) change.Verifier {
	return func(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
		if c.Before.Exists {
			return judge(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), p), nil
		}
		today, err := todaysNote(v)
		if err != nil {
			return change.Verdict{}, err
		}
		fresh, err := today.fresh(v)
		if err != nil {
			return change.Verdict{}, err
		}
		verdict := judge(fresh, c.Now.Text.ForProgram(), p)
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

// The app's settings files for daily notes and templates, and the app's defaults.
const (
	dailyConfig    = "daily-notes.json"
	templateConfig = "templates.json"

	defaultDate = "YYYY-MM-DD"
	defaultTime = "HH:mm"
)

// dailySettings are the user's settings for daily notes, or for unique notes. Each may be empty.
type dailySettings struct {
	Folder   string `json:"folder"`
	Format   string `json:"format"`
	Template string `json:"template"`
}

// templateSettings are the user's settings for templates. Each may be empty.
type templateSettings struct {
	Folder     string `json:"folder"`
	DateFormat string `json:"dateFormat"`
	TimeFormat string `json:"timeFormat"`
}

// datedNote is the note of a day or another period: its path, and the values for its template.
type datedNote struct {
	Path     disk.Path
	template string // as in the settings; may be empty
	// date is the value of {{date}}, in the format that names the notes, including folders. The library
	// obsidian-daily-notes-interface, which follows the app, and the Periodic Notes plugin do the same.
	date   string
	now    time.Time // on the day of the note, with the present time of day
	period string    // "" for a daily note of the app
}

// maxDays is the maximum offset from today, in days: a century.
const maxDays = 36525

// namedDay returns the daily note for the date or the offset in p; the default is today. The time of day is the present
// one, for templates that use it.
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

// todaysNote returns today's daily note.
func todaysNote(v *call.Vault) (datedNote, error) { return noteOnDay(v, v.Today()) }

// noteIn returns the path of a note in a folder of the settings. The name may omit the extension.
func noteIn(v *call.Vault, folder, name string) (disk.Path, error) {
	text := call.NormalPath(strings.TrimSpace(folder) + "/" + name)
	return v.PathOf(strings.TrimSuffix(text, ".md") + ".md")
}

// noteOnDay returns the daily note for the day of a time.
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

// The app's settings file for unique notes, and the app's default format.
const (
	uniqueConfig  = "zk-prefixer.json"
	defaultUnique = "YYYYMMDDHHmm"
)

// maxMinutes limits the search for a free name: with a format without hours and minutes the next name is tomorrow's.
const maxMinutes = 24*60 + 1

// uniqueSettings returns the settings for unique notes. It completes the folder and the format, and rejects a name with
// a folder.
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

// pathIn returns the path of the unique note for a time so many minutes from now.
func (s dailySettings) pathIn(v *call.Vault, p call.Values, minutes int) (disk.Path, error) {
	when := v.Clock().Add(time.Duration(minutes) * time.Minute)
	name := path.Join(s.Folder, strings.TrimSpace(date.Format(when, s.Format)+" "+p["name"]))
	if !strings.HasSuffix(name, ".md") {
		name += ".md"
	}
	target, err := v.PathOf(name)
	if err != nil {
		return target, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(name), err)
	}
	return target, nil
}

// uniqueElsewhere returns the paths at which the app may make a unique note: it is named after the minute of its
// creation, or a later minute if that name is in use.
func uniqueElsewhere(v *call.Vault, p call.Values) (paths []disk.Path, err error) {
	settings, err := uniqueSettings(v, p)
	if err != nil {
		return nil, err
	}
	const laterMinutes = 5 // longer than the maximum timeout of a call
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

// unique plans a note at the first free path from the present minute on. A space separates the time from the given
// name. The given content follows that of the template, so that neither is lost. As for daily notes, a template that is
// set but does not exist is ignored.
func unique(v *call.Vault, p call.Values) (change.Proposal, error) {
	settings, err := uniqueSettings(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	var target disk.Path
	for n := 0; ; n++ {
		if n == maxMinutes {
			return change.Proposal{}, answer.Failure("The names of all unique notes of a day are taken.")
		}
		if target, err = settings.pathIn(v, p, n); err != nil {
			return change.Proposal{}, err
		}
		isFree, err := v.Disk.IsFree(target)
		if err != nil {
			return change.Proposal{}, answer.ReadError(target.String(), err)
		}
		if isFree {
			break
		}
	}
	template, name, err := chosenTemplate(v, settings.Template)
	if err != nil {
		return change.Proposal{}, err
	}
	var text []byte
	if template != (disk.Path{}) {
		var settings templateSettings
		if err := v.ReadConfig(templateConfig, &settings); err != nil {
			return change.Proposal{}, err
		}
		if text, err = fill(v, template, name, settings, target.Stem()); err != nil {
			return change.Proposal{}, err
		}
	}
	if p.Has("content") {
		text = edit.Append(text, p["content"], edit.OwnLine)
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: target, After: change.Existing(text)}},
		Message: "Created: " + target.String(),
		Note:    target,
	}, nil
}
