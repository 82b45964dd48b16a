// Package recurrence reads the rules of recurring tasks, such as "every 2 weeks on
// Friday", and computes their next day.
//
// The rules are those that the Tasks plugin for Obsidian documents, with the same days.
// A rule that is not understood is an error: a task whose next day is a guess is worse
// than one that a person has to write.
package recurrence

import (
	"slices"
	"time"
)

// Rule is a recurrence rule. Only [Parse] makes one.
type Rule struct {
	unit     unit
	interval int
	weekdays []weekday
	days     []int // of the month; -1 is the last one
	months   []time.Month
	// WhenDone says that the next day counts from the day on which the task is done.
	WhenDone bool
}

// unit is the length of a period.
type unit uint8

const (
	daily unit = iota
	weekly
	monthly
	yearly
)

// weekday is a day of the week; nth is 0 for every one, 2 for the second of the period and
// -1 for the last.
type weekday struct {
	day time.Weekday
	nth int
}

// farthest is how many days ahead a next day is looked for: the 29th of February comes
// at the latest after eight years, and intervals multiply that.
const farthest = 200 * 366

// Next returns the first day of the rule after a day, from which the rule counts its
// periods too; ok is false where there is none within two centuries.
//
// A rule that names no day keeps that of its start. Where a month or the February of a
// year is too short for it, the last day there counts, and not the month behind it.
func (r Rule) Next(start time.Time) (next time.Time, ok bool) {
	if len(r.weekdays)+len(r.days)+len(r.months) == 0 && r.unit >= monthly {
		return r.samePlace(start), true
	}
	from := r.from(start)
	for d := start.AddDate(0, 0, 1); d.Sub(start) < farthest*24*time.Hour; d = d.AddDate(0, 0, 1) {
		if from.includes(start, d) {
			return d, true
		}
	}
	return time.Time{}, false
}

// samePlace returns the same day of the month one period later, or the last one there.
func (r Rule) samePlace(start time.Time) time.Time {
	months := r.interval
	if r.unit == yearly {
		months *= 12
	}
	first := time.Date(start.Year(), start.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(start.Day(), daysIn(first))-1)
}

func daysIn(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// from fills in what a rule leaves open with the day of its start.
func (r Rule) from(start time.Time) Rule {
	if len(r.weekdays)+len(r.days) > 0 {
		return r
	}
	switch r.unit {
	case weekly:
		r.weekdays = []weekday{{day: start.Weekday()}}
	case monthly, yearly:
		r.days = []int{start.Day()}
	}
	return r
}

// includes reports whether a day is one of the rule, whose periods count from start.
func (r Rule) includes(start, d time.Time) bool {
	if r.periods(start, d)%r.interval != 0 || len(r.months) > 0 && !slices.Contains(r.months, d.Month()) {
		return false
	}
	last := daysIn(d)
	if len(r.days) > 0 && !slices.ContainsFunc(r.days, func(day int) bool { return day == d.Day() || day == d.Day()-last-1 }) {
		return false
	}
	return len(r.weekdays) == 0 || slices.ContainsFunc(r.weekdays, func(w weekday) bool { return r.falls(w, d) })
}

// periods returns how many periods lie between two days. A week begins on Monday.
func (r Rule) periods(start, d time.Time) int {
	switch r.unit {
	case daily:
		return dayNumber(d) - dayNumber(start)
	case weekly:
		return (dayNumber(d)+3)/7 - (dayNumber(start)+3)/7 // day 0 was a Thursday
	case monthly:
		return 12*(d.Year()-start.Year()) + int(d.Month()) - int(start.Month())
	}
	return d.Year() - start.Year()
}

func dayNumber(t time.Time) int { return int(t.Unix() / (24 * 60 * 60)) }

// falls reports whether a day is that day of the week of its month, or of its year where
// the rule counts years and names no month.
func (r Rule) falls(w weekday, d time.Time) bool {
	number, size := d.Day(), daysIn(d)
	if r.unit == yearly && len(r.months) == 0 {
		number, size = d.YearDay(), time.Date(d.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
	}
	switch {
	case d.Weekday() != w.day:
		return false
	case w.nth == 0 || r.unit < monthly:
		return true
	case w.nth > 0:
		return (number-1)/7+1 == w.nth
	}
	return (size-number)/7+1 == -w.nth
}
