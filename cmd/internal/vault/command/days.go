package command

import (
	"strconv"
	"strings"
	"time"

	"vaultwicket/allowlist/day"
	"vaultwicket/allowlist/quote"
)

// Days returns the days that a parameter for notes names, as of now and in its time
// zone. A word without a direction means the past. The error is a misuse that says
// what would be right.
func Days(text string, now time.Time) (day.Span, error) { return read(text, now, day.Past) }

// DaysAhead is [Days] for a parameter of a plan, such as a due date: a word without a
// direction means the future.
func DaysAhead(text string, now time.Time) (day.Span, error) { return read(text, now, day.Ahead) }

func read(text string, now time.Time, toward day.Direction) (day.Span, error) {
	span, err := day.Read(text, now, toward)
	if err != nil {
		return span, Misuse("Invalid date %q: %v", Verbatim(quote.Short(text)), err)
	}
	return span, nil
}

// Age returns the number of days that a parameter names: as digits, or by the day
// since which they count.
func Age(text string, now time.Time) (days int, err error) {
	if strings.Trim(text, "0123456789") == "" {
		days, err = strconv.Atoi(text)
		if err != nil || days > day.MaxDays {
			return 0, Misuse("Invalid number: %s. Use a number of days up to %d.", quote.Short(text), day.MaxDays)
		}
		return days, nil
	}
	span, err := Days(text, now)
	if err != nil {
		return 0, err
	}
	if days = span.Ago(now); days < 0 {
		return 0, Misuse("Invalid age %q: %s is in the future.", Verbatim(text), span.First.Format(time.DateOnly))
	}
	return days, nil
}

// DayStartVariable is the hour at which a day begins: before it, what is called today is
// still the day before. It is from 0, which is the default, to [LatestDayStart].
const DayStartVariable = "VAULTWICKET_DAY_START"

// LatestDayStart is the latest hour at which a day can begin.
const LatestDayStart = 12

// Today returns the moment at hand, on the day that counts as today: before the hour at
// which a day begins, the day is that before, at the same time of day.
func (v *Vault) Today() time.Time {
	now := v.Clock()
	return OnDay(now, now.Add(-v.DayStart))
}

// OnDay returns the time of day of a moment on another day.
func OnDay(now, day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), now.Location())
}
