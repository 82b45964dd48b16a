package notes

import (
	"strconv"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/moment"
	"vaultwicket/cmd/internal/vault/session"
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

// DailyNote is the note of a day or another period: where it is, and what its template
// may say.
type DailyNote struct {
	Path     disk.Path
	template string // as it is set; may be empty
	date     string // of {{date}}: as the app writes it, or by the format of a plugin
	now      time.Time
	period   string // "" for a daily note of the app
}

// maxDays is how far from today an offset may lead: a century.
const maxDays = 36525

// namedDay finds out which note belongs to the day that p names, today's if it
// names none. The time of day is that of now, for templates that ask for it.
func namedDay(v *session.Vault, p grammar.Values) (DailyNote, error) {
	now := v.Today()
	switch {
	case p.Has("date") && p.Has("offset"):
		return DailyNote{}, answer.Misuse("Use date=<date> or offset=<days>, not both.")
	case p.Has("date"):
		span, err := session.Days(p["date"], now)
		if err != nil {
			return DailyNote{}, err
		}
		now = session.OnDay(now, span.First)
	case p.Has("offset"):
		days, err := strconv.Atoi(p["offset"])
		if err != nil || days < -maxDays || days > maxDays {
			return DailyNote{}, answer.Misuse("Invalid number: %s", p["offset"])
		}
		now = now.AddDate(0, 0, days)
	}
	return noteOf(v, now)
}

// Today finds out which note is today's.
func Today(v *session.Vault) (DailyNote, error) { return noteOf(v, v.Today()) }

// OnDay finds out which daily note belongs to the day of a moment.
func OnDay(v *session.Vault, at time.Time) (DailyNote, error) { return noteOf(v, at) }

// noteOf finds out which note belongs to the day of a moment.
func noteOf(v *session.Vault, now time.Time) (DailyNote, error) {
	var settings dailySettings
	if err := v.ReadConfig(dailyConfig, &settings); err != nil {
		return DailyNote{}, err
	}
	if strings.TrimSpace(settings.Format) == "" {
		settings.Format = defaultDate
	}
	text := session.NormalPath(strings.TrimSpace(settings.Folder) + "/" + moment.Format(now, settings.Format))
	if !strings.HasSuffix(text, ".md") {
		text += ".md"
	}
	path, err := v.PathOf(text)
	if err != nil {
		return DailyNote{}, answer.Failure("%s leads to no note of the vault: %v", disk.ConfigPath(dailyConfig), err)
	}
	return DailyNote{Path: path, template: settings.Template, date: moment.Format(now, defaultDate), now: now}, nil
}
