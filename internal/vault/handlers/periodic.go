package handlers

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// periodicNote returns the periodic note that a request means.
func periodicNote(v *call.Vault, p call.Values) (datedNote, error) {
	at := v.Today()
	if p.Has("date") {
		days, err := call.Days(p["date"], at)
		if err != nil {
			return datedNote{}, err
		}
		at = call.OnDay(at, days.First)
	}
	which := periodOf(p["period"])
	settings, err := which.settings(v)
	if err != nil {
		return datedNote{}, err
	}
	return which.noteAt(v, settings, at)
}

// periodicRead prints one note, or, with from=, the notes of all periods until to=.
func periodicRead(v *call.Vault, p call.Values) (answer.Reply, error) {
	switch {
	case p.Has("from") && p.Has("date"):
		return answer.Reply{}, answer.Misuse("Use date=<date> or from=<date>, not both.")
	case p.Has("to") && !p.Has("from"):
		return answer.Reply{}, answer.Misuse("to=<date> ends a range: give from=<date> too.")
	case p.Has("from"):
		first, last, err := daysOfRange(v, p)
		if err != nil {
			return answer.Reply{}, err
		}
		kind := periodOf(p["period"])
		settings, err := kind.settings(v)
		if err != nil {
			return answer.Reply{}, err
		}
		return notesOf(
			v,
			p,
			kind.begin(first, settings.Format),
			last,
			kind,
			"notes",
			func(begin time.Time) (datedNote, error) { return kind.noteAt(v, settings, begin) },
		)
	}
	note, err := periodicNote(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	if _, err := v.Disk.Stat(note.Path); disk.IsMissing(err) {
		return answer.Reply{}, noPeriodicNote.Failure("File %q not found.", answer.Verbatim(note.Path.String()))
	}
	target := call.Values{"path": note.Path.String()}
	if p.Has("heading") {
		target["heading"] = p["heading"]
		return readSection(v, target)
	}
	return v.Show(call.Target{Path: note.Path, Typed: note.Path.String()})
}

// noPeriodicNote is NotFound with a hint for periodic notes.
var noPeriodicNote = answer.NotFound.Advise(
	"periodic:append makes it, where changes are allowed; from= prints the notes of several periods",
)

// period is a kind of period that has notes.
type period struct {
	name   string
	plural string // its key in the settings of early versions of the plugin
	format string // the default format of note names
	months int    // its length, together with days
	days   int
}

var periods = []period{
	{name: "day", plural: "daily", format: defaultDate, days: 1},
	{name: "week", plural: "weekly", format: "gggg-[W]ww", days: 7},
	{name: "month", plural: "monthly", format: "YYYY-MM", months: 1},
	{name: "quarter", plural: "quarterly", format: "YYYY-[Q]Q", months: 3},
	{name: "year", plural: "yearly", format: "YYYY", months: 12},
}

func periodOf(name string) period {
	return periods[slices.IndexFunc(periods, func(p period) bool { return p.name == name })]
}

// The settings files of the plugins that make periodic notes.
const (
	periodicConfig = "plugins/periodic-notes/data.json"
	calendarConfig = "plugins/calendar/data.json"
)

// noteSettings are the user's settings for the notes of one period. Each may be empty.
type noteSettings struct {
	dailySettings
	Enabled      bool   `json:"enabled"`
	TemplatePath string `json:"templatePath"` // replaces Template in later versions of the plugin
}

// settings returns the user's settings for the notes of a period: those of the Periodic Notes plugin if the period is
// enabled there; otherwise those of the app for days, and of the Calendar plugin for weeks.
func (p period) settings(v *call.Vault) (chosen noteSettings, err error) {
	var file map[string]json.RawMessage
	if err := v.ReadConfig(periodicConfig, &file); err != nil {
		return chosen, err
	}
	read := func(text json.RawMessage, into any) {
		if err == nil && len(text) > 0 && json.Unmarshal(text, into) != nil {
			err = answer.Failure("Cannot use the settings in %s.", disk.ConfigPath(periodicConfig))
		}
	}
	read(file[p.plural], &chosen)
	// Later versions of the plugin have several sets of settings, of which one is active.
	var active string
	var sets []map[string]json.RawMessage
	read(file["activeCalendarSet"], &active)
	read(file["calendarSets"], &sets)
	for _, set := range sets {
		var id string
		if read(set["id"], &id); id == active || active == "" {
			read(set[p.name], &chosen)
			break
		}
	}
	switch {
	case err != nil || chosen.Enabled:
	case p.name == "day":
		chosen = noteSettings{}
		err = v.ReadConfig(dailyConfig, &chosen.dailySettings)
	case p.name == "week":
		var calendar struct {
			Folder   string `json:"weeklyNoteFolder"`
			Format   string `json:"weeklyNoteFormat"`
			Template string `json:"weeklyNoteTemplate"`
		}
		err = v.ReadConfig(calendarConfig, &calendar)
		chosen = noteSettings{dailySettings: dailySettings(calendar)}
	default:
		chosen = noteSettings{}
	}
	if strings.TrimSpace(chosen.Format) == "" {
		chosen.Format = p.format
	}
	chosen.Template = cmp.Or(chosen.Template, chosen.TemplatePath)
	return chosen, err
}

// literals matches the literal text in brackets in a format.
var literals = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\]]*\]?`) })

// begin returns the first day of the period that contains at, with the time of day of at. A week begins on Monday if
// the format uses the number or the year of ISO weeks, otherwise on Sunday, as in the English app.
func (p period) begin(at time.Time, format string) time.Time {
	switch {
	case p.name == "week" && strings.ContainsAny(literals().ReplaceAllString(format, ""), "WGE"):
		return at.AddDate(0, 0, -int(at.Weekday()+6)%7)
	case p.name == "week":
		return at.AddDate(0, 0, -int(at.Weekday()))
	case p.months > 0:
		month := (int(at.Month())-1)/p.months*p.months + 1
		return call.OnDay(at, time.Date(at.Year(), time.Month(month), 1, 0, 0, 0, 0, at.Location()))
	}
	return at
}

// noteAt returns the note for the period that contains at.
func (p period) noteAt(v *call.Vault, chosen noteSettings, at time.Time) (datedNote, error) {
	begin := p.begin(at, chosen.Format)
	date := date.Format(begin, chosen.Format)
	path, err := noteIn(v, chosen.Folder, date)
	if err != nil {
		return datedNote{}, answer.Failure(
			"The settings of notes for a %s lead to no note of the vault: %v",
			p.name,
			err,
		)
	}
	return datedNote{Path: path, template: chosen.Template, date: date, now: begin, period: p.name}, nil
}

// distances are the units of an offset in a placeholder, by letter.
var distances = map[byte]struct {
	months, days int
	clock        time.Duration
}{
	'y': {months: 12}, 'q': {months: 3}, 'Q': {months: 3}, 'M': {months: 1},
	'w': {days: 7}, 'd': {days: 1},
	'h': {clock: time.Hour}, 'm': {clock: time.Minute},
}

// dayOf returns the time that a variable of the Periodic Notes plugin means: a weekday in a weekly note, yesterday and
// tomorrow in a daily note, and date or time with an offset, such as date+2d.
func (b blanks) dayOf(name string) (at time.Time, ok bool) {
	lower := strings.ToLower(name)
	switch {
	case b.period == "":
		return time.Time{}, false
	case b.period == "day" && lower == "yesterday":
		return b.now.AddDate(0, 0, -1), true
	case b.period == "day" && lower == "tomorrow":
		return b.now.AddDate(0, 0, 1), true
	}
	for day := time.Sunday; day <= time.Saturday && b.period == "week"; day++ {
		if lower == strings.ToLower(day.String()) {
			return b.now.AddDate(0, 0, (int(day-b.now.Weekday())+7)%7), true
		}
	}
	if !strings.HasPrefix(lower, "date") && !strings.HasPrefix(lower, "time") {
		return time.Time{}, false
	}
	now := b.now
	distance := strings.ReplaceAll(name[len("date"):], " ", "")
	if len(distance) < len("+1d") || distance[0] != '+' && distance[0] != '-' {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(distance[:len(distance)-1])
	if err != nil || n < -maxDays || n > maxDays {
		return time.Time{}, false
	}
	unit, known := distances[distance[len(distance)-1]]
	if unit.clock > 0 {
		return now.Add(time.Duration(n) * unit.clock), true
	}
	return now.AddDate(0, n*unit.months, n*unit.days), known
}
