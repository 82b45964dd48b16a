package value

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Span is a duration. Its parts are kept apart, because a month has no fixed
// length, and a day has none where clocks are changed. Weeks are seven days.
type Span struct {
	Months, Days, Millis float64
}

// Lengths of what has a fixed one, in milliseconds, and of a month on average:
// 400 years have 146,097 days.
const (
	millisPerSecond = 1000
	millisPerMinute = 60 * millisPerSecond
	millisPerHour   = 60 * millisPerMinute
	millisPerDay    = 24 * millisPerHour
	daysPerMonth    = 146097.0 / 4800
)

// units are the words of a duration text. A capital M is a month, a small one a
// minute.
var units = map[string]Span{
	"y": {Months: 12}, "year": {Months: 12}, "years": {Months: 12},
	"M": {Months: 1}, "month": {Months: 1}, "months": {Months: 1},
	"w": {Days: 7}, "week": {Days: 7}, "weeks": {Days: 7},
	"d": {Days: 1}, "day": {Days: 1}, "days": {Days: 1},
	"h": {Millis: millisPerHour}, "hour": {Millis: millisPerHour}, "hours": {Millis: millisPerHour},
	"m": {Millis: millisPerMinute}, "minute": {Millis: millisPerMinute}, "minutes": {Millis: millisPerMinute},
	"s": {Millis: millisPerSecond}, "second": {Millis: millisPerSecond}, "seconds": {Millis: millisPerSecond},
}

// ParseSpan reads the text of a duration: a number and one unit, or ISO 8601 with
// a clock part.
func ParseSpan(text string) (Span, bool) {
	text = strings.TrimFunc(text, IsSpace)
	if len(text) > 64 {
		return Span{}, false
	}
	sign, rest := 1.0, text
	if after, ok := strings.CutPrefix(text, "-"); ok {
		sign, rest = -1, after
	} else {
		rest = strings.TrimPrefix(text, "+")
	}
	if strings.HasPrefix(rest, "P") {
		s, ok := parseISO(rest)
		return s.Times(sign), ok
	}
	digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if digits <= 0 {
		return Span{}, false
	}
	count, err := strconv.ParseFloat(rest[:digits], 64)
	unit, known := units[strings.TrimLeft(rest[digits:], " ")]
	return unit.Times(sign * count), known && err == nil
}

var isoForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?$`)
})

// parseISO reads P1DT2H and its like.
func parseISO(text string) (Span, bool) {
	found := isoForm().FindStringSubmatch(text)
	if found == nil || strings.Join(found[1:], "") == "" {
		return Span{}, false
	}
	var s Span
	for i, unit := range [...]string{"y", "M", "w", "d", "h", "m", "s"} {
		if found[i+1] != "" {
			count, _ := strconv.ParseFloat(found[i+1], 64) // only digits
			s = s.Plus(units[unit].Times(count))
		}
	}
	return s, true
}

// Plus returns the sum of two durations, part by part.
func (s Span) Plus(t Span) Span {
	return Span{s.Months + t.Months, s.Days + t.Days, s.Millis + t.Millis}
}

// Times returns the duration so many times.
func (s Span) Times(n float64) Span { return Span{s.Months * n, s.Days * n, s.Millis * n} }

// HasClock reports whether adding s to a date gives it a clock part.
func (s Span) HasClock() bool { return s.Millis != 0 }

// Bounds of what is added to a date: more leads out of all years.
const (
	maxMonths = 12 * 20_000
	maxDays   = 366 * 20_000
	maxMillis = maxDays * millisPerDay
)

// after returns the time that is s behind t: months by the calendar first, then
// days by the calendar, then the clock part. It is false if that is out of range.
func (s Span) after(t time.Time) (time.Time, bool) {
	if !(math.Abs(s.Months) <= maxMonths && math.Abs(s.Days) <= maxDays && math.Abs(s.Millis) <= maxMillis) {
		return t, false
	}
	t = addMonths(t, int(math.Round(s.Months)))
	t = t.AddDate(0, 0, int(math.Round(s.Days)))
	whole := math.Trunc(s.Millis)
	for whole != 0 { // a time.Duration reaches 292 years
		part := max(min(whole, maxDuration), -maxDuration)
		t = t.Add(time.Duration(part) * time.Millisecond)
		whole -= part
	}
	return t, true
}

const maxDuration = float64(math.MaxInt64 / int64(time.Millisecond) / 2)

// Milliseconds returns the length of s if it begins at now.
func (s Span) Milliseconds(now time.Time) float64 {
	if s.Months == 0 && s.Days == 0 {
		return s.Millis
	}
	then, ok := s.after(now)
	if !ok {
		return (s.Months*daysPerMonth+s.Days)*millisPerDay + s.Millis
	}
	return between(now, then)
}

// between returns how many milliseconds lie between two times.
func between(from, to time.Time) float64 { return float64(to.UnixMilli() - from.UnixMilli()) }

// Field returns the whole of s in a unit, years to milliseconds, in any case;
// parts of the calendar count from now.
func (s Span) Field(name string, now time.Time) (float64, bool) {
	millis := s.Milliseconds(now)
	switch strings.ToLower(name) {
	case "years":
		return millis / millisPerDay / daysPerMonth / 12, true
	case "months":
		return millis / millisPerDay / daysPerMonth, true
	case "weeks":
		return millis / millisPerDay / 7, true
	case "days":
		return millis / millisPerDay, true
	case "hours":
		return millis / millisPerHour, true
	case "minutes":
		return millis / millisPerMinute, true
	case "seconds":
		return millis / millisPerSecond, true
	case "milliseconds":
		return millis, true
	}
	return 0, false
}

// Humanize returns s in words, without its sign, by the thresholds of moment.js.
func (s Span) Humanize() string {
	days := s.Days + math.Round(s.Months*daysPerMonth) // whole days of the months, as moment.js counts all units below
	millis := days*millisPerDay + s.Millis
	months := math.Abs(roundAway(s.Months + (s.Days+s.Millis/millisPerDay)/daysPerMonth))
	return inWords(counts{
		seconds: math.Abs(roundAway(millis / millisPerSecond)), minutes: math.Abs(roundAway(millis / millisPerMinute)),
		hours: math.Abs(roundAway(millis / millisPerHour)), days: math.Abs(roundAway(millis / millisPerDay)), months: months,
		years: math.Abs(roundAway((s.Months + (s.Days+s.Millis/millisPerDay)/daysPerMonth) / 12)),
	})
}

// roundAway is the rounding of moment.js: of the amount, so that a sign changes
// nothing.
func roundAway(f float64) float64 { return math.Copysign(roundHalfUp(math.Abs(f)), f) }

// counts are a duration in each of its units, rounded.
type counts struct{ seconds, minutes, hours, days, months, years float64 }

func inWords(c counts) string {
	switch {
	case c.seconds < 45:
		return "a few seconds"
	case c.minutes <= 1:
		return "a minute"
	case c.minutes < 45:
		return fmt.Sprintf("%.0f minutes", c.minutes)
	case c.hours <= 1:
		return "an hour"
	case c.hours < 22:
		return fmt.Sprintf("%.0f hours", c.hours)
	case c.days <= 1:
		return "a day"
	case c.days < 26:
		return fmt.Sprintf("%.0f days", c.days)
	case c.months <= 1:
		return "a month"
	case c.months < 11:
		return fmt.Sprintf("%.0f months", c.months)
	case c.years <= 1:
		return "a year"
	}
	return fmt.Sprintf("%.0f years", c.years)
}

// Relative returns how long m is ahead of now or behind it, in words.
func (m Moment) Relative(now time.Time) string {
	s := difference(now, m.Time)
	if s.Months > 0 || s.Millis > 0 {
		return "in " + s.Humanize()
	}
	return s.Humanize() + " ago"
}

// difference returns the way from one time to another in whole calendar months
// and what is left.
func difference(from, to time.Time) Span {
	if to.Before(from) {
		return difference(to, from).Times(-1)
	}
	months := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	if addMonths(from, months).After(to) {
		months--
	}
	return Span{Months: float64(months), Millis: between(addMonths(from, months), to)}
}
