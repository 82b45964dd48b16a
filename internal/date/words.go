package date

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fixed parses a text that does not depend on today.
func fixed(text string) (Words, bool) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return Words{anchor: dateOf(t)}, true
	}
	if t, err := time.Parse("2006-01", text); err == nil && t.Year() > 0 {
		return Words{anchor: dateOf(t), unit: wholeMonth}, true
	}
	parts := isoWeekForm().FindStringSubmatch(text)
	if parts == nil {
		return Words{}, false
	}
	year, _ := strconv.Atoi(parts[1])
	week, _ := strconv.Atoi(parts[2])
	// The fourth of January is always in the first week.
	monday := date{year, time.January, 4}.monday().add(7 * (week - 1))
	if y, w := monday.noon().ISOWeek(); year < 1 || y != year || w != week {
		return Words{}, false
	}
	if parts[3] == "" {
		return Words{anchor: monday, unit: wholeWeek}, true
	}
	number, _ := strconv.Atoi(parts[3])
	return Words{anchor: monday.add(number - 1)}, true
}

var isoWeekForm = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{4})-?[wW]([0-9]{2})(?:-?([1-7]))?$`) },
)

// steps maps a word before a day or a period to the number of periods to add.
var steps = map[string]int{"last": -1, "previous": -1, "this": 0, "next": 1}

// periods maps the names of whole periods to their units.
var periods = map[string]unit{"week": wholeWeek, "month": wholeMonth, "year": wholeYear}

// relative parses a text that is relative to today. The text must be in lower case, with single spaces
// between words.
func relative(text string) (Words, bool) {
	switch text {
	case "today", "now":
		return Words{}, true
	case "yesterday":
		return Words{offset: -1, signed: true}, true
	case "tomorrow":
		return Words{offset: 1, signed: true}, true
	}
	if w := weekdayOf(text); w != noWeekday {
		return Words{weekday: w}, true
	}
	// "last monday" and "next week"
	step, name, _ := strings.Cut(strings.ReplaceAll(text, "-", " "), " ")
	if offset, known := steps[step]; known {
		if w := weekdayOf(name); w != noWeekday && offset != 0 {
			return Words{weekday: w, offset: offset, signed: true}, true
		}
		if period, known := periods[name]; known {
			return Words{unit: period, offset: offset, signed: true}, true
		}
	}
	return distance(text)
}

var weekdayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// weekdayOf returns the weekday with the given name or three-letter abbreviation, noWeekday if there
// is none.
func weekdayOf(name string) weekday {
	i := slices.IndexFunc(weekdayNames, func(full string) bool { return name == full || name == full[:3] })
	return weekday(i + 1)
}

var distanceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(in )?([+-]?)([0-9]{1,6}) ?(d|days?|w|weeks?|mo|months?|y|years?)( ago)?$`)
})

// distance parses a distance from today, such as "-3d" or "in 2 weeks". The letter m alone is not
// accepted as a unit: in durations it means minutes.
func distance(text string) (Words, bool) {
	for _, prefix := range []string{"last ", "past "} { // "last 7 days" begins 7 days ago
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			text = rest + " ago"
		}
	}
	parts := distanceForm().FindStringSubmatch(text)
	if parts == nil {
		return Words{}, false
	}
	isIn := parts[1] != ""
	sign := parts[2]
	isAgo := parts[5] != ""
	isBoth := isIn && isAgo
	isSignedToo := (isIn || isAgo) && sign != ""
	if isBoth || isSignedToo {
		return Words{}, false
	}
	number, _ := strconv.Atoi(parts[3])
	u := days
	daysPerUnit := 1
	switch parts[4][0] {
	case 'w':
		u = weeks
		daysPerUnit = 7
	case 'm':
		u = months
		daysPerUnit = 30
	case 'y':
		u = years
		daysPerUnit = 365
	}
	if number*daysPerUnit > MaxDays {
		return Words{}, false
	}
	if sign == "-" || isAgo {
		number = -number
	}
	return Words{unit: u, offset: number, signed: sign != "" || isIn || isAgo}, true
}

// date is a calendar day without a time zone. The zero date means none.
type date struct {
	year  int
	month time.Month
	day   int
}

func dateOf(t time.Time) date {
	year, month, day := t.Date()
	return date{year, month, day}
}

// noon returns a moment of the day for calculations. It is in UTC, which has no days of 23 or 25 hours.
func (d date) noon() time.Time { return time.Date(d.year, d.month, d.day, 12, 0, 0, 0, time.UTC) }

func (d date) add(days int) date { return dateOf(d.noon().AddDate(0, 0, days)) }

// monday returns the first day of the ISO 8601 week.
func (d date) monday() date { return d.add(-(int(d.noon().Weekday()) + 6) % 7) }

// startOf returns the first moment of a day in a time zone. Where the clocks change at midnight, the
// day may begin at one o'clock, or have two midnights.
func startOf(d date, zone *time.Location) time.Time {
	start := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, zone)
	if start.Day() != d.day {
		start = start.Add(time.Hour)
	}
	if earlier := start.Add(-time.Hour); earlier.Day() == start.Day() {
		return earlier
	}
	return start
}

// unit is the unit of an offset.
type unit int

const (
	days unit = iota
	weeks
	months
	years
	wholeWeek
	wholeMonth
	wholeYear
)

// addMonths adds n months. It keeps the day of the month, or uses the last day of a shorter month.
func (d date) addMonths(n int) date {
	first := time.Date(d.year, d.month+time.Month(n), 1, 12, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return date{first.Year(), first.Month(), min(d.day, last)}
}

// weekday is a day of the week, from 1 for Monday to 7 for Sunday.
type weekday int

const noWeekday weekday = 0

// near returns a day with this weekday near the day at. which is -1 for the last one before at, 1 for
// the next one after it, and 0 for the nearest in the direction toward, at itself included.
func (w weekday) near(at date, toward Direction, which int) date {
	daysBack := (int(at.noon().Weekday()) - int(w) + 7) % 7
	daysAhead := (7 - daysBack) % 7
	switch {
	case which < 0 && daysBack == 0:
		return at.add(-7)
	case which < 0 || which == 0 && toward == Past:
		return at.add(-daysBack)
	case which > 0 && daysAhead == 0:
		return at.add(7)
	}
	return at.add(daysAhead)
}
