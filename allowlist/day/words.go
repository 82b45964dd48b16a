package day

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
	return isoWeek(text)
}

var isoWeekForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{4})-?[wW]([0-9]{2})(?:-?([1-7]))?$`) })

// isoWeek reads a week of ISO 8601, or a day of one.
func isoWeek(text string) (Words, bool) {
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
	if w, ok := besides(strings.ReplaceAll(text, "-", " ")); ok {
		return w, true
	}
	return distance(text)
}

// besides reads "last monday" and "next week".
func besides(text string) (Words, bool) {
	which, name, ok := strings.Cut(text, " ")
	offset, known := map[string]int{"last": -1, "previous": -1, "this": 0, "next": 1}[which]
	if !ok || !known {
		return Words{}, false
	}
	if w := weekdayOf(name); w != noWeekday && offset != 0 {
		return Words{weekday: w, offset: offset, signed: true}, true
	}
	whole, known := map[string]unit{"week": wholeWeek, "month": wholeMonth, "year": wholeYear}[name]
	return Words{unit: whole, offset: offset, signed: true}, known
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
// lengths of time it stands for minutes.
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
	ahead, sign, back := parts[1] != "", parts[2], parts[5] != ""
	if ahead && back || (ahead || back) && sign != "" {
		return Words{}, false
	}
	number, _ := strconv.Atoi(parts[3])
	u, length := days, 1
	switch parts[4][0] {
	case 'w':
		u, length = weeks, 7
	case 'm':
		u, length = months, 30
	case 'y':
		u, length = years, 365
	}
	if number*length > MaxDays {
		return Words{}, false
	}
	if sign == "-" || back {
		number = -number
	}
	return Words{unit: u, offset: number, signed: sign != "" || ahead || back}, true
}
