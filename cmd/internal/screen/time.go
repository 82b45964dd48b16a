package screen

import (
	"fmt"
	"time"
)

// longAgo is when a date says more than a number of days.
const longAgo = 30 * 24 * time.Hour

// Time returns when something was: "3 min ago" on a terminal, a date where that is long
// ago or yet to come, and the exact time (RFC 3339, UTC) everywhere else or with
// --exact-times.
func (s Screen) Time(t time.Time) string {
	if s.exact || !s.IsTerminal() {
		return t.UTC().Format(time.RFC3339)
	}
	switch age := s.now.Sub(t); {
	case age < -time.Minute: // a clock was put back
		return t.UTC().Format(time.RFC3339)
	case age < 5*time.Second:
		return "just now"
	case age > longAgo:
		return t.UTC().Format(time.DateOnly)
	default:
		return Span(age) + " ago"
	}
}

// Span returns a length of time in one unit, rounded down: "40 s", "3 min", "5 h", "2 d".
// It is never below zero.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}
