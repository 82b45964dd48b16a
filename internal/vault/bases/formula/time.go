package formula

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Layouts in which dates are printed.
const (
	dayLayout    = "2006-01-02"
	momentLayout = "2006-01-02T15:04:05"
)

// Day returns the date without its clock part.
func (m Moment) Day() Moment {
	y, month, d := m.Time.Date()
	return Moment{Time: time.Date(y, month, d, 0, 0, 0, 0, m.Time.Location())}
}

// ParseProperty parses a property that is a date: YYYY-MM-DD, optionally followed by T or a blank and a clock
// part.
func ParseProperty(text string, zone *time.Location) (Moment, bool) {
	if len(text) < len(dayLayout) || text[4] != '-' {
		return Moment{}, false
	}
	return parseDashed(text, zone)
}

// parseDate parses an argument of date(): a date as in a property, YYYYMMDD, YYYYMMDDHHmm, or a link to a day.
// Surrounding blanks are ignored.
func parseDate(text string, zone *time.Location) (Moment, bool) {
	text = strings.TrimFunc(text, IsSpace)
	if inner, ok := strings.CutPrefix(text, "[["); ok && strings.HasSuffix(inner, "]]") {
		text = strings.TrimSuffix(inner, "]]")
	}
	if len(text) >= len(dayLayout) && text[4] == '-' {
		return parseDashed(text, zone)
	}
	switch len(text) {
	case 8:
		day, err := time.ParseInLocation("20060102", text, zone)
		return Moment{Time: day}, err == nil
	case 12:
		t, err := time.ParseInLocation("200601021504", text, zone)
		return Moment{t, true}, err == nil
	}
	return Moment{}, false
}

// parseDashed parses YYYY-MM-DD with an optional clock part.
func parseDashed(text string, zone *time.Location) (Moment, bool) {
	day := text[:len(dayLayout)]
	rest := text[len(dayLayout):]
	date, err := time.ParseInLocation(dayLayout, day, zone)
	if err != nil || rest == "" {
		return Moment{Time: date}, err == nil
	}
	if rest[0] != 'T' && rest[0] != ' ' {
		return Moment{}, false
	}
	t, ok := parseClock(date, rest[1:], zone)
	return Moment{t, true}, ok
}

// parseClock parses HH:mm, HH:mm:ss or HH:mm:ss.fff with an optional time zone, Z or ±hh:mm. The result is in
// the location of date.
func parseClock(date time.Time, text string, zone *time.Location) (time.Time, bool) {
	clock, isUTC := strings.CutSuffix(text, "Z")
	sign := strings.LastIndexAny(text, "+-")
	switch {
	case isUTC:
		zone = time.UTC
	case sign >= 0:
		offset, ok := parseOffset(text[sign+1:])
		if !ok {
			return time.Time{}, false
		}
		if text[sign] == '-' {
			offset = -offset
		}
		clock = text[:sign]
		zone = time.FixedZone("", offset)
	}
	seconds, fraction, _ := strings.Cut(clock, ".")
	parts := strings.Split(seconds, ":")
	hasSeconds := len(parts) == 3
	if !hasSeconds && (len(parts) != 2 || fraction != "") {
		return time.Time{}, false
	}
	var numbers [3]int
	limits := [...]int{24, 60, 60}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		isInRange := 0 <= n && n < limits[i]
		if err != nil || len(part) != 2 || !isInRange {
			return time.Time{}, false
		}
		numbers[i] = n
	}
	millis := 0
	if fraction != "" {
		if len(fraction) > 9 || strings.Trim(fraction, "0123456789") != "" {
			return time.Time{}, false
		}
		millis, _ = strconv.Atoi((fraction + "00")[:3]) // only digits
	}
	y, month, d := date.Date()
	t := time.Date(y, month, d, numbers[0], numbers[1], numbers[2], millis*int(time.Millisecond), zone)
	return t.In(date.Location()), true
}

// parseOffset parses the offset of a time zone without its sign, hh, hhmm or hh:mm, and returns it in seconds.
func parseOffset(text string) (seconds int, ok bool) {
	hours, minutes, _ := strings.Cut(text, ":")
	if len(hours) == 4 {
		hours, minutes = hours[:2], hours[2:]
	}
	h, err := strconv.Atoi(hours)
	m := 0
	if err == nil && minutes != "" {
		m, err = strconv.Atoi(minutes)
	}
	isHour := len(hours) == 2 && h <= 23
	isMinute := 0 <= m && m <= 59
	return h*3600 + m*60, err == nil && isHour && isMinute
}

// addMonths adds calendar months. A day that the resulting month does not have becomes its last day.
func addMonths(t time.Time, months int) time.Time {
	y, month, day := t.Date()
	first := time.Date(y, month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	hour, minute, second := t.Clock()
	return time.Date(first.Year(), first.Month(), min(day, last), hour, minute, second, t.Nanosecond(), t.Location())
}

// Span is a duration. Months and days are separate, because their lengths depend on the calendar and on
// daylight saving time. A week is seven days.
type Span struct {
	Months, Days, Millis float64
}

// Lengths of units, and the average length of a month: 400 years have 146,097 days.
const (
	millisPerSecond = 1000
	millisPerMinute = 60 * millisPerSecond
	millisPerHour   = 60 * millisPerMinute
	millisPerDay    = 24 * millisPerHour
	daysPerMonth    = 146097.0 / 4800
)

// units are the units in the text of a duration. M is a month, m is a minute.
var units = map[string]Span{
	"y": {Months: 12}, "year": {Months: 12}, "years": {Months: 12},
	"M": {Months: 1}, "month": {Months: 1}, "months": {Months: 1},
	"w": {Days: 7}, "week": {Days: 7}, "weeks": {Days: 7},
	"d": {Days: 1}, "day": {Days: 1}, "days": {Days: 1},
	"h": {Millis: millisPerHour}, "hour": {Millis: millisPerHour}, "hours": {Millis: millisPerHour},
	"m": {Millis: millisPerMinute}, "minute": {Millis: millisPerMinute}, "minutes": {Millis: millisPerMinute},
	"s": {Millis: millisPerSecond}, "second": {Millis: millisPerSecond}, "seconds": {Millis: millisPerSecond},
}

// ParseSpan parses a duration: a number and a unit, or a duration of ISO 8601 with a clock part.
func ParseSpan(text string) (Span, bool) {
	text = strings.TrimFunc(text, IsSpace)
	if len(text) > 64 {
		return Span{}, false
	}
	sign := 1.0
	rest := text
	if after, ok := strings.CutPrefix(text, "-"); ok {
		sign = -1
		rest = after
	} else {
		rest = strings.TrimPrefix(text, "+")
	}
	if strings.HasPrefix(rest, "P") {
		match := isoForm().FindStringSubmatch(rest)
		if match == nil || strings.Join(match[1:], "") == "" {
			return Span{}, false
		}
		var s Span
		for i, unit := range [...]string{"y", "M", "w", "d", "h", "m", "s"} {
			if match[i+1] != "" {
				count, _ := strconv.ParseFloat(match[i+1], 64) // only digits
				s = s.plus(units[unit].times(sign * count))
			}
		}
		return s, true
	}
	digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if digits <= 0 {
		return Span{}, false
	}
	count, err := strconv.ParseFloat(rest[:digits], 64)
	unit, known := units[strings.TrimLeft(rest[digits:], " ")]
	return unit.times(sign * count), known && err == nil
}

// isoForm matches a duration of ISO 8601 without its sign.
var isoForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?$`,
	)
})

// plus returns the sum of two durations, part by part.
func (s Span) plus(t Span) Span {
	return Span{s.Months + t.Months, s.Days + t.Days, s.Millis + t.Millis}
}

// times returns the duration multiplied by n.
func (s Span) times(n float64) Span { return Span{s.Months * n, s.Days * n, s.Millis * n} }

// Bounds of a duration that is added to a date. Larger durations exceed the range of years.
const (
	maxMonths = 12 * 20_000
	maxDays   = 366 * 20_000
	maxMillis = maxDays * millisPerDay
)

// after returns t plus s. It adds months first, then days by the calendar, then the clock part. ok is false if s
// is out of range.
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

// maxDuration is half of the longest time.Duration, in milliseconds.
const maxDuration = float64(math.MaxInt64 / int64(time.Millisecond) / 2)

// Milliseconds returns the length of s in milliseconds. Months and days are counted from now.
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

// between returns the milliseconds from one time to another.
func between(from, to time.Time) float64 { return float64(to.UnixMilli() - from.UnixMilli()) }

// durationFields are the fields of a duration: the milliseconds are divided by each of the numbers.
var durationFields = map[string][]float64{
	"years":        {millisPerDay, daysPerMonth, 12},
	"months":       {millisPerDay, daysPerMonth},
	"weeks":        {millisPerDay, 7},
	"days":         {millisPerDay},
	"hours":        {millisPerHour},
	"minutes":      {millisPerMinute},
	"seconds":      {millisPerSecond},
	"milliseconds": {},
}

// humanize returns the absolute length of s in words, with the thresholds of moment.js.
func (s Span) humanize() string {
	rounded := func(f float64) float64 { return roundHalfUp(math.Abs(f)) }
	days := s.Days + math.Round(s.Months*daysPerMonth) // for smaller units, moment.js converts months to whole days
	millis := days*millisPerDay + s.Millis
	calendar := s.Months + (s.Days+s.Millis/millisPerDay)/daysPerMonth // in months
	if rounded(millis/millisPerSecond) < 45 {
		return "a few seconds"
	}
	for _, unit := range []struct {
		count            float64
		singular, plural string
		limit            float64 // the unit is used below this number
	}{
		{millis / millisPerMinute, "a minute", "minutes", 45},
		{millis / millisPerHour, "an hour", "hours", 22},
		{millis / millisPerDay, "a day", "days", 26},
		{calendar, "a month", "months", 11},
		{calendar / 12, "a year", "", 0},
	} {
		switch n := rounded(unit.count); {
		case n <= 1:
			return unit.singular
		case n < unit.limit:
			return fmt.Sprintf("%.0f %s", n, unit.plural)
		}
	}
	return fmt.Sprintf("%.0f years", rounded(calendar/12))
}

// difference returns the duration between two times, in whole calendar months and the remaining milliseconds.
func difference(from, to time.Time) Span {
	if to.Before(from) {
		return difference(to, from).times(-1)
	}
	months := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	if addMonths(from, months).After(to) {
		months--
	}
	return Span{Months: float64(months), Millis: between(addMonths(from, months), to)}
}
