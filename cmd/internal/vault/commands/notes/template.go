package notes

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/moment"
	"vaultwicket/cmd/internal/vault/session"
)

// maxVariable bounds what may stand between the braces of a variable, so that
// a template full of open braces is not searched to its end for each of them.
const maxVariable = 1000

// fresh returns the text of a new daily note: its template with the variables
// filled in. Without a template, or with one that is set but not there, the
// note is empty, as in the app.
func (d DailyNote) fresh(v *session.Vault) ([]byte, error) {
	name := session.NormalPath(strings.TrimSpace(d.template))
	if name == "" {
		return nil, nil
	}
	path, err := v.Resolve(name)
	var missing *answer.Fault
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := v.Disk.Read(path)
	if err != nil {
		return nil, answer.ReadError(name, err)
	}
	return blanks{now: d.now, date: d.date, title: d.Path.Stem(), period: d.period}.in(v, string(text))
}

// blanks are what is written in the places that a template leaves open.
type blanks struct {
	now   time.Time
	date  string // for a date without a format of its own
	title string
	// period is that of a periodic note, which has more variables; "" for other notes.
	period string
}

// in replaces the variables of a template: date, time and title, in any case,
// the first two with a format behind a colon if wanted. Braces that hold
// nothing known stay.
func (b blanks) in(v *session.Vault, text string) ([]byte, error) {
	v.Origin.Text = text
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		out.WriteString(before)
		if !found {
			v.Origin.Left = leftOver(out.String())
			return []byte(out.String()), nil
		}
		inner, _, closed := strings.Cut(rest[:min(len(rest), maxVariable)], "}}")
		if closed {
			value, known, err := b.variable(v, inner)
			if err != nil {
				return nil, err
			}
			if known {
				out.WriteString(value)
				text = rest[len(inner)+len("}}"):]
				continue
			}
		}
		out.WriteString("{{")
		text = rest
	}
}

// variable returns the value of what stands between the braces.
func (b blanks) variable(v *session.Vault, inner string) (value string, known bool, err error) {
	name, format, _ := strings.Cut(inner, ":")
	if at, ok := b.dayOf(strings.TrimSpace(name)); ok {
		v.Origin.Timed = true
		return moment.Format(at, cmp.Or(strings.TrimSpace(format), defaultDate)), true, nil
	}
	name, format = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(format)
	isClock := name == "date" || name == "time"
	switch {
	case isClock && format != "":
		v.Origin.Timed = true
		return moment.Format(b.now, format), true, nil
	case strings.Contains(inner, ":"):
		return "", false, nil
	case name == "date":
		v.Origin.Timed = true
		return b.date, true, nil
	case name == "time":
		v.Origin.Timed = true
		value, err = b.clock(v)
		return value, true, err
	case name == "title":
		return b.title, true, nil
	}
	return "", false, nil
}

// clock writes the time of day as the user set it for templates. That file is
// read only here, so that a broken one harms nobody who does not need it.
func (b blanks) clock(v *session.Vault) (string, error) {
	settings := templateSettings{}
	if err := v.ReadConfig(templateConfig, &settings); err != nil {
		return "", err
	}
	if settings.TimeFormat == "" {
		settings.TimeFormat = defaultTime
	}
	return moment.Format(b.now, settings.TimeFormat), nil
}
