package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/state/approvals"
)

// ago says how long ago something was. The script says the same, see page.js.
func ago(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// lasted says how long something takes or has taken, in one or two units.
func lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// took is how long a call took.
func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// exactTime is a time in the zone of the machine, with its zone.
func exactTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -07:00") }

// size is a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1e6:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// settingValue is the value of a setting: a text, a boolean or a list of names.
func settingValue(value any) string {
	if names, ok := value.([]string); ok {
		value = strings.Join(names, ", ")
	}
	return cmp.Or(clean.Line(fmt.Sprint(value)), "none")
}

// questionRow is a line of a question. Class is added or removed for a line of a
// difference, quoted for other text of notes, and "" for the words of this program.
type questionRow struct{ Class, Text string }

// classes are those of the kinds of lines that are not of this program.
var classes = map[approvals.LineKind]string{
	approvals.Quoted: "quoted", approvals.Same: "quoted", approvals.Removed: "removed", approvals.Added: "added",
}

// questionRows returns the rows of a question.
func questionRows(lines []approvals.Line) (rows []questionRow) {
	for _, row := range consent.Rows(lines, consent.Columns) {
		rows = append(rows, questionRow{classes[row.Kind], row.Text})
	}
	return rows
}

// shownText is a text of several lines that somebody else has chosen.
func shownText(text string) string {
	text, _ = clean.Text(text)
	return text
}
