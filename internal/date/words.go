package date

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fixed reads what does not depend on today.
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

// steps are the words before a day or a period, with how many periods they lead on.
var steps = map[string]int{"last": -1, "previous": -1, "this": 0, "next": 1}

// periods are the names of whole periods.
var periods = map[string]unit{"week": wholeWeek, "month": wholeMonth, "year": wholeYear}

// relative reads what counts from today. The text is in lower case, with one space
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
	which, name, _ := strings.Cut(strings.ReplaceAll(text, "-", " "), " ")
	if offset, known := steps[which]; known {
		if w := weekdayOf(name); w != noWeekday && offset != 0 {
			return Words{weekday: w, offset: offset, signed: true}, true
		}
		if whole, known := periods[name]; known {
			return Words{unit: whole, offset: offset, signed: true}, true
		}
	}
	return distance(text)
}

var weekdayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// weekdayOf returns the weekday of a name, which may be cut after three letters.
func weekdayOf(name string) weekday {
	i := slices.IndexFunc(weekdayNames, func(full string) bool { return name == full || name == full[:3] })
	return weekday(i + 1)
}

var distanceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(in )?([+-]?)([0-9]{1,6}) ?(d|days?|w|weeks?|mo|months?|y|years?)( ago)?$`)
})

// distance reads how far away from today a day is. The letter m alone is no unit: in
// lengths of time it means minutes.
func distance(text string) (Words, bool) {
	for _, past := range []string{"last ", "past "} { // "last 7 days" begins 7 days ago
		if rest, ok := strings.CutPrefix(text, past); ok {
			text = rest + " ago"
		}
	}
	parts := distanceForm().FindStringSubmatch(text)
	if parts == nil {
		return Words{}, false
	}
	ahead := parts[1] != ""
	sign := parts[2]
	back := parts[5] != ""
	isBoth := ahead && back
	isSignedToo := (ahead || back) && sign != ""
	if isBoth || isSignedToo {
		return Words{}, false
	}
	number, _ := strconv.Atoi(parts[3])
	u := days
	length := 1
	switch parts[4][0] {
	case 'w':
		u = weeks
		length = 7
	case 'm':
		u = months
		length = 30
	case 'y':
		u = years
		length = 365
	}
	if number*length > MaxDays {
		return Words{}, false
	}
	if sign == "-" || back {
		number = -number
	}
	return Words{unit: u, offset: number, signed: sign != "" || ahead || back}, true
}

// date is a day of the calendar, without a time zone. The zero date is none.
type date struct {
	year  int
	month time.Month
	day   int
}

func dateOf(t time.Time) date {
	year, month, day := t.Date()
	return date{year, month, day}
}

// noon is a moment of the day by which it is computed: UTC has no day of 23 hours.
func (d date) noon() time.Time { return time.Date(d.year, d.month, d.day, 12, 0, 0, 0, time.UTC) }

func (d date) add(days int) date { return dateOf(d.noon().AddDate(0, 0, days)) }

// monday returns the first day of the week, which is a Monday as in ISO 8601.
func (d date) monday() date { return d.add(-(int(d.noon().Weekday()) + 6) % 7) }

// startOf returns the first moment of a day in a zone. Where clocks are changed at
// midnight the day may begin at one o'clock, or have two midnights.
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

// unit is what a length of time is counted in.
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

// addMonths keeps the day of the month, or takes the last one of a month that has
// fewer.
func (d date) addMonths(n int) date {
	first := time.Date(d.year, d.month+time.Month(n), 1, 12, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return date{first.Year(), first.Month(), min(d.day, last)}
}

// weekday is a day of the week, Monday is 1 and Sunday 7.
type weekday int

const noWeekday weekday = 0

// near returns the day with this name around another one. which is -1 for the last
// one before, 1 for the next one after, and 0 for the nearest in a direction, the
// day itself included.
func (w weekday) near(at date, toward Direction, which int) date {
	back := (int(at.noon().Weekday()) - int(w) + 7) % 7
	ahead := (7 - back) % 7
	switch {
	case which < 0 && back == 0:
		return at.add(-7)
	case which < 0 || which == 0 && toward == Past:
		return at.add(-back)
	case which > 0 && ahead == 0:
		return at.add(7)
	}
	return at.add(ahead)
}
