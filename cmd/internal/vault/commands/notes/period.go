package notes

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/moment"
	"vaultwicket/cmd/internal/vault/session"
)

// period is what one periodic note is about.
type period struct {
	name   string
	plural string // in the settings of the first versions of the plugin
	format string // without settings
	months int    // its length; 0 for days
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

// noteSettings is what the user chose for the notes of one period. Each may be empty.
type noteSettings struct {
	Enabled      bool   `json:"enabled"`
	Folder       string `json:"folder"`
	Format       string `json:"format"`
	Template     string `json:"template"`
	TemplatePath string `json:"templatePath"` // the same, in later versions of the plugin
}

// settings returns what the user chose for the notes of a period: in the Periodic Notes plugin
// if it is enabled there, for days in the app otherwise, and for weeks in the Calendar plugin.
func (p period) settings(v *session.Vault) (noteSettings, error) {
	chosen, err := p.ofPlugin(v)
	switch {
	case err != nil || chosen.Enabled:
	case p.name == "day":
		var daily dailySettings
		err = v.ReadConfig(dailyConfig, &daily)
		chosen = noteSettings{Folder: daily.Folder, Format: daily.Format, Template: daily.Template}
	case p.name == "week":
		var calendar struct {
			Folder   string `json:"weeklyNoteFolder"`
			Format   string `json:"weeklyNoteFormat"`
			Template string `json:"weeklyNoteTemplate"`
		}
		err = v.ReadConfig(calendarConfig, &calendar)
		chosen = noteSettings{Folder: calendar.Folder, Format: calendar.Format, Template: calendar.Template}
	default:
		chosen = noteSettings{}
	}
	if strings.TrimSpace(chosen.Format) == "" {
		chosen.Format = p.format
	}
	chosen.Template = cmp.Or(chosen.Template, chosen.TemplatePath)
	return chosen, err
}

// ofPlugin reads the settings of the Periodic Notes plugin for a period. Later versions of it
// have several sets of them, of which one is active.
func (p period) ofPlugin(v *session.Vault) (chosen noteSettings, err error) {
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
	return chosen, err
}

// begin returns the first day of the period of a moment, at its time of day. A week begins on
// Monday where its notes are named by ISO weeks, and on Sunday otherwise, as in the app in
// English.
func (p period) begin(at time.Time, format string) time.Time {
	switch {
	case p.name == "week" && namesISOWeeks(format):
		return at.AddDate(0, 0, -int(at.Weekday()+6)%7)
	case p.name == "week":
		return at.AddDate(0, 0, -int(at.Weekday()))
	case p.months > 0:
		month := (int(at.Month())-1)/p.months*p.months + 1
		return session.OnDay(at, time.Date(at.Year(), time.Month(month), 1, 0, 0, 0, 0, at.Location()))
	}
	return at
}

// next returns the first day of the next period.
func (p period) next(begin time.Time) time.Time { return begin.AddDate(0, p.months, p.days) }

// namesISOWeeks reports whether a format has the number or the year of ISO weeks.
func namesISOWeeks(format string) bool {
	for {
		before, rest, found := strings.Cut(format, "[")
		if strings.ContainsAny(before, "WGE") {
			return true
		}
		if _, format, _ = strings.Cut(rest, "]"); !found {
			return false
		}
	}
}

// noteAt finds out which note belongs to the period of a moment.
func (p period) noteAt(v *session.Vault, chosen noteSettings, at time.Time) (DailyNote, error) {
	begin := p.begin(at, chosen.Format)
	date := moment.Format(begin, chosen.Format)
	text := session.NormalPath(strings.TrimSpace(chosen.Folder) + "/" + date)
	if !strings.HasSuffix(text, ".md") {
		text += ".md"
	}
	path, err := v.PathOf(text)
	if err != nil {
		return DailyNote{}, answer.Failure("The settings of notes for a %s lead to no note of the vault: %v", p.name, err)
	}
	if p.name == "day" && !chosen.Enabled {
		date = moment.Format(begin, defaultDate)
	}
	return DailyNote{Path: path, template: chosen.Template, date: date, now: begin, period: p.name}, nil
}
