package ui

import (
	"fmt"
	"strings"
	"time"
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

// questionRow is a line of a question. Class is added or removed for a line of a
// difference, quoted for other text of notes, and "" for the words of this program.
type questionRow struct{ Class, Text string }

// bar begins the lines of a question that are text of notes: see package clean.
const bar = "│ "

// questionRows returns the lines of a question.
func questionRows(text string) (rows []questionRow) {
	for line := range strings.Lines(shownText(text)) {
		line = strings.TrimSuffix(line, "\n")
		quoted, isQuoted := strings.CutPrefix(line, bar)
		switch {
		case !isQuoted:
			rows = append(rows, questionRow{"", line})
		case strings.HasPrefix(quoted, "+"):
			rows = append(rows, questionRow{"added", quoted})
		case strings.HasPrefix(quoted, "-"):
			rows = append(rows, questionRow{"removed", quoted})
		default:
			rows = append(rows, questionRow{"quoted", quoted})
		}
	}
	return rows
}

// differenceRows returns the lines of a unified difference.
func differenceRows(diff string) (rows []questionRow) {
	for line := range strings.Lines(shownText(diff)) {
		line = strings.TrimSuffix(line, "\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		}
		rows = append(rows, questionRow{class, line})
	}
	return rows
}
