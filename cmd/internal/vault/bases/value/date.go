package value

import (
	"strconv"
	"strings"
	"time"
)

// Layouts in which a date prints.
const (
	dayLayout    = "2006-01-02"
	momentLayout = "2006-01-02T15:04:05"
)

// String returns the date as a cell shows it: local, without a zone.
func (m Moment) String() string {
	if m.HasTime {
		return m.Time.Format(momentLayout)
	}
	return m.Time.Format(dayLayout)
}

// Day returns the date without its clock part.
func (m Moment) Day() Moment {
	y, month, d := m.Time.Date()
	return Moment{Time: time.Date(y, month, d, 0, 0, 0, 0, m.Time.Location())}
}

// ParseProperty reads the text of a property that is a date by itself:
// YYYY-MM-DD, alone or followed by a clock part behind a T or a blank.
func ParseProperty(text string, zone *time.Location) (Moment, bool) {
	if len(text) < len(dayLayout) || text[4] != '-' {
		return Moment{}, false
	}
	return parseDashed(text, zone)
}

// ParseDate reads the text of a date as date() does: as a property, or written
// without dashes as YYYYMMDD or YYYYMMDDHHmm, or as a link to a day. Blanks at the
// ends do not count.
func ParseDate(text string, zone *time.Location) (Moment, bool) {
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

func parseDashed(text string, zone *time.Location) (Moment, bool) {
	day, rest := text[:len(dayLayout)], text[len(dayLayout):]
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

// parseClock reads HH:mm, HH:mm:ss or HH:mm:ss.fff and a zone, Z or ±hh:mm,
// which is converted to the local one.
func parseClock(date time.Time, text string, zone *time.Location) (time.Time, bool) {
	clock, offset, zoned, ok := cutZone(text)
	if !ok {
		return time.Time{}, false
	}
	seconds, fraction, _ := strings.Cut(clock, ".")
	parts := strings.Split(seconds, ":")
	if len(parts) < 2 || len(parts) > 3 || fraction != "" && len(parts) != 3 {
		return time.Time{}, false
	}
	var numbers [3]int
	limits := [...]int{24, 60, 60}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || len(part) != 2 || n < 0 || n >= limits[i] {
			return time.Time{}, false
		}
		numbers[i] = n
	}
	millis, ok := parseFraction(fraction)
	if !ok {
		return time.Time{}, false
	}
	if zoned {
		zone = time.FixedZone("", offset)
	}
	y, month, d := date.Date()
	t := time.Date(y, month, d, numbers[0], numbers[1], numbers[2], millis*int(time.Millisecond), zone)
	return t.In(date.Location()), true
}

// parseFraction reads the digits behind the seconds as milliseconds.
func parseFraction(digits string) (int, bool) {
	if digits == "" {
		return 0, true
	}
	if len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi((digits + "00")[:3])
	return n, err == nil
}

// cutZone returns a clock without its zone, and the zone's offset in seconds.
func cutZone(text string) (clock string, offset int, zoned, ok bool) {
	if clock, ok := strings.CutSuffix(text, "Z"); ok {
		return clock, 0, true, true
	}
	i := strings.LastIndexAny(text, "+-")
	if i < 0 {
		return text, 0, false, true
	}
	hours, minutes, _ := strings.Cut(text[i+1:], ":")
	if len(hours) == 4 {
		hours, minutes = hours[:2], hours[2:]
	}
	h, err := strconv.Atoi(hours)
	m := 0
	if err == nil && minutes != "" {
		m, err = strconv.Atoi(minutes)
	}
	if err != nil || len(hours) != 2 || h > 23 || m < 0 || m > 59 {
		return "", 0, false, false
	}
	offset = h*3600 + m*60
	if text[i] == '-' {
		offset = -offset
	}
	return text[:i], offset, true, true
}

// addMonths moves a time by calendar months. A day that the month does not have
// becomes its last one.
func addMonths(t time.Time, months int) time.Time {
	y, month, day := t.Date()
	first := time.Date(y, month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	hour, minute, second := t.Clock()
	return time.Date(first.Year(), first.Month(), min(day, last), hour, minute, second, t.Nanosecond(), t.Location())
}

// Bounds of the years that a date can have: those that print with four digits.
const (
	minYear = 0
	maxYear = 9999
)

// inRange returns a date, or an error if its year cannot be written.
func inRange(m Moment) Value {
	if y := m.Time.Year(); y < minYear || y > maxYear {
		return Failure("Invalid date")
	}
	return OfMoment(m)
}
