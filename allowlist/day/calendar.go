package day

import "time"

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

// span returns the days that are offset units away from a day: one day, or all days
// of a whole unit.
func (u unit) span(from date, offset int) (first, last date) {
	switch u {
	case days:
		first = from.add(offset)
	case weeks:
		first = from.add(7 * offset)
	case months:
		first = from.addMonths(offset)
	case years:
		first = from.addMonths(12 * offset)
	case wholeWeek:
		first = from.monday().add(7 * offset)
		return first, first.add(6)
	case wholeMonth:
		first = date{from.year, from.month, 1}.addMonths(offset)
		return first, first.addMonths(1).add(-1)
	case wholeYear:
		return date{from.year + offset, time.January, 1}, date{from.year + offset, time.December, 31}
	}
	return first, first
}

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
