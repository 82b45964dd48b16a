package notes

import (
	"strconv"
	"strings"
	"time"
)

// dayOf returns the moment that a variable of the Periodic Notes plugin names: a weekday of a
// week, the day before and behind a day, and "date" with a distance, such as date+2d.
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
	return shifted(b.now, strings.ReplaceAll(name[len("date"):], " ", ""))
}

// shifted returns a moment at a distance such as "+2d" from another; ok is false for none.
func shifted(now time.Time, distance string) (at time.Time, ok bool) {
	if len(distance) < len("+1d") || distance[0] != '+' && distance[0] != '-' {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(distance[:len(distance)-1])
	if err != nil || n < -maxDays || n > maxDays {
		return time.Time{}, false
	}
	switch distance[len(distance)-1] {
	case 'y':
		return now.AddDate(n, 0, 0), true
	case 'q', 'Q':
		return now.AddDate(0, 3*n, 0), true
	case 'M':
		return now.AddDate(0, n, 0), true
	case 'w':
		return now.AddDate(0, 0, 7*n), true
	case 'd':
		return now.AddDate(0, 0, n), true
	case 'h':
		return now.Add(time.Duration(n) * time.Hour), true
	case 'm':
		return now.Add(time.Duration(n) * time.Minute), true
	}
	return time.Time{}, false
}
