package vault

import (
	"strconv"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/moment"
)

// The app's settings files that decide about daily notes, and its defaults.
const (
	dailyConfig    = "daily-notes.json"
	templateConfig = "templates.json"

	defaultDate = "YYYY-MM-DD"
	defaultTime = "HH:mm"
)

// dailySettings is what the user chose for daily notes. Each may be empty.
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

// dailyNote is today's note: where it is, and what its template may say.
type dailyNote struct {
	path     disk.Path
	template string // as it is set; may be empty
	date     string // today by the daily format
	now      time.Time
}

// dayParams are the two ways to name another day than today. The app knows
// neither.
func dayParams() []param {
	return []param{
		{name: "date", hint: "YYYY-MM-DD", about: "The note of this day"},
		{name: "offset", hint: "days", about: "The note so many days from today, -1 is yesterday"},
	}
}

// maxDays is how far from today an offset may lead: a century.
const maxDays = 36525

// day finds out which note belongs to the day that p names, today's if it
// names none. The time of day is that of now, for templates that ask for it.
func (v *vault) day(p params) (dailyNote, error) {
	now := v.clock()
	switch {
	case p.has("date") && p.has("offset"):
		return dailyNote{}, misuse("Use date=<YYYY-MM-DD> or offset=<days>, not both.")
	case p.has("date"):
		day, err := time.Parse(time.DateOnly, p["date"])
		if err != nil {
			return dailyNote{}, misuse("Invalid date format. Use YYYY-MM-DD")
		}
		now = time.Date(day.Year(), day.Month(), day.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), now.Location())
	case p.has("offset"):
		days, err := strconv.Atoi(p["offset"])
		if err != nil || days < -maxDays || days > maxDays {
			return dailyNote{}, misuse("Invalid number: %s", p["offset"])
		}
		now = now.AddDate(0, 0, days)
	}
	return v.noteOf(now)
}

// today finds out which note is today's.
func (v *vault) today() (dailyNote, error) { return v.noteOf(v.clock()) }

// noteOf finds out which note belongs to the day of a moment.
func (v *vault) noteOf(now time.Time) (dailyNote, error) {
	var settings dailySettings
	if err := v.config(dailyConfig, &settings); err != nil {
		return dailyNote{}, err
	}
	if strings.TrimSpace(settings.Format) == "" {
		settings.Format = defaultDate
	}
	date := moment.Format(now, settings.Format)
	text := normal(strings.TrimSpace(settings.Folder) + "/" + date)
	if !strings.HasSuffix(text, ".md") {
		text += ".md"
	}
	path, err := v.pathOf(text)
	if err != nil {
		return dailyNote{}, failure("%s leads to no note of the vault: %v", disk.ConfigPath(dailyConfig), err)
	}
	return dailyNote{path: path, template: settings.Template, date: date, now: now}, nil
}
