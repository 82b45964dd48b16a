// Package date parses days as people write them ("2026-11-21", "yesterday", "-3d", "last monday", "2026-W47"), and
// formats times with the moment.js format strings that Obsidian uses.
//
// The gateway and the embedded CLI parse all date parameters and flags here, so that a word means the
// same everywhere. Relative words are resolved against a moment that the caller passes, in its time
// zone.
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

// Direction selects the past or the future for texts that leave it open: the name of a weekday, or a
// length of time without a sign.
type Direction int

const (
	// Past is for what exists, such as notes and changes: "monday" is today or the last Monday before it.
	Past Direction = iota
	// Ahead is for plans, such as due dates: "monday" is today or the next Monday after it.
	Ahead
)

// Words is a parsed text that has not been resolved against today's date yet. The zero Words means
// today.
type Words struct {
	anchor date // a fixed day; zero for today
	unit   unit
	offset int  // in units, from the anchor
	signed bool // the text itself says past or future, so Direction does not matter
	// weekday is the named day, noWeekday for none. With one, offset is -1 for last, 1 for next, and 0 without either.
	weekday weekday
}

// Span is one or more consecutive whole days. First and Last are the first moments of the first and
// the last day, in the time zone of the moment against which the words were resolved.
type Span struct{ First, Last time.Time }

// End returns the first moment after the span.
func (s Span) End() time.Time { return startOf(dateOf(s.Last).add(1), s.Last.Location()) }

// MaxDays is the maximum distance from today in a text such as "-3d": a century.
const MaxDays = 36525

// Parse parses a text that names a day, a week, a month or a year:
//
//   - 2026-11-21, 2026-11, 2026-W47, 2026-W47-3
//   - today, yesterday, tomorrow
//   - monday or mon, last monday, next monday
//   - this week, last week, next month, this year
//   - -3d, -2w, -1mo, -1y, +3d, 3 days ago, in 2 weeks; 3d without a sign
//
// Case does not matter. An underscore counts as a space, and so does a hyphen after last, previous, this or next
// ("last-week"). The error is an [*Invalid]; its text does not contain the name of the parameter.
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

// Read is [Parse] followed by [Words.Resolve].
func Read(text string, now time.Time, toward Direction) (Span, error) {
	w, err := Parse(text)
	if err != nil {
		return Span{}, err
	}
	return w.Resolve(now, toward), nil
}

// Resolve returns the days that w means at the moment now, in the time zone of now.
func (w Words) Resolve(now time.Time, toward Direction) Span {
	at := dateOf(now)
	if w.anchor != (date{}) {
		at = w.anchor
	}
	offset := w.offset
	if !w.signed && toward == Past {
		offset = -offset
	}
	var first, last date // last stays zero for a single day
	switch {
	case w.weekday != noWeekday: // "last" and "next" are never reversed
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

// Ago returns how many days before today the span begins: 0 for today, negative for the future. now
// is the moment against which the span was resolved.
func (s Span) Ago(now time.Time) int {
	return int(dateOf(now).noon().Sub(dateOf(s.First).noon()) / (24 * time.Hour))
}

// Invalid is the error of a text that does not name a day. Its message is meant to follow a prefix
// that names the parameter.
type Invalid struct{ Text string }

func (e *Invalid) Error() string {
	const wants = "want a day such as 2026-11-21, today, yesterday, -3d, -2w, monday, or a week such as 2026-W47"
	if near := suggest(e.Text); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", wants, near)
	}
	return wants
}

// layouts are date formats that Parse does not accept, but for which suggest can name the right one.
// None of them is ambiguous.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"2006-1-2", "2006/1/2", "2006.1.2", "20060102",
	"2.1.2006",
	"January 2, 2006", "January 2 2006", "2 January 2006", "Jan 2, 2006", "Jan 2 2006", "2 Jan 2006",
}

// isoDuration matches an ISO 8601 duration in whole days, weeks or years.
var isoDuration = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)-?P([0-9]{1,5})([DWY])$`) })

// shortISOWeek matches an ISO 8601 week whose number lacks its leading zero, such as 2026-W5.
var shortISOWeek = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)([0-9]{4})-?w([0-9])$`) })

// suggest returns the valid text that was most likely meant, "" if that is unclear.
func suggest(text string) string {
	likely := guess(text)
	if _, err := Parse(likely); err != nil {
		return ""
	}
	return likely
}

// guess returns the text that was most likely meant, which may not be valid either, "" if that is unclear.
func guess(text string) string {
	text = strings.TrimSpace(text)
	// Endings are removed one after the other, as in "monday's note.md".
	for _, ending := range []string{".md", "'s note", "’s note", " note", "'s", "’s"} {
		if day, found := strings.CutSuffix(text, ending); found && day != "" {
			if _, err := Parse(day); err == nil {
				return day
			}
			text = day
		}
	}
	if parts := isoDuration().FindStringSubmatch(text); parts != nil {
		return "-" + parts[1] + strings.ToLower(parts[2])
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 {
			return t.Format(time.DateOnly)
		}
	}
	if parts := shortISOWeek().FindStringSubmatch(text); parts != nil {
		return parts[1] + "-W0" + parts[2]
	}
	word := strings.ToLower(text)
	if meant, known := otherWords[word]; known {
		return meant
	}
	return excerpt.Nearest(word, dayWords)
}

// otherWords maps further common expressions for days to valid texts.
var otherWords = map[string]string{
	"the day before yesterday": "-2d",
	"day before yesterday":     "-2d",
	"ereyesterday":             "-2d",
	"the day after tomorrow":   "+2d",
	"day after tomorrow":       "+2d",
	"a week ago":               "-1w",
	"one week ago":             "-1w",
	"a month ago":              "-1mo",
	"past week":                "last week",
	"week":                     "this week",
	"month":                    "this month",
	"year":                     "this year",
	"tonight":                  "today",
	"current":                  "today",
	"latest":                   "today",
	"last":                     "yesterday",
	"previous":                 "yesterday",
	"prev":                     "yesterday",
	"next":                     "tomorrow",
	"-1":                       "yesterday",
	"0":                        "today",
	"1":                        "tomorrow",
	"+1":                       "tomorrow",
}

// dayWords are the words to suggest for a misspelled one.
var dayWords = append([]string{"today", "yesterday", "tomorrow"}, weekdayNames...)

// NowVariable is the environment variable that sets the clock, for tests and scripts, to a moment in
// RFC 3339 format. Its offset is the time zone.
const NowVariable = "VAULTWICKET_NOW"

// Clock returns the clock for a value of [NowVariable]: the system clock if the value is empty,
// otherwise a clock that always returns that moment. The gateway and the embedded CLI use it, so that
// they agree on the day. The error names the variable and quotes the value.
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
