package task

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rule is a recurrence rule, made by [Parse].
type Rule struct {
	unit     unit
	interval int
	weekdays []weekday
	days     []int // days of the month; -1 is the last one
	months   []time.Month
	WhenDone bool // whether the next date counts from the day on which the task is done
}

// unit is the length of a period.
type unit uint8

const (
	daily unit = iota
	weekly
	monthly
	yearly
)

// weekday is a day of the week. nth is 0 for every such day, 2 for the second in the period, and
// -1 for the last.
type weekday struct {
	day time.Weekday
	nth int
}

// farthest is how many days ahead the next date is searched for: there are at most eight years
// between two 29ths of February, and the interval multiplies that.
const farthest = 200 * 366

// Next returns the first date of the rule after start; the periods of the rule count from
// start, too. ok is false if there is none within two centuries.
//
// A rule without a day uses the day of start. If a month is too short for it, the last day
// of that month counts.
func (r Rule) Next(start time.Time) (next time.Time, ok bool) {
	if len(r.weekdays)+len(r.days)+len(r.months) == 0 && r.unit >= monthly {
		months := r.interval
		if r.unit == yearly {
			months *= 12
		}
		first := time.Date(start.Year(), start.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		return first.AddDate(0, 0, min(start.Day(), daysIn(first))-1), true
	}
	if len(r.weekdays)+len(r.days) == 0 { // the default is the day of start
		switch r.unit {
		case weekly:
			r.weekdays = []weekday{{day: start.Weekday()}}
		case monthly, yearly:
			r.days = []int{start.Day()}
		}
	}
	for d := start.AddDate(0, 0, 1); d.Sub(start) < farthest*24*time.Hour; d = d.AddDate(0, 0, 1) {
		if r.includes(start, d) {
			return d, true
		}
	}
	return time.Time{}, false
}

func daysIn(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// includes reports whether the rule includes the date d; its periods count from start. A week begins on
// Monday.
func (r Rule) includes(start, d time.Time) bool {
	periods := d.Year() - start.Year()
	switch r.unit {
	case daily:
		periods = dayNumber(d) - dayNumber(start)
	case weekly:
		periods = (dayNumber(d)+3)/7 - (dayNumber(start)+3)/7 // day 0 was a Thursday
	case monthly:
		periods = 12*periods + int(d.Month()) - int(start.Month())
	}
	hasMonth := len(r.months) == 0 || slices.Contains(r.months, d.Month())
	if periods%r.interval != 0 || !hasMonth {
		return false
	}
	last := daysIn(d)
	isDay := func(day int) bool { return day == d.Day() || day == d.Day()-last-1 }
	if len(r.days) > 0 && !slices.ContainsFunc(r.days, isDay) {
		return false
	}
	if len(r.weekdays) == 0 {
		return true
	}
	return slices.ContainsFunc(r.weekdays, func(w weekday) bool { return r.isWeekday(d, w) })
}

// isWeekday reports whether d is the weekday w in its month, or in its year for a yearly rule without months.
func (r Rule) isWeekday(d time.Time, w weekday) bool {
	number := d.Day()
	size := daysIn(d)
	if r.unit == yearly && len(r.months) == 0 {
		number = d.YearDay()
		size = time.Date(d.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
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

func dayNumber(t time.Time) int { return int(t.Unix() / (24 * 60 * 60)) }

// Parse parses a rule: "every", an optional number, a unit or the names of days or months,
// an optional "on" with days, and an optional "when done". Case does not matter. The error
// says what is not understood.
func Parse(text string) (Rule, error) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",", " , ")))
	p := parser{rule: Rule{interval: 1}, words: words}
	if n := len(words); n >= 2 && words[n-2] == "when" && words[n-1] == "done" {
		p.rule.WhenDone = true
		p.words = words[:n-2]
	}
	if !p.accept("every") {
		return Rule{}, errors.New("it does not begin with \"every\"")
	}
	word := p.next()
	if n := slices.Index([]string{"one", "two", "three"}, word); n >= 0 {
		p.rule.interval = n + 1
		p.skip()
	} else if n, err := strconv.Atoi(word); err == nil && n > 0 && n <= maxInterval {
		p.rule.interval = n
		p.skip()
	}
	word = p.next()
	switch i := slices.Index([]string{"week", "month", "year"}, strings.TrimSuffix(word, "s")); {
	case word == "":
		p.fail("it does not say every what")
	case isUnit(word, "day"):
		p.skip()
	case isUnit(word, "weekday"):
		p.skip()
		p.rule.unit = weekly
		p.rule.weekdays = workdays()
	case i >= 0:
		p.skip()
		p.rule.unit = weekly + unit(i)
		p.on()
	case weekdayOf(word) >= 0:
		p.rule.unit = weekly
		p.list(func(word string) bool {
			day := weekdayOf(word)
			p.rule.weekdays = append(p.rule.weekdays, weekday{day: day})
			return day >= 0
		})
	case monthOf(word) > 0:
		p.rule.unit = yearly
		p.list(func(word string) bool {
			month := monthOf(word)
			p.rule.months = append(p.rule.months, month)
			return month > 0
		})
		p.on()
	}
	if len(p.words) > 0 {
		p.unknown()
	}
	if p.err != nil {
		return Rule{}, p.err
	}
	return p.rule, nil
}

// parser consumes the words of a rule. After the first error there are none left.
type parser struct {
	rule  Rule
	words []string
	err   error
}

// maxInterval is the maximum number of periods between two dates of a rule.
const maxInterval = 1000

// list consumes names separated by commas, "and" or "or". take is called for each of them; it reports whether the name
// is valid.
func (p *parser) list(take func(word string) bool) {
	for more := true; more; more = p.comma() {
		if !take(p.next()) {
			p.unknown()
			return
		}
		p.skip()
	}
}

// comma consumes the separators between two items of a list, and reports whether there were any.
func (p *parser) comma() (found bool) {
	for p.accept(",", "and", "or") {
		found = true
	}
	return found
}

// on consumes the days of a period: "on Monday, Friday", "on the 1st and 24th", "on the 2nd
// last Friday", "on the last".
func (p *parser) on() {
	if p.next() == "" {
		return
	}
	if !p.accept("on", "in", "the") {
		p.unknown()
	}
	for more := p.err == nil; more; more = p.comma() || p.next() == "on" || p.next() == "the" {
		for p.accept("on", "in", "the") {
		}
		p.item()
	}
}

// item consumes one day of a period.
func (p *parser) item() {
	nth := 0 // 2 for "2nd", -1 for "last", -2 for "2nd last"
	if p.accept("last") {
		nth = -1
	} else {
		word := p.next()
		nth = ordinal(word)
		if nth < 0 || nth > 31 {
			p.unknown()
			return
		}
		if nth != 0 {
			p.skip()
			if p.accept("last") {
				nth = -nth
			}
		}
	}
	word := p.next()
	day := weekdayOf(word)
	month := monthOf(word)
	switch {
	case nth != 0 && day >= 0:
		p.rule.weekdays = append(p.rule.weekdays, weekday{day, nth})
	case nth != 0:
		p.rule.days = append(p.rule.days, nth)
		if !isUnit(word, "day") {
			return
		}
	case day >= 0:
		p.rule.weekdays = append(p.rule.weekdays, weekday{day: day})
	case isUnit(word, "weekday"):
		p.rule.weekdays = append(p.rule.weekdays, workdays()...)
	case month > 0:
		p.rule.months = append(p.rule.months, month)
	default:
		p.unknown()
		return
	}
	p.skip()
}

func (p *parser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

func (p *parser) skip() { p.words = p.words[1:] }

// accept consumes one of several words, if it is the next.
func (p *parser) accept(words ...string) bool {
	if !slices.Contains(words, p.next()) {
		return false
	}
	p.skip()
	return true
}

// ordinal returns the number of a word such as "first", "2nd" or "3."; 0 if it is not one.
func ordinal(word string) int {
	if n := slices.Index([]string{"first", "second", "third"}, word); n >= 0 {
		return n + 1
	}
	for _, ending := range []string{"st", "nd", "rd", "th", "."} {
		digits, isOrdinal := strings.CutSuffix(word, ending)
		if !isOrdinal {
			continue
		}
		if n, _ := strconv.Atoi(digits); n != 0 {
			return n
		}
	}
	return 0
}

// unknown fails because the next word of the rule is not understood.
func (p *parser) unknown() {
	switch word := p.next(); word {
	case "":
		p.fail("it ends too early")
	case "until", "for":
		p.fail(fmt.Sprintf("a rule cannot end: %q is not possible", word))
	default:
		p.fail(fmt.Sprintf("%q is not understood there", word))
	}
}

func (p *parser) fail(reason string) {
	if p.err == nil {
		p.err = errors.New(reason)
		p.words = nil
	}
}

func isUnit(word, unit string) bool { return word == unit || word == unit+"s" }

func workdays() (days []weekday) {
	for day := time.Monday; day <= time.Friday; day++ {
		days = append(days, weekday{day: day})
	}
	return days
}

// weekdayOf returns the weekday with a name, which may be abbreviated to two letters; -1 if there
// is none.
func weekdayOf(word string) time.Weekday {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if abbreviates(word, day.String(), 2) {
			return day
		}
	}
	return -1
}

// monthOf returns the month with a name, which may be abbreviated to three letters; 0 if there is none.
func monthOf(word string) time.Month {
	for month := time.January; month <= time.December; month++ {
		if abbreviates(word, month.String(), 3) {
			return month
		}
	}
	return 0
}

func abbreviates(word, name string, least int) bool {
	return len(word) >= least && strings.HasPrefix(strings.ToLower(name), word)
}
