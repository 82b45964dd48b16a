// Package date reads days as people write them ("2026-11-21", "yesterday", "-3d",
// "last monday", "2026-W47"), and writes times by the formats of the app.
//
// Every date parameter and flag is read here, by the gateway and by the embedded
// CLI, so that a word means the same everywhere. What a word refers to depends on
// the moment that the caller gives, and its time zone.
package date

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Direction says whether a word that does not tell, the name of a weekday or a length of time
// without a sign, is in the past or in the future.
type Direction int

const (
	// Past is for notes and changes that exist: "monday" is today or the last
	// Monday before it.
	Past  Direction = iota
	Ahead           // for plans, such as due dates: "monday" is today or the next Monday
)

// Words is what [Parse] understood of a text, before it is known which day is
// today. The zero Words is today.
type Words struct {
	anchor  date // a fixed day, if year is not 0
	unit    unit
	offset  int // in units, from the anchor or from today
	signed  bool
	weekday weekday
}

// Span is one or more whole days in a row. Both ends are the first moment of their
// day, in the time zone of the moment that the words were resolved with.
type Span struct{ First, Last time.Time }

// End returns the first moment after the span.
func (s Span) End() time.Time { return startOf(dateOf(s.Last).add(1), s.Last.Location()) }

// MaxDays is how far from today words may lead: a century.
const MaxDays = 36525

// Parse reads a text that names a day, a week, a month or a year:
//
//   - 2026-11-21, 2026-11, 2026-W47, 2026-W47-3
//   - today, yesterday, tomorrow
//   - monday or mon, last monday, next monday
//   - this week, last week, next month, this year
//   - -3d, -2w, -1mo, -1y, +3d, 3 days ago, in 2 weeks; 3d without a sign
//
// Case does not matter, and a hyphen or an underscore counts as a space between
// words. The error says what is wrong, in words for a message: it does not repeat
// the name of the parameter.
func Parse(text string) (Words, error) {
	if w, ok := fixed(text); ok {
		return w, nil
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '_' })
	if w, ok := relative(strings.Join(words, " ")); ok {
		return w, nil
	}
	return Words{}, &Invalid{Text: text}
}

// Read parses a text and resolves it.
func Read(text string, now time.Time, toward Direction) (Span, error) {
	w, err := Parse(text)
	if err != nil {
		return Span{}, err
	}
	return w.Resolve(now, toward), nil
}

// Resolve returns the days that the words mean at a moment, in its time zone.
func (w Words) Resolve(now time.Time, toward Direction) Span {
	at := dateOf(now)
	if w.anchor != (date{}) {
		at = w.anchor
	}
	offset := w.offset
	if !w.signed && toward == Past {
		offset = -offset
	}
	var first, last date // the zero last is first
	switch {
	case w.weekday != noWeekday:
		first = w.weekday.near(at, toward, w.offset)
	case w.unit == days:
		first = at.add(offset)
	case w.unit == weeks:
		first = at.add(7 * offset)
	case w.unit == months:
		first = at.addMonths(offset)
	case w.unit == years:
		first = at.addMonths(12 * offset)
	case w.unit == wholeWeek:
		first = at.monday().add(7 * offset)
		last = first.add(6)
	case w.unit == wholeMonth:
		first = date{at.year, at.month, 1}.addMonths(offset)
		last = first.addMonths(1).add(-1)
	case w.unit == wholeYear:
		first = date{at.year + offset, time.January, 1}
		last = date{at.year + offset, time.December, 31}
	}
	return Span{startOf(first, now.Location()), startOf(cmp.Or(last, first), now.Location())}
}

// Ago returns how many days before today a span began, at the moment that it was
// resolved with: 0 for today, less for the future.
func (s Span) Ago(now time.Time) int {
	return int(dateOf(now).noon().Sub(dateOf(s.First).noon()) / (24 * time.Hour))
}

// Invalid says that a text names no day. Its sentence is made for the end of
// another one.
type Invalid struct{ Text string }

func (e *Invalid) Error() string {
	const wants = "want a day such as 2026-11-21, today, yesterday, -3d, -2w, monday, or a week such as 2026-W47"
	if near := suggest(e.Text); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", wants, near)
	}
	return wants
}

// layouts are ways to write a date that are understood well enough to say what would
// be right, and of which none can be taken for another day.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-1-2",
	"2006/1/2", "2006.1.2", "20060102", "2.1.2006", "January 2, 2006", "January 2 2006", "2 January 2006", "Jan 2, 2006", "Jan 2 2006", "2 Jan 2006",
}

// isoSpan is a time of whole days, weeks or years as ISO 8601 writes it.
var isoSpan = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)-?P([0-9]{1,5})([DWY])$`) })

var bareWeek = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)([0-9]{4})-?w([0-9])$`) })

// suggest returns what a text was most likely meant to be, "" if that is not clear.
func suggest(text string) string {
	text = strings.TrimSpace(text)
	for _, ending := range []string{".md", "'s note", "’s note", " note", "'s", "’s"} {
		if day, found := strings.CutSuffix(text, ending); found && day != "" {
			if _, err := Parse(day); err == nil {
				return day
			}
			text = day
		}
	}
	if parts := isoSpan().FindStringSubmatch(text); parts != nil {
		return "-" + parts[1] + strings.ToLower(parts[2])
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 {
			return t.Format(time.DateOnly)
		}
	}
	if parts := bareWeek().FindStringSubmatch(text); parts != nil {
		return parts[1] + "-W0" + parts[2]
	}
	word := strings.ToLower(text)
	if meant, known := otherWords[word]; known {
		return meant
	}
	return excerpt.Nearest(word, dayWords)
}

// otherWords are what people also say for a day.
var otherWords = map[string]string{
	"the day before yesterday": "-2d", "day before yesterday": "-2d", "ereyesterday": "-2d", "the day after tomorrow": "+2d", "day after tomorrow": "+2d",
	"a week ago": "-1w", "one week ago": "-1w", "a month ago": "-1m", "past week": "last week", "week": "this week", "month": "this month", "year": "this year",
	"tonight": "today", "current": "today", "latest": "today", "last": "yesterday", "previous": "yesterday", "prev": "yesterday", "next": "tomorrow",
	"-1": "yesterday", "0": "today", "1": "tomorrow", "+1": "tomorrow",
}

// dayWords are the words that a mistyped one is compared with.
var dayWords = append([]string{"today", "yesterday", "tomorrow"}, weekdayNames...)

// NowVariable names the environment variable that sets the clock, for tests and scripts: a
// moment in RFC 3339, whose offset is the time zone.
const NowVariable = "VAULTWICKET_NOW"

// Clock returns the clock that tells which day is today, for a value of [NowVariable]: the
// clock of the machine if the value is empty, else one that is stopped at that moment. Both
// programs of the binary ask it, so that they agree on the day. The error names the variable
// and quotes the value.
func Clock(now string) (func() time.Time, error) {
	if now == "" {
		return time.Now, nil
	}
	fixed, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return nil, fmt.Errorf("%s is not a time of the form 2006-01-02T15:04:05Z: %q", NowVariable, now)
	}
	return func() time.Time { return fixed }, nil
}
